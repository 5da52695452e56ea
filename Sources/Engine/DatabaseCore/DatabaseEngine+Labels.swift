import JSONTree
import SecurityRules

/// Labels of stored rulesets: which one is in force, which one is tried beside it.
extension DatabaseEngine {
    /// Labels stored rulesets, puts the one labelled `stable` in force, and tries the one labelled `canary`.
    ///
    /// Those that come into use have to be loaded first: elsewhere, unless they are short. `loaded` are those that
    /// have been loaded for this request; nil when one of them does not load.
    func label(
        _ labels: RulesetLabels,
        by author: String,
        loaded: [Ruleset]? = [],
        for asked: SingleRequest,
        _ step: inout Step
    ) {
        let (database, asker) = (asked.database, Asker.single(asked))
        guard let loaded else { return answer(.refused(.unusableRuleset), to: asker, &step) }
        if let refusal = refusal(of: labels, database) {
            return answer(.refused(refusal), to: asker, &step)
        }
        let missing = database.unloaded(for: labels).filter { ruleset in
            !loaded.contains { ruleset.isText(of: $0) }
        }
        if missing.isEmpty {
            putLabels(labels, by: author, loaded, database, &step)
            return answer(.done, to: asker, &step)
        }
        let work = LongWork.load(missing)
        let byteCount = missing.reduce(0) { $0 + $1.text.utf8.count }
        if byteCount <= Limits.rulesLoadedAtOnceByteCount, case .loaded(let rules) = work.perform()
        {
            return label(labels, by: author, loaded: rules, for: asked, &step)
        }
        wait(for: work, .labels(labels, author: author), asker, &step)
    }

    private func refusal(of labels: RulesetLabels, _ database: Database) -> RequestRefusal? {
        for id in [labels.stable, labels.canary] {
            if let id, database.settings.ruleset(id) == nil { return .unknownRuleset }
        }
        return writeRefusal
    }

    private func putLabels(
        _ labels: RulesetLabels,
        by author: String,
        _ loaded: [Ruleset],
        _ database: Database,
        _ step: inout Step
    ) {
        let entries = DatabaseSettings.entries(of: labels)
        let stable = labels.stable.flatMap { database.settings.ruleset($0) }
        if let stable, !database.isInForce(stable.text) {
            guard let rules = loaded.first(where: { stable.isText(of: $0) }) else {
                preconditionFailure("what comes in force has been loaded")
            }
            replaceOwnRules(rules, entries, by: author, loaded: loaded, database, &step)
        } else {
            putSettings(entries, loaded: loaded, database, &step)
        }
    }
}

extension StoredRuleset {
    /// Whether these rules are made of its text, byte for byte.
    func isText(of rules: Ruleset) -> Bool { text.utf8.elementsEqual(rules.text.utf8) }
}

extension Database {
    /// The rulesets that these labels bring into use and that are not in use now.
    fileprivate func unloaded(for labels: RulesetLabels) -> [StoredRuleset] {
        var found: [StoredRuleset] = []
        if let stable = labels.stable.flatMap({ settings.ruleset($0) }), !isInForce(stable.text) {
            found.append(stable)
        }
        if let canary = labels.canary.flatMap({ settings.ruleset($0) }),
            shadow?.candidate != canary, !found.contains(canary)
        {
            found.append(canary)
        }
        return found
    }
}
