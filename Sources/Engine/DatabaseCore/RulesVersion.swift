package import JSONTree
import SecurityRules

/// The rules that a database had of its own from one moment on, or that it had none from then on.
package struct RulesVersion: Sendable, Equatable {
    /// From 1, without holes.
    package let number: Int
    /// When the change was committed; nil for rules that are older than the history.
    package let time: Timestamp?
    /// Who made the change, in at most `Limits.authorByteCount` bytes; nil for rules that are older than the history.
    package let author: String?
    /// The rules as they were sent, comments and all; they loaded then. Nil when the rules of its own were taken away:
    /// the default ones are in force.
    package let text: String?

    package var byteCount: Int { text?.utf8.count ?? 0 }

    package init(number: Int, time: Timestamp?, author: String?, text: String?) {
        self.number = number
        self.time = time
        self.author = author
        self.text = text
    }
}

/// How the rules of a database are to be replaced.
package struct RulesChange: Sendable, Equatable {
    /// Changes nothing; only says whether it would.
    package var isDryRun = false
    /// Who makes it, as the history shows it.
    package var author: String
    /// The version that must be in force, 0 for none; nil for any.
    package var expectedVersion: Int?

    package init(author: String) {
        self.author = author
    }
}

/// The history as settings keep it:
///
///     name := "rulesVersion/" number "/" time "/" kind "/" author
///     time := milliseconds, or "-" with author "-" where neither is known
///     kind := "rules" | "detached"
///
/// The text of an entry is the rules, or `detached`. An entry named `rulesVersion/` number alone, without a text, takes
/// the version back.
extension RulesVersion {
    static let entryPrefix = "rulesVersion/"

    /// How many of the oldest versions make room for the others; never the newest.
    package static func excessCount(_ all: [RulesVersion]) -> Int {
        var excess = max(0, all.count - Limits.rulesVersions)
        var byteCount = all.dropFirst(excess).reduce(0) { $0 + $1.byteCount }
        while byteCount > Limits.rulesVersionsByteCount, excess < all.count - 1 {
            byteCount -= all[excess].byteCount
            excess += 1
        }
        return excess
    }

    private static let detachedKind = "detached"
    private static let rulesKind = "rules"
    private static let unknown = "-"

    var entry: DatabaseSettings.Entry {
        let time = time.map { "\($0.milliseconds)" } ?? Self.unknown
        let author = author ?? Self.unknown
        let kind = text == nil ? Self.detachedKind : Self.rulesKind
        let name = Self.entryPrefix + "\(number)/\(time)/\(kind)/\(author)"
        return (name, text ?? Self.detachedKind)
    }

    /// The entry that takes the version back.
    var withdrawal: DatabaseSettings.Entry { (Self.entryPrefix + "\(number)", "") }

    /// Reads an entry that adds a version; nil for any other.
    init?(_ entry: DatabaseSettings.Entry) {
        // By scalars: an author may begin with a mark that is one character with the slash before it.
        let parts = entry.name.unicodeScalars.dropFirst(Self.entryPrefix.count)
            .split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
            .map { String($0) }
        guard parts.count == 4, let number = Int(parts[0]), number > 0 else { return nil }
        self.number = number
        if parts[1] == Self.unknown {
            time = nil
        } else {
            guard let milliseconds = Int64(parts[1]) else { return nil }
            time = Timestamp(milliseconds: milliseconds)
        }
        switch parts[2] {
        case Self.rulesKind: text = entry.text
        case Self.detachedKind: text = nil
        default: return nil
        }
        author = time == nil ? nil : parts[3]
    }
}

extension DatabaseSettings {
    /// Takes an entry of the history over. Returns whether it means anything.
    mutating func takeVersion(_ entry: Entry) -> Bool {
        if entry.text.isEmpty {
            let number = entry.name.dropFirst(RulesVersion.entryPrefix.count)
            guard let number = Int(number) else { return false }
            versions.removeAll { $0.number == number }
            return true
        }
        guard let version = RulesVersion(entry) else { return false }
        // They follow one another, in the log as in a checkpoint.
        guard version.number > versions.last?.number ?? 0 else { return false }
        versions.append(version)
        return true
    }

    /// The entries that add versions to the history, and those that make room: the oldest ones go, never the newest.
    func entries(adding added: [RulesVersion]) -> [Entry] {
        let excess = RulesVersion.excessCount(versions + added)
        let kept = added.dropFirst(max(0, excess - versions.count))
        return versions.prefix(excess).map(\.withdrawal) + kept.map(\.entry)
    }
}

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
        let version = RulesVersion(number: last + 1, time: time, author: author, text: rules?.text)
        return settings.entries(adding: earlier + [version])
    }
}

extension DatabaseSettings {
    /// Every version that is kept of the rules of a database that has this text of its own, or none.
    ///
    /// Rules of its own that are older than the history are its first version.
    func versions(of text: String?) -> [RulesVersion] {
        guard versions.isEmpty, let text else { return versions }
        return [RulesVersion(number: 1, time: nil, author: nil, text: text)]
    }
}
