/// Names and texts of people as a list shows them: on one line, and with nothing in them that changes the order
/// of what stands beside them.
///
/// Names keep the order of their letters, from right to left too: whoever draws them turns them, each in its place.
public enum DisplayName {
    /// The name as people say it; the username if there is none.
    public static func of(_ person: UserProfile) -> String {
        let name = oneLine(person.name ?? "")
        return name.isEmpty ? oneLine(person.username) : name
    }

    /// `Ann`, `Ann and Bob`, `Ann, Bob and Cid`, `Ann, Bob, Cid and 4 others`; empty for nobody.
    public static func list(_ names: [String], atMost limit: Int = 3) -> String {
        let shown = names.count <= limit + 1 ? names : Array(names.prefix(limit))
        let hidden = names.count - shown.count
        let parts = hidden > 0 ? shown + ["\(hidden) others"] : shown
        guard let last = parts.last, parts.count > 1 else { return parts.first ?? "" }
        return parts.dropLast().joined(separator: ", ") + " and " + last
    }

    /// A text on one line: what is blank becomes one space, and characters that control, or that turn the direction of
    /// text, are left out.
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
