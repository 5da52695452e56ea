/// Names and texts of people for a list: on one line, and without characters that change the order of the text beside
/// them.
///
/// Names keep the order of their characters, also right-to-left ones: the display lays out each name by itself.
public enum DisplayName {
    /// The name as people say it; the username if there is none.
    public static func of(_ person: UserProfile) -> String {
        let name = oneLine(person.name ?? "")
        return name.isEmpty ? oneLine(person.username) : name
    }

    /// `Ann`, `Ann and Bob`, `Ann, Bob and Cid`, `Ann, Bob, Cid and 4 others`; empty for no names.
    public static func list(_ names: [String], atMost limit: Int = 3) -> String {
        let shown = names.count <= limit + 1 ? names : Array(names.prefix(limit))
        let hidden = names.count - shown.count
        let parts = hidden > 0 ? shown + ["\(hidden) others"] : shown
        guard let last = parts.last, parts.count > 1 else { return parts.first ?? "" }
        return parts.dropLast().joined(separator: ", ") + " and " + last
    }

    /// A text on one line: white space becomes one space; control characters and characters that change the text
    /// direction are removed.
    public static func oneLine(_ text: String) -> String {
        var line = ""
        var isBlank = false
        for scalar in text.unicodeScalars {
            if scalar.properties.isWhitespace {
                isBlank = true
            } else if scalar.properties.generalCategory != .control, !turnsText(scalar) {
                if isBlank, !line.isEmpty { line.append(" ") }
                isBlank = false
                line.unicodeScalars.append(scalar)
            }
        }
        return line
    }

    /// Whether it has the property Bidi_Control.
    private static func turnsText(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x061C, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
