/// Turns the texts of settings into values, and collects what is wrong with them.
struct SettingReader {
    /// What is set, and where.
    let values: SettingLayer
    private(set) var faults: [ConfigurationFault] = []

    /// - Parameter layers: From the strongest to the weakest; a list of a stronger layer replaces the weaker's.
    init(_ layers: [SettingLayer]) {
        var values: SettingLayer = [:]
        for layer in layers {
            values.merge(layer) { stronger, _ in stronger }
        }
        self.values = values
    }

    func isSet(_ setting: Setting) -> Bool { values[setting] != nil }

    /// Whether a list is set to nothing.
    func isEmpty(_ setting: Setting) -> Bool {
        values[setting]?.texts.allSatisfy(\.isEmpty) == true
    }

    mutating func fault(_ setting: Setting, _ problem: String, _ advice: String) {
        let origin = values[setting]?.origin ?? .builtIn(setting)
        faults.append(ConfigurationFault(origin, problem, advice))
    }

    /// The text of a setting; nil when it is not set. An empty text is a fault.
    mutating func text(_ setting: Setting) -> String? {
        guard let value = values[setting] else { return nil }
        guard value.texts.count == 1, let text = value.texts.first else {
            fault(setting, "is given \(value.texts.count) times", "Give it once.")
            return nil
        }
        guard !text.isEmpty, !text.utf8.contains(0) else {
            fault(setting, "is empty", "Give it a value or leave it out.")
            return nil
        }
        return text
    }

    /// The name of a database, or one that could be.
    mutating func name(_ setting: Setting) -> DatabaseName? {
        guard let text = text(setting) else { return nil }
        do throws(DatabaseNameError) {
            return try DatabaseName(text)
        } catch {
            fault(setting, "the name '\(text)' \(error)", "Write another name.")
            return nil
        }
    }

    /// The entries of a list that `parse` takes; for each it does not, a fault with `advice`.
    mutating func list<Entry>(
        _ setting: Setting,
        _ advice: String,
        _ parse: (String) throws -> Entry?,
    ) -> [Entry] {
        var entries: [Entry] = []
        for text in values[setting]?.texts ?? [] {
            do {
                if let entry = try parse(text) {
                    entries.append(entry)
                } else {
                    fault(setting, "'\(text)' cannot be read", advice)
                }
            } catch {
                fault(setting, "the name in '\(text)' \(error)", advice)
            }
        }
        return entries
    }

    mutating func toggle(_ setting: Setting) -> Bool {
        switch text(setting)?.lowercased() {
        case nil: return false
        case "true", "yes", "on", "1": return true
        case "false", "no", "off", "0": return false
        case .some(let text):
            fault(setting, "'\(text)' is neither true nor false", "Write true or false.")
            return false
        }
    }

    /// A whole number within `range`.
    mutating func integer(_ setting: Setting, in range: ClosedRange<Int>) -> Int? {
        guard let text = text(setting) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            fault(
                setting,
                "must be a number from \(range.lowerBound) to \(range.upperBound), not '\(text)'",
                "Write digits, such as \(range.contains(9000) ? 9000 : range.lowerBound)."
            )
            return nil
        }
        return number
    }

    /// A byte count: digits, or digits with `KiB`, `MiB` or `GiB`.
    mutating func byteCount(_ setting: Setting, in range: ClosedRange<Int>) -> Int? {
        guard let text = text(setting) else { return nil }
        guard let count = Self.byteCount(of: text), range.contains(count) else {
            fault(
                setting,
                "must be a size from \(range.lowerBound) bytes to \(range.upperBound >> 20) MiB, not '\(text)'",
                "Write a number of bytes, or one with KiB, MiB or GiB such as 16MiB."
            )
            return nil
        }
        return count
    }

    /// The bytes that a text says; nil for another text.
    static func byteCount(of text: String) -> Int? {
        scaled(text, [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("", 1)])
    }

    /// A length of time: digits with `ms`, `s`, `m` or `h`.
    mutating func duration(_ setting: Setting, inSeconds range: ClosedRange<Int>) -> Duration? {
        guard let text = text(setting) else { return nil }
        let units = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)]
        let allowed = (range.lowerBound * 1000)...(range.upperBound * 1000)
        guard let milliseconds = Self.scaled(text, units), allowed.contains(milliseconds) else {
            fault(
                setting,
                "must be a time from \(range.lowerBound)s to \(range.upperBound)s, not '\(text)'",
                "Write a number with ms, s, m or h, such as 30s."
            )
            return nil
        }
        return .milliseconds(milliseconds)
    }

    /// One of the words of an enumeration.
    mutating func word<Word: RawRepresentable & CaseIterable>(
        _ setting: Setting
    ) -> Word? where Word.RawValue == String {
        guard let text = text(setting) else { return nil }
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            fault(setting, "'\(text)' is not known", "Write one of: \(words).")
            return nil
        }
        return word
    }

    /// `digits unit` as a number of the smallest unit; the first unit that fits counts.
    private static func scaled(_ text: String, _ units: [(suffix: String, factor: Int)]) -> Int? {
        for (suffix, factor) in units where text.hasSuffix(suffix) {
            let digits = text.dropLast(suffix.count)
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }),
                let number = Int(digits)
            else { return nil }
            let (scaled, overflow) = number.multipliedReportingOverflow(by: factor)
            return overflow ? nil : scaled
        }
        return nil
    }
}
