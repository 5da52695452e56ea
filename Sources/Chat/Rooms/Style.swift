import Records

/// How a message looks: whatever the program that shows it makes of these words.
public struct Style: Hashable, Sendable {
    /// The colour of its bubble, `teal` or `#0a7`; at most 32 characters.
    public let color: String?
    /// Its font; at most 64 characters.
    public let font: String?

    /// A style; one of the two has to be there.
    public init(color: String? = nil, font: String? = nil) {
        self.color = color
        self.font = font
    }
}

extension Style: Decodable {
    /// What is wrong with it, field and words; nil for a style that the rules allow.
    var fault: (field: String, why: String)? {
        if color == nil, font == nil { return ("style", "it has neither color nor font") }
        let lengths = [
            ("style.color", color, ChatLimits.colorLength),
            ("style.font", font, ChatLimits.fontLength),
        ]
        for (field, text, allowed) in lengths {
            guard let text, text.utf16.count > allowed.upperBound else { continue }
            return (field, "it is longer than \(allowed.upperBound) characters")
        }
        return nil
    }

    /// As it is in the tree.
    var stored: [String: Any] {
        var stored: [String: Any] = [:]
        stored["color"] = color
        stored["font"] = font
        return stored
    }
}
