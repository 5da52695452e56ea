import SecurityRules

/// HTML under construction: trusted markup, and untrusted text that stays text.
package struct MarkupText {
    /// What is written so far, UTF-8.
    package private(set) var bytes: [UInt8] = []

    /// Begins with nothing.
    package init() {}

    /// Appends markup unescaped: it must hold nothing from rules, data or a request.
    package mutating func markup(_ markup: String) { bytes.append(contentsOf: markup.utf8) }

    /// Appends text for an element or a quoted attribute.
    ///
    /// Writes invisible characters, such as marks that reverse the direction of writing, as their
    /// numbers: text must not look like other text.
    package mutating func text(_ text: String) {
        for scalar in text.unicodeScalars { self.scalar(scalar) }
    }

    /// Appends one scalar of text.
    mutating func scalar(_ scalar: Unicode.Scalar) {
        switch scalar {
        case "&": markup("&amp;")
        case "<": markup("&lt;")
        case ">": markup("&gt;")
        case "\"": markup("&quot;")
        case "'": markup("&#39;")
        case "\n", "\t", " "..."~": bytes.append(UInt8(ascii: scalar))
        default:
            if MarkupText.isVisible(scalar) {
                bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            } else {
                markup("[U+\(String(scalar.value, radix: 16, uppercase: true))]")
            }
        }
    }

    /// Appends a number.
    package mutating func number(_ number: some BinaryInteger) { markup(String(number)) }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse,
            .surrogate:
            false
        // Spaces that are not the space could hide that two names differ.
        case .spaceSeparator: false
        default: !scalar.properties.isDefaultIgnorableCodePoint
        }
    }
}
