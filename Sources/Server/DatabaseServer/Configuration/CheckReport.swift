package import Files
import IdentityToolkit
import JSONTree

/// What `hearth check` says.
package struct CheckReport: Sendable {
    private var settings: [SettingInForce] = []
    private var facts: [String] = []
    private var warnings: [String] = []
    private let faults: [ConfigurationFault]

    /// Of settings that make a configuration, and of the files that it names.
    package init(_ configuration: Configuration) {
        let check = ConfigurationCheck(configuration)
        settings = configuration.settingsInForce.filter { !Self.hidden.contains($0.setting) }
        facts = check.facts
        warnings = check.warnings
        faults = check.faults
    }

    /// Of settings that make none.
    package init(_ faults: ConfigurationFaults) {
        self.faults = faults.faults
    }

    /// Settings of tests, which `hearth serve --help` does not show either.
    private static let hidden: [Setting] = [.pollHold, .pollSilence]

    /// 2 with a fault, 1 with a warning when that is asked for, else 0.
    private func exitCode(isStrict: Bool) -> Int32 {
        if !faults.isEmpty { return 2 }
        return isStrict && !warnings.isEmpty ? 1 : 0
    }

    /// For people: settings and facts on standard output, the rest on standard error.
    ///
    ///     port                          9001                      hearth.json:3:13
    package func text(isStrict: Bool) -> CommandOutcome {
        let rows = settings.map { ($0.setting.rawValue, Self.shown($0.texts), $0.place) }
        let nameWidth = rows.map(\.0.count).max() ?? 0
        // One long value does not push the last column away.
        let valueWidth = min(rows.map(\.1.count).max() ?? 0, 40)
        var lines = rows.map {
            "\(Self.padded($0.0, nameWidth))  \(Self.padded($0.1, valueWidth))  \($0.2)"
        }
        if !facts.isEmpty { lines += [""] + facts }
        var errors = faults.map { "error: \($0)" } + warnings.map { "warning: \($0)" }
        errors.append(
            "\(Self.count(faults.count, "error")), \(Self.count(warnings.count, "warning"))"
        )
        return CommandOutcome(
            output: lines.joined(separator: "\n"),
            errors: errors.joined(separator: "\n"),
            exitCode: exitCode(isStrict: isStrict)
        )
    }

    /// For programs: one object on standard output.
    ///
    ///     {"settings":[{"name":"port","value":"9001","place":"hearth.json:3:13"}],"facts":[],"warnings":[],
    ///      "faults":[{"place":"--host","problem":"...","advice":"..."}]}
    ///
    /// `value` is a list for settings that may be given several times, and null for one that is not set.
    package func json(isStrict: Bool) -> CommandOutcome {
        let settings = settings.map(\.json)
        let faults = faults.map { fault -> JSONValue in
            [
                "place": .string(fault.place), "problem": .string(fault.problem),
                "advice": .string(fault.advice),
            ]
        }
        let report: JSONValue = [
            "settings": .list(settings), "facts": .list(facts.map { .string($0) }),
            "warnings": .list(warnings.map { .string($0) }), "faults": .list(faults),
        ]
        return CommandOutcome(
            output: String(decoding: report.text, as: UTF8.self),
            errors: "",
            exitCode: exitCode(isStrict: isStrict)
        )
    }

    private static func shown(_ texts: [String]) -> String {
        texts.isEmpty ? "-" : texts.joined(separator: ", ")
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func count(_ number: Int, _ word: String) -> String {
        "\(number) \(word)\(number == 1 ? "" : "s")"
    }
}
