/// The settings of a database besides its rules in force (`/.settings/...`).
enum SettingsRoute: Equatable {
    /// `rulesets.json`: stored rulesets.
    case rulesets
    /// `rulesets/ID.json`: one of them.
    case ruleset(id: String)
    /// `ruleset_labels.json`: which of them serves which purpose.
    case rulesetLabels
    /// `rules_history.json`: the versions of the database's own rules.
    case rulesHistory
    /// `rules_history/N.json`: one of them, as it was sent.
    case rulesVersion(Int)
    /// `defaultWriteSizeLimit.json`.
    case defaultWriteSizeLimit
    /// `strictTriggerValidation.json`.
    case strictTriggerValidation

    /// Reads the segments behind `.settings`; nil when there is no such setting.
    init?(_ segments: ArraySlice<String>) {
        switch Array(segments) {
        case ["rulesets.json"]: self = .rulesets
        case ["ruleset_labels.json"]: self = .rulesetLabels
        case ["rules_history.json"]: self = .rulesHistory
        case ["defaultWriteSizeLimit.json"]: self = .defaultWriteSizeLimit
        case ["strictTriggerValidation.json"]: self = .strictTriggerValidation
        case let names
        where names.count == 2 && names[0] == "rulesets" && names[1].hasSuffix(".json"):
            self = .ruleset(id: String(names[1].dropLast(".json".count)))
        case let names
        where names.count == 2 && names[0] == "rules_history" && names[1].hasSuffix(".json"):
            guard let number = Int(names[1].dropLast(".json".count)) else { return nil }
            self = .rulesVersion(number)
        default: return nil
        }
    }

    /// The methods that it answers, `OPTIONS` aside.
    var methods: [String] {
        switch self {
        case .rulesets: ["GET", "HEAD", "POST"]
        case .ruleset, .rulesHistory, .rulesVersion: ["GET", "HEAD"]
        case .rulesetLabels, .defaultWriteSizeLimit, .strictTriggerValidation:
            ["GET", "HEAD", "PUT"]
        }
    }
}
