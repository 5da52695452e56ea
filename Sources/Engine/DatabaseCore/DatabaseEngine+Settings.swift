import JSONTree
import SecurityRules

/// Rules and other settings, which only admins see and change.
extension DatabaseEngine {
    /// Gives a database rules of its own, or removes them, as a commit with a version of its history.
    ///
    /// The text in force again makes no commit.
    func putRules(
        _ rules: Ruleset?,
        _ change: RulesChange,
        _ database: Database,
        _ step: inout Step,
    ) -> Response {
        let present = database.rulesVersions.last
        if let expected = change.expectedVersion, expected != present?.number ?? 0 {
            return .rulesMismatch(present)
        }
        if change.isDryRun { return .done }
        if let refusal = writeRefusal { return .refused(refusal) }
        if database.isInForce(rules?.text) {
            database.ownRules = rules
            database.renewShadow(now: step.now)
        } else {
            // The label must name the rules in force.
            let isLabelled = database.settings.labels.stable != nil
            let entries = isLabelled ? [DatabaseSettings.noStableLabel] : []
            replaceOwnRules(rules, entries, by: change.author, database, &step)
        }
        return .rulesPut(version: database.rulesVersions.last?.number ?? 0)
    }

    /// Keeps a ruleset; beyond `Limits.storedRulesets` removes the oldest ones without a label.
    func store(
        _ rules: Ruleset,
        as id: String,
        _ database: Database,
        _ step: inout Step
    ) -> Response {
        let time = database.commitTime(step.now)
        let ruleset = StoredRuleset(id: id, time: time, text: rules.text)
        let entries = database.settings.entriesThatMakeRoom + [DatabaseSettings.entry(of: ruleset)]
        return putSettings(entries, database, &step)
    }

    /// The report of the shadow rules.
    func shadow(of database: Database, resets: Bool, _ now: Timestamp) -> Response {
        let none = ShadowReport(candidate: nil, since: database.commitTime(now))
        let report = database.shadow?.report ?? none
        if resets { database.shadow?.reset(now: database.commitTime(now)) }
        return .shadow(report)
    }

    @discardableResult
    func putSettings(
        _ entries: [DatabaseSettings.Entry],
        loaded: [Ruleset] = [],
        _ database: Database,
        _ step: inout Step,
    ) -> Response {
        if let refusal = writeRefusal { return .refused(refusal) }
        database.append(database.takeSettings(entries), at: database.commitTime(step.now), &step)
        step.counts.commits += 1
        database.renewShadow(loaded, now: step.now)
        return .done
    }

    /// Puts other rules in force, in one commit with `entries` and with the version that it makes.
    func replaceOwnRules(
        _ rules: Ruleset?,
        _ entries: [DatabaseSettings.Entry],
        by author: String,
        loaded: [Ruleset] = [],
        _ database: Database,
        _ step: inout Step,
    ) {
        let time = database.commitTime(step.now)
        var operations = database.takeSettings(entries)
        operations += database.takeSettings(
            database.historyEntries(for: rules, by: author, at: time)
        )
        operations.append(rules.map { .setRules($0.text) } ?? .detachRules)
        database.append(operations, at: time, &step)
        step.counts.commits += 1
        database.ownRules = rules
        database.renewShadow(loaded, now: step.now)
        database.reauthorizeAll(&step)
        step.effects.append(.note(.rulesReplaced(database.id, database.rulesVersions.last)))
    }
}

extension Database {
    /// Takes settings over, and returns them as the log keeps them.
    fileprivate func takeSettings(_ entries: [DatabaseSettings.Entry]) -> [CommitOperation] {
        entries.map { entry in
            let isKnown = settings.take(entry)
            precondition(isKnown, "settings know what they are made of")
            return .setting(name: entry.name, text: entry.text)
        }
    }
}
