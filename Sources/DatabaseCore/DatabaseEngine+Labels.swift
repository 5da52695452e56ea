import JSONTree
import SecurityRules

/// A request to label stored rulesets, which may have to wait until they are loaded.
struct LabelRequest {
    let id: RequestID
    let labels: RulesetLabels
    let author: String
    let database: Database
    let standing: Standing
}

/// Labels of stored rulesets: which one is in force, which one is tried beside it.
extension DatabaseEngine {
    /// Labels stored rulesets, puts the one labelled `stable` in force, and tries the one labelled `canary`.
    ///
    /// Those that come into use have to be loaded first: elsewhere, unless they are short. `loaded` are those that
    /// have been loaded for this request.
    func label(
        _ request: LabelRequest,
        loaded: [Ruleset] = [],
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) {
        let database = request.database
        if let refusal = refusal(of: request) {
            return database.emit(.respond(request.id, .refused(refusal)), &effects)
        }
        let missing = database.unloaded(for: request.labels).filter { ruleset in
            !loaded.contains { ruleset.isText(of: $0) }
        }
        if missing.isEmpty { return finish(request, loaded, now, &effects) }
        let work = LongWork.load(missing)
        if missing.reduce(0, { $0 + $1.text.utf8.count }) <= Limits.rulesLoadedAtOnceByteCount {
            return self.loaded(work.perform(), for: request, now, &effects)
        }
        let inquiry = nextInquiry()
        inquiringLabels[inquiry] = request
        beginWaiting(request.id, request.standing)
        effects.append(.work(inquiry, work))
    }

    /// Goes on with a request whose rulesets have been loaded, or could not be.
    func loaded(
        _ result: LongResult,
        for request: LabelRequest,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) {
        switch result {
        case .loaded(let rules?): label(request, loaded: rules, now, &effects)
        case .loaded(nil):
            let response = Response.refused(.unusableRuleset)
            request.database.emit(.respond(request.id, response), &effects)
        case .hash, .compared, .index, .simulated, .decided, .refused:
            request.database.emit(.respond(request.id, .refused(.busy)), &effects)
        }
    }

    private func refusal(of request: LabelRequest) -> RequestRefusal? {
        for id in [request.labels.stable, request.labels.canary] {
            if let id, request.database.settings.ruleset(id) == nil { return .unknownRuleset }
        }
        return logCondition.refusal
    }

    private func finish(
        _ request: LabelRequest,
        _ loaded: [Ruleset],
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) {
        let database = request.database
        let entries = DatabaseSettings.entries(of: request.labels)
        let stable = request.labels.stable.flatMap { database.settings.ruleset($0) }
        if let stable, !database.isInForce(stable.text) {
            guard let rules = loaded.first(where: { stable.isText(of: $0) }) else {
                preconditionFailure("what comes in force has been loaded")
            }
            replaceOwnRules(
                rules,
                entries,
                by: request.author,
                loaded: loaded,
                database,
                now,
                &effects
            )
        } else {
            put(entries, loaded: loaded, database, now, &effects)
        }
        database.emit(.respond(request.id, .done), &effects)
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
