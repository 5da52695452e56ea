import JSONTree
import SecurityRules

/// Rules and other settings, which only admins see and change.
extension DatabaseEngine {
    /// Gives a database rules of its own, or takes them away, as a commit with a version of its history.
    ///
    /// The very text in force is no change, and no commit.
    func putRules(
        _ rules: Ruleset?,
        _ change: RulesChange,
        _ database: Database,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) -> Response {
        let present = database.rulesVersions.last
        if let expected = change.expectedVersion, expected != present?.number ?? 0 {
            return .rulesMismatch(present)
        }
        if change.isDryRun { return .done }
        if let refusal = logCondition.refusal { return .refused(refusal) }
        if database.isInForce(rules?.text) {
            database.ownRules = rules
            database.renewShadow(now: now)
        } else {
            // The label names what is in force.
            let isLabelled = database.settings.labels.stable != nil
            let entries = isLabelled ? [DatabaseSettings.noStableLabel] : []
            replaceOwnRules(rules, entries, by: change.author, database, now, &effects)
        }
        return .rulesPut(version: database.rulesVersions.last?.number ?? 0)
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

    /// What the shadow rules have found so far.
    func shadow(of database: Database, resets: Bool, _ now: Timestamp) -> Response {
        let none = ShadowReport(candidate: nil, since: database.commitTime(now))
        let report = database.shadow?.report ?? none
        if resets { database.shadow?.reset(now: database.commitTime(now)) }
        return .shadow(report)
    }

    @discardableResult
    func put(
        _ entries: [DatabaseSettings.Entry],
        loaded: [Ruleset] = [],
        _ database: Database,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) -> Response {
        if let refusal = logCondition.refusal { return .refused(refusal) }
        database.append(database.take(entries), at: database.commitTime(now), &effects)
        counts.commits += 1
        database.renewShadow(loaded, now: now)
        return .done
    }

    /// Puts other rules in force, in one commit with `entries` and with the version that it makes.
    func replaceOwnRules(
        _ rules: Ruleset?,
        _ entries: [DatabaseSettings.Entry],
        by author: String,
        loaded: [Ruleset] = [],
        _ database: Database,
        _ now: Timestamp,
        _ effects: inout [Effect],
    ) {
        let time = database.commitTime(now)
        var operations = database.take(entries)
        operations += database.take(database.historyEntries(for: rules, by: author, at: time))
        operations.append(rules.map { .setRules($0.text) } ?? .detachRules)
        database.append(operations, at: time, &effects)
        counts.commits += 1
        database.ownRules = rules
        database.renewShadow(loaded, now: now)
        database.judgeAllAgain(now: now, &effects)
        effects.append(.note(.rulesReplaced(database.id, database.rulesVersions.last)))
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
