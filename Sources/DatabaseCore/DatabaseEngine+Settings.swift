import JSONTree
import SecurityRules

/// Rules and other settings, which only admins see and change.
extension DatabaseEngine {
    /// Gives a database rules of its own, or takes them away, as a commit.
    func putRules(
        _ rules: Ruleset?,
        _ isDryRun: Bool,
        _ database: Database,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) -> Response {
        if isDryRun { return .done }
        if let refusal = logCondition.refusal { return .refused(refusal) }
        let operation = rules.map { CommitOperation.setRules($0.text) } ?? .detachRules
        return replaceOwnRules(rules, [operation], database, now, &effects)
    }

    func put(
        _ setting: DatabaseSetting,
        _ database: Database,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) -> Response {
        put([DatabaseSettings.entry(of: setting)], database, now, &effects)
    }

    /// Keeps a ruleset; beyond `Limits.storedRulesets` the oldest ones without a label go.
    func store(
        _ rules: Ruleset,
        as id: String,
        _ database: Database,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) -> Response {
        let time = database.commitTime(now)
        let ruleset = StoredRuleset(id: id, time: time, text: rules.text)
        let entries = database.settings.entriesThatMakeRoom + [DatabaseSettings.entry(of: ruleset)]
        return put(entries, database, now, &effects)
    }

    /// Labels stored rulesets, and puts the one labelled `stable` in force.
    func label(
        _ labels: RulesetLabels,
        _ database: Database,
        _ now: Timestamp,
        _ effects: inout [Effect]
    ) -> Response {
        for id in [labels.stable, labels.canary] {
            if let id, database.settings.ruleset(id) == nil { return .refused(.unknownRuleset) }
        }
        let entries = DatabaseSettings.entries(of: labels)
        guard let stable = labels.stable.flatMap({ database.settings.ruleset($0) }) else {
            return put(entries, database, now, &effects)
        }
        if let refusal = logCondition.refusal { return .refused(refusal) }
        let rules: Ruleset
        do throws(RulesError) { rules = try Ruleset.load(stable.text) } catch {
            preconditionFailure("a stored ruleset has been loaded before")
        }
        var operations = database.take(entries)
        operations.append(.setRules(stable.text))
        return replaceOwnRules(rules, operations, database, now, &effects)
    }

    private func put(
        _ entries: [DatabaseSettings.Entry],
        _ database: Database,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) -> Response {
        if let refusal = logCondition.refusal { return .refused(refusal) }
        database.append(database.take(entries), at: database.commitTime(now), &effects)
        counts.commits += 1
        return .done
    }

    private func replaceOwnRules(
        _ rules: Ruleset?,
        _ operations: [CommitOperation],
        _ database: Database,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) -> Response {
        database.append(operations, at: database.commitTime(now), &effects)
        database.ownRules = rules
        database.judgeAllAgain(now: now, &effects)
        effects.append(.note(.rulesReplaced(database.id)))
        return .done
    }
}

extension Database {
    /// Takes settings over and says how the log keeps them.
    fileprivate func take(_ entries: [DatabaseSettings.Entry]) -> [CommitOperation] {
        entries.map { entry in
            let isKnown = settings.take(entry)
            precondition(isKnown, "settings know what they are made of")
            return .setting(name: entry.name, text: entry.text)
        }
    }
}
