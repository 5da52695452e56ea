import DatabaseCore
import FileProtocol
import FileRecords
import FileRules
import FileRulesTools
import JSONTree
import Logging
import SecurityRules
import Transport

/// What an administrator asks about the rules for files of every bucket that has no rules file of its own.
enum FileRulesAsk: Sendable {
    /// Their text.
    case inForce
    case history
    /// The text of one version.
    case version(Int)
    /// Others, or (nil) those of the configured file again.
    case replace(FileRuleset?, RulesChange)
    /// The list of stored rulesets.
    case rulesets
    /// One of them.
    case ruleset(id: String)
    /// One more.
    case store(id: String, FileRuleset)
    case labels
    /// Another stored ruleset, or (nil) none, is tried beside the rules in force.
    case label(canary: String?)
}

extension FileService {
    /// Puts published rules in force; before the server is ready.
    func loadPublishedRules() {
        guard let version = publishedRules, let text = version.text else { return }
        do throws(RulesError) { rules.publish(.loaded(try FileRuleset.load(text))) } catch {
            log.critical(
                "rules for files do not load any more, so clients may do nothing: \(error)",
                metadata: ["version": "\(version.number)"]
            )
            rules.publish(FileRulesInForce.none)
        }
    }

    /// The version that stands in the place of the configured file.
    private var publishedRules: RulesVersion? {
        store.tree.rulesVersions.last.flatMap { $0.text == nil ? nil : $0 }
    }

    private var rulesInForce: RulesInForce {
        let file = configuration.files.rulesFile.map { RulesFallback.file($0) }
        let fallback = file ?? .none(isOpen: configuration.mode == .development)
        return RulesInForce(filesOwn: publishedRules, fallback: fallback)
    }

    /// Says in the log which rules are in force, where there may be files.
    func logRulesInForce() {
        let inForce = rulesInForce
        if configuration.mode == .production, configuration.files.buckets.isEmpty { return }
        log.notice("rules for files in force: \(inForce.text)")
        if let text = inForce.unusedFileText { log.warning("\(text)") }
        if case .open = rules.shared {
            log.warning("files without rules are OPEN to everybody who can reach this server")
        }
    }

    /// Answers an administrator.
    func answer(_ ask: FileRulesAsk, _ pending: PendingExchange) {
        let versions = store.tree.rulesVersions
        switch ask {
        case .inForce:
            switch rules.shared {
            case .loaded(let rules): finish(pending, .fileRules(rules.text))
            case .open:
                finish(pending, .error(404, "There are no rules for files: everything is allowed."))
            case .none:
                finish(pending, .error(404, "There are no rules for files: everything is denied."))
            }
        case .history:
            finish(pending, .rulesHistory(versions, rulesInForce, isForFiles: true))
        case .version(let number):
            finish(pending, .rules(versions, number: number, isForFiles: true))
        case .replace(let rules, let change): replace(with: rules, change, versions, pending)
        case .rulesets: finish(pending, .rulesets(store.tree.rulesets))
        case .ruleset(let id): finish(pending, .ruleset(store.tree.ruleset(id)))
        case .store(let id, let rules): keep(rules, as: id, pending)
        case .labels:
            finish(pending, .labels(RulesetLabels(canary: store.tree.labelledCanary)))
        case .label(let id): label(canary: id, pending)
        }
    }

    private func replace(
        with rules: FileRuleset?,
        _ change: RulesChange,
        _ versions: [RulesVersion],
        _ pending: PendingExchange
    ) {
        let present = versions.last
        if let expected = change.expectedVersion, expected != present?.number ?? 0 {
            return finish(pending, .rulesMismatch(present, of: "file service"))
        }
        if change.isDryRun { return finish(pending, .statusOK) }
        let text = rules.map { Array($0.text.utf8) }
        if text == present?.text.map({ Array($0.utf8) }) {
            self.rules.publish(rules.map { FileRulesInForce.loaded($0) })
            return finish(pending, .rulesPut(version: present?.number ?? 0))
        }
        let version = RulesVersion(
            number: (present?.number ?? 0) + 1,
            time: Clock.now(),
            author: change.author,
            text: rules?.text
        )
        store.commit([], store.tree.writes(adding: version)) { [self] fault in
            if let fault { return finish(pending, .error(fault.status, fault.message)) }
            note(version, pending)
            finish(pending, .rulesPut(version: version.number))
        }
        // The engine takes it at once, or refuses it.
        if store.tree.rulesVersions.last == version {
            self.rules.publish(rules.map { FileRulesInForce.loaded($0) })
        }
    }

    /// Notes for the logs who has changed the rules.
    private func note(_ version: RulesVersion, _ pending: PendingExchange) {
        log(
            server.admin.deed(
                version.text == nil
                    ? "the published rules for files are removed"
                    : "the rules for files are replaced",
                pending.exchange,
                token: pending.parameters.token
            ),
            ["version": "\(version.number)", "bytes": "\(version.byteCount)"],
            on: pending.exchange
        )
    }

    // MARK: - Coverage

    /// Counts a decision; other rules begin anew.
    func count(_ decision: FileDecision, _ ruleset: FileRuleset, _ bucket: BucketName) {
        let scope = rules.scope(of: bucket)
        if coverages[scope]?.rules !== ruleset { coverages[scope] = FileCoverage(ruleset) }
        coverages[scope]?.add(decision)
    }

    /// What is counted of the rules in force for a bucket, or (nil) for all that have no file of their own; nil when there
    /// are none.
    func coverage(of bucket: BucketName?, resets: Bool) -> FileCoverage? {
        let inForce = bucket.map { rules.rules(of: $0) } ?? rules.shared
        let scope = bucket.flatMap { rules.scope(of: $0) }
        defer { if resets { coverages[scope] = nil } }
        guard case .loaded(let ruleset) = inForce else { return nil }
        if let coverage = coverages[scope], coverage.rules === ruleset { return coverage }
        return FileCoverage(ruleset)
    }
}
