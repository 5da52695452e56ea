/// Why a text is not a key or a path.
package enum PathError: Error, Equatable {
    case emptyKey
    /// The limit is `Limits.keyByteCount`.
    case keyTooLong(byteCount: Int)
    /// One of `. # $ / [ ]`, U+0000 to U+001F or U+007F; `offset` in bytes from the text's start.
    case forbiddenCharacter(UInt8, offset: Int)
    /// The limit is `Limits.depth`.
    case tooDeep(keyCount: Int)
    case invalidUTF8
}

/// Which keys the maps of a node may have.
package enum KeyRule: Sendable {
    /// Those of the tree.
    case legal
    /// Any text of at most `Limits.keyByteCount` bytes, the empty one too: the claims of a token.
    case anyText

    /// Why `bytes` are not such a key, apart from their encoding; nil when they are.
    func fault(in bytes: Bytes) -> PathError? {
        switch self {
        case .legal: Key.fault(in: bytes)
        case .anyText:
            bytes.count > Limits.keyByteCount ? .keyTooLong(byteCount: bytes.count) : nil
        }
    }
}

/// One component of a path: 1 to 768 bytes of UTF-8 without `. # $ / [ ]` and control characters.
///
/// Keys are equal only if their bytes are: there is no Unicode normalisation. Keys compare in key
/// order: 32-bit integers first, by value, then by UTF-16 code unit.
@usableFromInline
package struct Key: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The bytes of the key.
    @usableFromInline
    package let utf8: [UInt8]

    /// Makes a key of `text`.
    ///
    /// - Throws: `PathError` with the fault of the text.
    package init(_ text: String) throws(PathError) {
        utf8 = Array(text.utf8)
        if let error = utf8.withBytes({ Key.fault(in: $0) }) { throw error }
    }

    /// Makes a key of UTF-8 bytes.
    ///
    /// - Throws: `PathError` with the fault of the bytes.
    package init(utf8: [UInt8]) throws(PathError) {
        if let error = utf8.withBytes({ Key.fault(in: $0) ?? Key.encodingFault(in: $0) }) {
            throw error
        }
        self.utf8 = utf8
    }

    /// Makes a key of bytes that are known to be one.
    package init(unchecked utf8: [UInt8]) {
        self.utf8 = utf8
    }

    /// Copies bytes that are known to be a key, such as those of a visit.
    package init(_ bytes: Bytes) {
        utf8 = bytes.array
    }

    /// The key as text.
    package var string: String { String(decoding: utf8, as: UTF8.self) }

    /// The key as text.
    @usableFromInline
    package var description: String { string }

    /// Passes the bytes to `body`, valid only during the call.
    @inlinable
    package func withBytes<R>(_ body: (Bytes) -> R) -> R { utf8.withBytes(body) }

    /// Why `bytes` are not a key, apart from their encoding; nil when they are.
    static func fault(in bytes: Bytes) -> PathError? {
        if bytes.count == 0 { return .emptyKey }
        if bytes.count > Limits.keyByteCount { return .keyTooLong(byteCount: bytes.count) }
        let pointer = bytes.pointer
        for offset in 0..<bytes.count where isForbidden(pointer[offset]) {
            return .forbiddenCharacter(pointer[offset], offset: offset)
        }
        return nil
    }

    static func encodingFault(in bytes: Bytes) -> PathError? {
        UTF8Validity.prefixLength(bytes) == bytes.count ? nil : .invalidUTF8
    }

    /// Whether no key may hold this byte: `# $ . / [ ]`, controls and delete.
    @inline(__always)
    static func isForbidden(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<0x20, 0x23, 0x24, 0x2E, 0x2F, 0x5B, 0x5D, 0x7F: true
        default: false
        }
    }
}
