@_spi(_Unicode) import Swift

/// Forms of Unicode text.
enum UnicodeText {
    /// The canonical composition of `text` (NFC): one spelling of each character with its marks.
    ///
    /// The standard library compares texts by this form and lets only its sister libraries ask for it.
    static func composed(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: text._nfc)
        return String(scalars)
    }

    /// `text` with full-width ASCII as ASCII, and full stops of East Asian scripts as dots.
    ///
    /// Source: Unicode Standard, block Halfwidth and Fullwidth Forms; UTS 46 section 2.3 for the full stops.
    static func widthFolded(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0xFF01...0xFF5E:
                scalars.append(Unicode.Scalar(UInt8(scalar.value - 0xFEE0)))
            case 0x3002, 0xFF61: scalars.append(".")
            default: scalars.append(scalar)
            }
        }
        return String(scalars)
    }
}

/// The scripts whose characters are taken for each other's: `а` and `a`, `ο` and `o`.
enum LookalikeScript {
    case latin, greek, cyrillic, armenian, cherokee

    /// The script of a character, by the blocks of Unicode 16; nil for digits, marks and other scripts.
    init?(_ scalar: Unicode.Scalar) {
        switch scalar.value {
        case 0x41...0x5A, 0x61...0x7A, 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x24F, 0x250...0x2AF,
            0x1D00...0x1D25, 0x1E00...0x1EFF, 0x2C60...0x2C7F, 0xA720...0xA7FF, 0xAB30...0xAB64:
            self = .latin
        case 0x370...0x3FF, 0x1F00...0x1FFF: self = .greek
        case 0x400...0x52F, 0x1C80...0x1C8F, 0x2DE0...0x2DFF, 0xA640...0xA69F: self = .cyrillic
        case 0x530...0x58F: self = .armenian
        case 0x13A0...0x13FF, 0xAB70...0xABBF: self = .cherokee
        default: return nil
        }
    }

    /// Whether the scalars that have a script are all of one.
    static func areUnmixed(_ scalars: some Sequence<Unicode.Scalar>) -> Bool {
        var first: LookalikeScript?
        for scalar in scalars {
            guard let script = LookalikeScript(scalar) else { continue }
            guard first == nil || first == script else { return false }
            first = script
        }
        return true
    }
}
