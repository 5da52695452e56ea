/// E-mail addresses: one account each, however they are written.
///
/// Addresses that are the same to a reader, or to mail software, become one text:
///
/// - upper case becomes lower case, full-width forms become ASCII, composed and decomposed characters become one (NFC);
/// - what Unicode has for compatibility alone (ligatures, circled characters, mathematical alphabets), and everything that
///   cannot be seen (white space, controls, joiners, marks of direction) is refused;
/// - so is a local part, or a label of a domain, with characters of two of the scripts that look alike
///   (`LookalikeScript`), and the ASCII characters that mean something to mail software: `<>()[]\,;:"`.
///
/// Two addresses that look alike, each in one script, are two addresses: only an email with a code proves whose they
/// are. A domain keeps its form, Unicode or `xn--`.
package enum EmailAddress {
    /// Bytes of an address. Source: RFC 5321 section 4.5.3.1.3.
    package static let byteLimit = 254

    /// Bytes that are checked: decomposed and full-width characters take up to four times as many.
    private static let givenByteLimit = 4 * byteLimit

    /// The one spelling of an address; nil for a text that is not an address: one `@` with text on both sides.
    package static func normalized(_ text: String) -> String? {
        guard text.utf8.count <= givenByteLimit else { return nil }
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return normalizedASCII(text) }
        let folded = UnicodeText.composed(UnicodeText.widthFolded(text).lowercased())
        guard folded.utf8.count <= byteLimit else { return nil }
        let parts = folded.unicodeScalars.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, isLocalPart(parts[0]), isDomain(parts[1]) else { return nil }
        return folded
    }

    /// The same for ASCII text, which needs no Unicode tables.
    private static func normalizedASCII(_ text: String) -> String? {
        guard text.utf8.count <= byteLimit else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        var domainStart: Int?
        var isBehindDot = true
        for byte in text.utf8 {
            let lower = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
            if lower == UInt8(ascii: "@") {
                guard domainStart == nil, !bytes.isEmpty else { return nil }
                domainStart = bytes.count + 1
                isBehindDot = true
            } else if domainStart == nil {
                guard isLocalCharacter(lower) else { return nil }
            } else if lower == UInt8(ascii: ".") {
                guard !isBehindDot else { return nil }
                isBehindDot = true
            } else {
                guard isLabelCharacter(lower) else { return nil }
                isBehindDot = false
            }
            bytes.append(lower)
        }
        return domainStart != nil && !isBehindDot ? String(decoding: bytes, as: UTF8.self) : nil
    }

    private static func isLocalCharacter(_ byte: UInt8) -> Bool {
        (33...126).contains(byte) && !#"<>()[]\,;:""#.utf8.contains(byte)
    }

    private static func isLabelCharacter(_ byte: UInt8) -> Bool {
        "abcdefghijklmnopqrstuvwxyz0123456789-_".utf8.contains(byte)
    }

    private static func isLocalPart(_ part: Substring.UnicodeScalarView) -> Bool {
        guard !part.isEmpty, LookalikeScript.areUnmixed(part) else { return false }
        return part.allSatisfy { scalar in
            scalar.isASCII
                ? isLocalCharacter(UInt8(ascii: scalar)) : isLetterOrDigit(scalar)
        }
    }

    /// Labels between dots, none empty; characters of words, digits, hyphens and low lines.
    private static func isDomain(_ part: Substring.UnicodeScalarView) -> Bool {
        part.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            guard !label.isEmpty, LookalikeScript.areUnmixed(label) else { return false }
            return label.allSatisfy { scalar in
                scalar.isASCII
                    ? isLabelCharacter(UInt8(ascii: scalar)) : isLetterOrDigit(scalar)
            }
        }
    }

    /// A letter of an alphabet, a mark on one or a decimal digit, and not a variant of another: it is unchanged by case folding and
    /// compatibility. IDNA 2008 keeps sharp s and final sigma, and so they stay as they are.
    private static func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        switch properties.generalCategory {
        case .lowercaseLetter, .otherLetter, .modifierLetter, .nonspacingMark, .spacingMark,
            .decimalNumber:
            return !properties.changesWhenNFKCCaseFolded || scalar == "ß" || scalar == "ς"
        default: return false
        }
    }
}
