/// The name of a member of a JSON object, for comparing with words that are known.
///
/// Borrowed from the text unless it has escapes: valid as long as the text.
package struct MemberName {
    private enum Storage {
        case borrowed(Bytes)
        case owned([UInt8])
    }

    private let storage: Storage

    /// The name as text.
    package var string: String { withBytes { $0.string } }

    /// Passes the UTF-8 of the name to `body`, valid only during the call.
    package func withBytes<R>(_ body: (Bytes) -> R) -> R {
        switch storage {
        case .borrowed(let bytes): body(bytes)
        case .owned(let bytes): bytes.withBytes(body)
        }
    }

    /// Whether the name is `word`, so that a name can be switched over.
    package static func ~= (word: StaticString, name: MemberName) -> Bool { name == word }

    /// Whether the name is `word`.
    package static func == (name: MemberName, word: StaticString) -> Bool {
        name.withBytes { bytes in
            if bytes.count != word.utf8CodeUnitCount { return false }
            return unsafe bytes.pointer.equals(BytePointer(word.utf8Start), count: bytes.count)
        }
    }

    fileprivate init(borrowed bytes: Bytes) { storage = .borrowed(bytes) }

    fileprivate init(owned bytes: [UInt8]) { storage = .owned(bytes) }
}

extension JSONScanner {
    /// Consumes the next member's name and its colon; nil after consuming `}`.
    package mutating func nextName() throws(JSONError) -> MemberName? {
        if try !nextItem(closing: 0x7D) { return nil }
        let name = try readName()
        try expect(0x3A)
        return name
    }

    private mutating func readName() throws(JSONError) -> MemberName {
        if try peek() != 0x22 { return MemberName(owned: Array(try readString().utf8)) }
        var end = offset + 1
        while end < count, JSONScanner.isPlain(text[end]) { end += 1 }
        if end < count, text[end] == 0x22 {
            let start = offset + 1
            offset = end + 1
            return MemberName(borrowed: (text + start).bytes(end - start))
        }
        return MemberName(owned: Array(try readString().utf8))
    }

    /// Whether a byte stands for itself inside a string.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x80 && byte != 0x22 && byte != 0x5C
    }
}
