/// E-mail addresses: one account each, however they are written.
///
/// What is the same address to a reader, or to the software that delivers, is made one text:
///
/// - upper case becomes lower case, full-width forms become ASCII, composed and decomposed letters become one (NFC);
/// - what Unicode has for compatibility alone (ligatures, circled letters, mathematical alphabets), and everything that
///   cannot be seen (white space, controls, joiners, marks of direction) is refused;
/// - so is a local part, or a label of a domain, with letters of two of the scripts that look alike
///   (`LookalikeScript`), and the ASCII characters that mean something to mail software: `<>()[]\,;:"`.
///
/// Two addresses that look alike although each keeps to one script are two addresses: only a letter with a code tells
/// whose they are. A domain stays in the form it is given in, letters or `xn--`.
package enum EmailAddress {
    /// Bytes of an address. Source: RFC 5321 section 4.5.3.1.3.
    package static let byteLimit = 254

    /// Bytes that are looked at: decomposed and full-width letters take up to four times as many.
    private static let givenByteLimit = 4 * byteLimit

    /// The one spelling of an address; nil for what is none: one `@` with text on both sides.
    package static func normalized(_ text: String) -> String? {
        guard text.utf8.count <= givenByteLimit else { return nil }
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return normalizedASCII(text) }
        let folded = UnicodeText.composed(UnicodeText.widthFolded(text).lowercased())
        guard folded.utf8.count <= byteLimit else { return nil }
        let parts = folded.unicodeScalars.split(
            separator: "@",
            omittingEmptySubsequences: false
        )
        guard parts.count == 2, isLocalPart(parts[0]), isDomain(parts[1]) else { return nil }
        return folded
    }

    /// The same for a text of ASCII alone, which needs none of what Unicode knows of letters.
    private static func normalizedASCII(_ text: String) -> String? {
        guard text.utf8.count <= byteLimit else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        var domainStart: Int?
        var isBehindDot = true
        for byte in text.utf8 {
            let letter = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
            if letter == UInt8(ascii: "@") {
                guard domainStart == nil, !bytes.isEmpty else { return nil }
                domainStart = bytes.count + 1
                isBehindDot = true
            } else if domainStart == nil {
                guard isLocalCharacter(letter) else { return nil }
            } else if letter == UInt8(ascii: ".") {
                guard !isBehindDot else { return nil }
                isBehindDot = true
            } else {
                guard isLabelCharacter(letter) else { return nil }
                isBehindDot = false
            }
            bytes.append(letter)
        }
        return domainStart != nil && !isBehindDot ? String(decoding: bytes, as: UTF8.self) : nil
    }

    private static func isLocalCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...32, 127...255: false
        case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "("), UInt8(ascii: ")"),
            UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "\\"), UInt8(ascii: ","),
            UInt8(ascii: ";"), UInt8(ascii: ":"), UInt8(ascii: "\""):
            false
        default: true
        }
    }

    private static func isLabelCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func isLocalPart(_ part: Substring.UnicodeScalarView) -> Bool {
        guard !part.isEmpty, LookalikeScript.areUnmixed(part) else { return false }
        return part.allSatisfy { scalar in
            scalar.isASCII
                ? isLocalCharacter(UInt8(ascii: scalar)) : isLetterOrDigit(scalar)
        }
    }

    /// Labels between dots, none empty; letters, digits, hyphens and low lines.
    private static func isDomain(_ part: Substring.UnicodeScalarView) -> Bool {
        part.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            guard !label.isEmpty, LookalikeScript.areUnmixed(label) else { return false }
            return label.allSatisfy { scalar in
                scalar.isASCII
                    ? isLabelCharacter(UInt8(ascii: scalar)) : isLetterOrDigit(scalar)
            }
        }
    }

    /// A letter, a mark on one or a decimal digit, and no mere variant of another: what case folding and
    /// compatibility would change is none. IDNA 2008 keeps sharp s and final sigma, and so they stay as they are.
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
