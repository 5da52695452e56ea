/// Explanations where only one line has room.
package enum ExplanationLine {
    /// A text on one line: a break becomes ` | `, white space a single space; control characters, and in ASCII
    /// whatever is not, become `?`. Cut with `...` behind `limit` scalars.
    package static func text(_ text: String, limit: Int, isASCII: Bool = false) -> String {
        var line = ""
        var count = 0
        for part in text.split(whereSeparator: \.isNewline) {
            let words = part.split { $0 == " " || $0 == "\t" }
            if words.isEmpty { continue }
            for (index, word) in words.enumerated() {
                if !line.isEmpty { line += index == 0 ? " | " : " " }
                for scalar in word.unicodeScalars {
                    if count == limit { return line + "..." }
                    count += 1
                    line.unicodeScalars.append(isPlain(scalar, isASCII) ? scalar : "?")
                }
            }
        }
        return line
    }

    private static func isPlain(_ scalar: Unicode.Scalar, _ isASCII: Bool) -> Bool {
        if scalar.isASCII { return scalar.value >= 0x20 && scalar.value < 0x7F }
        if isASCII { return false }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return false
        default: return true
        }
    }

    /// Scalars of the `message` of the plain event protocol.
    package static let messageScalarCount = 1_000

    /// Bytes of the header `X-Firebase-Auth-Debug`: proxies take 4 KiB of one at least.
    package static let headerByteCount = 2_000
}
