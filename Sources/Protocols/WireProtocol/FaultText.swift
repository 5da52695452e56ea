package import JSONTree

/// The fault of a client's path or value, in words short enough for a reply.
package enum FaultText {
    /// The fault of a path or key, in words.
    package static func path(_ error: PathError) -> String {
        switch error {
        case .emptyKey:
            "a key is empty"
        case .keyTooLong(let byteCount):
            "a key has \(byteCount) bytes, the limit is \(Limits.keyByteCount)"
        case .forbiddenCharacter(let byte, _):
            "a key must not contain \(name(of: byte))"
        case .tooDeep(let keyCount):
            "\(keyCount) levels deep, the limit is \(Limits.depth)"
        case .invalidUTF8:
            "a key is not UTF-8"
        }
    }

    /// The fault of JSON text, in words.
    package static func json(_ reason: JSONError.Reason) -> String {
        switch reason {
        case .unexpectedEnd: "the text ends too early"
        case .unexpectedByte(let byte): "unexpected \(name(of: byte))"
        case .trailingText: "text after the value"
        case .badKey(let error): path(error)
        case .tooDeep: "nested too deep, the limit is \(Limits.depth) levels"
        case .stringTooLong: "a string is longer than \(Limits.stringByteCount) bytes"
        case .invalidUTF8: "a string is not UTF-8"
        case .badEscape: "bad escape in a string"
        case .controlCharacter: "unescaped control character in a string"
        case .badNumber: "bad number"
        case .numberOutOfRange: "a number is out of range"
        case .badServerValue: "unknown server value in .sv"
        case .unexpectedServerValue: "a server value may not stand here"
        case .valueBesideChildren: ".value beside children"
        case .badValue: ".value must be a string, a number, a boolean or null"
        case .badPriority: ".priority must be a string, a number or null"
        }
    }

    /// A text of the client's, cut so that replies stay small.
    package static func quoted(_ text: String) -> String {
        "\"\(text.cutToQuote())\""
    }

    private static func name(of byte: UInt8) -> String {
        switch byte {
        case 0x21...0x7E: "'\(Character(Unicode.Scalar(byte)))'"
        default: "byte 0x" + String(byte, radix: 16, uppercase: true)
        }
    }
}

extension String {
    /// At most `WireLimits.quotedByteCount` bytes of the text, cut between characters.
    func cutToQuote() -> String {
        guard utf8.count > WireLimits.quotedByteCount else { return self }
        var cut = ""
        for scalar in unicodeScalars {
            let byteCount = cut.utf8.count + UTF8.width(scalar)
            if byteCount > WireLimits.quotedByteCount { break }
            cut.unicodeScalars.append(scalar)
        }
        return cut + "..."
    }
}
