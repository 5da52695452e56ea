package import JSONTree

/// Settings of one database, beside its rules in force.
///
/// Durable: each change is a commit (`CommitOperation.setting`), and checkpoints hold all of them as `entries`.
package struct DatabaseSettings: Sendable, Equatable {
    /// How much a REST write may touch that does not say so itself.
    package internal(set) var defaultWriteSizeLimit = WriteSizeLimit.unlimited
    /// Kept for tools that read it back; nothing is triggered by writes here.
    package internal(set) var isStrictInTriggers = true
    package internal(set) var labels = RulesetLabels()
    /// The oldest first; their number is bounded by `Limits.storedRulesets`.
    package internal(set) var rulesets: [StoredRuleset] = []
    /// The rules that the database had of its own, the oldest first; the last one is in force. Bounded by
    /// `Limits.rulesVersions` and `Limits.rulesVersionsByteCount`.
    package internal(set) var versions: [RulesVersion] = []

    package init() {}

    /// The stored ruleset with this identifier.
    package func ruleset(_ id: String) -> StoredRuleset? { rulesets.first { $0.id == id } }
}

/// One setting with its new value.
package enum DatabaseSetting: Sendable, Equatable {
    case defaultWriteSizeLimit(WriteSizeLimit)
    case strictTriggerValidation(Bool)
}

/// Which stored rulesets serve which purpose.
package struct RulesetLabels: Sendable, Equatable {
    /// The one that is in force from the moment it is labelled.
    package let stable: String?
    /// Kept for tools; it has no effect.
    package let canary: String?

    package init(stable: String? = nil, canary: String? = nil) {
        self.stable = stable
        self.canary = canary
    }
}

/// A ruleset that is kept and need not be in force.
package struct StoredRuleset: Sendable, Equatable {
    /// Without a slash.
    package let id: String
    package let time: Timestamp
    /// As it was sent, comments and all; it loads.
    package let text: String

    /// A ruleset that loads.
    package init(id: String, time: Timestamp, text: String) {
        self.id = id
        self.time = time
        self.text = text
    }
}

/// How much one REST write may touch: what it replaces and what it writes, as the log encodes them.
///
/// The names are those of the Firebase REST API, which stops a write that would take longer than a number of seconds.
/// Here the time is estimated at 16 MiB a second, from sizes that are known before the write.
package enum WriteSizeLimit: String, CaseIterable, Sendable {
    case tiny
    case small
    case medium
    case large
    case unlimited

    /// Bytes of the log's encoding; nil without a limit.
    package var byteCount: Int? {
        let bytesPerSecond = 16 << 20
        return switch self {
        case .tiny: bytesPerSecond
        case .small: 10 * bytesPerSecond
        case .medium: 30 * bytesPerSecond
        case .large: 60 * bytesPerSecond
        case .unlimited: nil
        }
    }
}

extension DatabaseSettings {
    /// One setting as log and checkpoints hold it; an empty text takes it back.
    typealias Entry = (name: String, text: String)

    private static let limitName = "defaultWriteSizeLimit"
    private static let strictName = "strictTriggerValidation"
    private static let stableName = "label/stable"
    private static let canaryName = "label/canary"
    private static let rulesetPrefix = "ruleset/"

    /// Everything that differs from the settings of a new database, in an order of its own.
    var entries: [Entry] {
        var entries: [Entry] = []
        if defaultWriteSizeLimit != .unlimited {
            entries.append(Self.entry(of: .defaultWriteSizeLimit(defaultWriteSizeLimit)))
        }
        if !isStrictInTriggers {
            entries.append(Self.entry(of: .strictTriggerValidation(isStrictInTriggers)))
        }
        entries += rulesets.map { Self.entry(of: $0) }
        entries += versions.map(\.entry)
        return entries + Self.entries(of: labels).filter { !$0.text.isEmpty }
    }

    /// What takes the label `stable` back.
    static let noStableLabel: Entry = (stableName, "")

    static func entry(of setting: DatabaseSetting) -> Entry {
        switch setting {
        case .defaultWriteSizeLimit(let limit): (limitName, limit.rawValue)
        case .strictTriggerValidation(let isStrict): (strictName, isStrict ? "true" : "false")
        }
    }

    static func entry(of ruleset: StoredRuleset) -> Entry {
        (rulesetPrefix + "\(ruleset.time.milliseconds)/\(ruleset.id)", ruleset.text)
    }

    static func entries(of labels: RulesetLabels) -> [Entry] {
        [(stableName, labels.stable ?? ""), (canaryName, labels.canary ?? "")]
    }

    /// What makes room for one more ruleset: the oldest ones without a label go.
    var entriesThatMakeRoom: [Entry] {
        let excess = rulesets.count + 1 - Limits.storedRulesets
        if excess <= 0 { return [] }
        let unlabelled = rulesets.filter { $0.id != labels.stable && $0.id != labels.canary }
        return unlabelled.prefix(excess).map { (Self.entry(of: $0).name, "") }
    }

    /// Takes one entry over. Returns whether its name and text mean anything.
    mutating func take(_ entry: Entry) -> Bool {
        switch entry.name {
        case Self.limitName:
            guard let limit = WriteSizeLimit(rawValue: entry.text) else { return false }
            defaultWriteSizeLimit = limit
        case Self.strictName:
            isStrictInTriggers = entry.text != "false"
        case Self.stableName:
            labels = RulesetLabels(stable: Self.label(entry.text), canary: labels.canary)
        case Self.canaryName:
            labels = RulesetLabels(stable: labels.stable, canary: Self.label(entry.text))
        case let name where name.hasPrefix(RulesVersion.entryPrefix):
            return takeVersion(entry)
        default:
            guard entry.name.hasPrefix(Self.rulesetPrefix) else { return false }
            // By scalars, as in `RulesVersion`.
            let parts = entry.name.unicodeScalars.dropFirst(Self.rulesetPrefix.count)
                .split(separator: "/", maxSplits: 1)
                .map { String($0) }
            guard parts.count == 2, let time = Int64(parts[0]) else { return false }
            takeRuleset(parts[1], Timestamp(milliseconds: time), entry.text)
        }
        return true
    }

    private mutating func takeRuleset(_ id: String, _ time: Timestamp, _ text: String) {
        rulesets.removeAll { $0.id == id }
        if !text.isEmpty { rulesets.append(StoredRuleset(id: id, time: time, text: text)) }
    }

    private static func label(_ text: String) -> String? { text.isEmpty ? nil : text }
}
