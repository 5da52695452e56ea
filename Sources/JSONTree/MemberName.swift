/// The name of a member of a JSON object, for comparing with words that are known.
///
/// Lent from the text while it has no escapes: good as long as the text is.
package struct MemberName {
    private enum Storage {
        case lent(Bytes)
        case owned([UInt8])
    }

    private let storage: Storage

    /// The name as text.
    package var string: String { withBytes { $0.string } }

    /// Lends the UTF-8 of the name to `body`, for the call alone.
    package func withBytes<R>(_ body: (Bytes) -> R) -> R {
        switch storage {
        case .lent(let bytes): body(bytes)
        case .owned(let bytes): bytes.withBytes(body)
        }
    }

    /// Whether the name is `word`, so that a name can be switched over.
    package static func ~= (word: StaticString, name: MemberName) -> Bool { name == word }

    /// Whether the name is `word`.
    package static func == (name: MemberName, word: StaticString) -> Bool {
        name.withBytes { bytes in
            if bytes.count != word.utf8CodeUnitCount { return false }
            return unsafe bytes.place.equals(Place(word.utf8Start), count: bytes.count)
        }
    }

    fileprivate init(lent bytes: Bytes) { storage = .lent(bytes) }

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
            return MemberName(lent: (text + start).bytes(end - start))
        }
        return MemberName(owned: Array(try readString().utf8))
    }

    /// Whether a byte stands for itself inside a string.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x80 && byte != 0x22 && byte != 0x5C
    }
}
