import JSONTree
import SecurityRules

/// The versions of a database's own rules.
extension Database {
    /// Every version that is kept, the oldest first; the last one is in force.
    var rulesVersions: [RulesVersion] { settings.versions(of: ownRules?.text) }

    /// Whether this is the very text in force, byte for byte; nil stands for no rules of its own.
    func isInForce(_ text: String?) -> Bool {
        guard let text, let ownRules else { return text == nil && ownRules == nil }
        return text.utf8.elementsEqual(ownRules.text.utf8)
    }

    /// The settings that note down that `rules`, other than those in force, come in force at `time`.
    func historyEntries(
        for rules: Ruleset?,
        by author: String,
        at time: Timestamp
    ) -> [DatabaseSettings.Entry] {
        let earlier = settings.versions.isEmpty ? rulesVersions : []
        let last = (earlier.last ?? settings.versions.last)?.number ?? 0
        let version = RulesVersion(
            number: last + 1,
            time: time,
            author: author,
            content: rules.map { .text($0.text) } ?? .detached,
        )
        return settings.entries(adding: earlier + [version])
    }
}

extension DatabaseSettings {
    /// Every version that is kept of the rules of a database that has this text of its own, or none.
    ///
    /// Rules of its own that are older than the history are its first version.
    func versions(of text: String?) -> [RulesVersion] {
        guard versions.isEmpty, let text else { return versions }
        return [RulesVersion(number: 1, time: nil, author: nil, content: .text(text))]
    }
}
