/// A location in the tree: the keys from the root down.
///
/// Equality is equality of the keys' bytes; the order is key order, key by key, a prefix first.
@usableFromInline
package struct Path: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number of keys; 0 for the root. At most `Limits.depth` when made from text.
    @usableFromInline
    package let keyCount: Int

    /// `keyCount` ends of keys, 4 bytes each, counted from the first key's first byte; then the
    /// keys without anything between them. One allocation a path, none for the root.
    @usableFromInline let storage: [UInt8]

    /// The path without keys.
    package static let root = Path([])

    /// Reads `/a/b`, `a/b` or an empty text; empty pieces are dropped.
    ///
    /// - Throws: `PathError` for a piece that is not a key, or more than `Limits.depth` of them.
    package init(_ text: String) throws(PathError) {
        try self.init(utf8: Array(text.utf8))
    }

    /// Reads the UTF-8 of `/a/b`, `a/b` or nothing; empty pieces are dropped.
    ///
    /// - Throws: `PathError` for a piece that is not a key, or more than `Limits.depth` of them.
    package init(utf8: [UInt8]) throws(PathError) {
        self = try utf8.withBytes { (bytes) throws(PathError) in
            try Path(checking: bytes, pieces: Path.pieces(of: bytes)[...])
        }
    }

    /// Makes the path of `keys`.
    package init(_ keys: [Key]) {
        var builder = Builder(
            keyCount: keys.count,
            byteCount: keys.reduce(0) { $0 + $1.utf8.count }
        )
        for key in keys { key.withBytes { builder.append($0) } }
        self.init(builder)
    }

    /// Makes a path of the pieces of a text, checking each.
    init(checking bytes: Bytes, pieces: ArraySlice<Range<Int>>) throws(PathError) {
        if pieces.count > Limits.depth { throw .tooDeep(keyCount: pieces.count) }
        var builder = Builder(keyCount: pieces.count, byteCount: bytes.count)
        for piece in pieces {
            let key = bytes.slice(piece)
            switch Key.fault(in: key) ?? Key.encodingFault(in: key) {
            case nil: builder.append(key)
            case .forbiddenCharacter(let byte, let offset):
                throw .forbiddenCharacter(byte, offset: piece.lowerBound + offset)
            case let fault?: throw fault
            }
        }
        self.init(builder)
    }

    /// Hashes all bytes at once: an array would hash them one by one.
    @usableFromInline package func hash(into hasher: inout Hasher) {
        unsafe storage.withUnsafeBytes { bytes in unsafe hasher.combine(bytes: bytes) }
    }

    private init(_ builder: Builder) {
        keyCount = builder.keyCount
        storage = builder.storage
    }

    /// The ranges of the pieces between slashes, without empty ones.
    static func pieces(of bytes: Bytes) -> [Range<Int>] {
        var pieces: [Range<Int>] = []
        pieces.reserveCapacity(8)
        var start = 0
        for offset in 0...bytes.count where offset == bytes.count || bytes[offset] == 0x2F {
            if offset > start { pieces.append(start..<offset) }
            start = offset + 1
        }
        return pieces
    }

    /// Whether this is the path without keys.
    package var isRoot: Bool { keyCount == 0 }

    /// The key at `index`, 0 being the one below the root.
    package func key(at index: Int) -> Key { withKey(at: index) { Key($0) } }

    /// Passes the bytes of the key at `index` to `body`, valid only during the call.
    @inlinable
    package func withKey<R>(at index: Int, _ body: (Bytes) -> R) -> R {
        precondition(index >= 0 && index < keyCount, "a key index lies within the path")
        return storage.withBytes { body($0.slice(keyRange($0, index))) }
    }

    /// Passes the bytes of all keys to `body`, valid only during the call.
    @inlinable
    package func withKeys<R>(_ body: (BorrowedKeys) -> R) -> R {
        storage.withBytes { body(BorrowedKeys(count: keyCount, storage: $0)) }
    }

    /// The last key; nil for the root.
    package var lastKey: Key? { isRoot ? nil : key(at: keyCount - 1) }

    /// The path without its last key; nil for the root.
    package var parent: Path? { isRoot ? nil : prefix(keyCount - 1) }

    /// This path and one key more.
    package func appending(_ key: Key) -> Path {
        var builder = Builder(keyCount: keyCount + 1, byteCount: keyByteCount + key.utf8.count)
        append(to: &builder, 0..<keyCount)
        key.withBytes { builder.append($0) }
        return Path(builder)
    }

    /// This path and the keys of another below it.
    package func appending(_ path: Path) -> Path {
        if path.isRoot { return self }
        if isRoot { return path }
        var builder = Builder(
            keyCount: keyCount + path.keyCount,
            byteCount: keyByteCount + path.keyByteCount
        )
        append(to: &builder, 0..<keyCount)
        path.append(to: &builder, 0..<path.keyCount)
        return Path(builder)
    }

    /// The first `count` keys.
    package func prefix(_ count: Int) -> Path {
        precondition(count >= 0 && count <= keyCount, "a prefix is not longer than the path")
        return part(0..<count)
    }

    /// All keys but the first `count`.
    package func dropFirst(_ count: Int) -> Path {
        precondition(count >= 0 && count <= keyCount, "only keys that are there can be dropped")
        return part(count..<keyCount)
    }

    /// Whether `other` is this path or lies below it.
    package func isPrefix(of other: Path) -> Bool {
        if keyCount > other.keyCount { return false }
        for index in 0..<keyCount {
            let same = withKey(at: index) { key in other.withKey(at: index) { key == $0 } }
            if !same { return false }
        }
        return true
    }

    /// `/a/b`; `/` for the root.
    @usableFromInline
    package var description: String { isRoot ? "/" : "/" + wireText }

    /// `a/b`; empty for the root. This is the form that pushes carry.
    package var wireText: String {
        var text: [UInt8] = []
        appendWireText(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Bytes of `wireText`.
    package var wireByteCount: Int { isRoot ? 0 : keyByteCount + keyCount - 1 }

    /// Appends the bytes of `wireText`.
    package func appendWireText(to out: inout [UInt8]) {
        storage.withBytes { storage in
            for index in 0..<keyCount {
                if index > 0 { out.append(0x2F) }
                out.append(contentsOf: storage.slice(keyRange(storage, index)))
            }
        }
    }

    /// Whether `a` comes before `b`: key by key in key order, a prefix before longer paths.
    @usableFromInline
    package static func < (a: Path, b: Path) -> Bool {
        for index in 0..<min(a.keyCount, b.keyCount) {
            let order = a.withKey(at: index) { key in
                b.withKey(at: index) { Key.compare(key, $0) }
            }
            if order != 0 { return order < 0 }
        }
        return a.keyCount < b.keyCount
    }
}

extension Path {
    /// Lays out the storage of a path whose key count is known.
    private struct Builder {
        let keyCount: Int
        var storage: [UInt8] = []
        private var written = 0

        init(keyCount: Int, byteCount: Int) {
            self.keyCount = keyCount
            if keyCount == 0 { return }
            storage.reserveCapacity(4 * keyCount + byteCount)
            storage.append(contentsOf: repeatElement(0, count: 4 * keyCount))
        }

        mutating func append(_ key: Bytes) {
            storage.append(contentsOf: key)
            let end = UInt32(storage.count - 4 * keyCount)
            for byte in 0..<4 {
                storage[4 * written + byte] = UInt8(truncatingIfNeeded: end >> (8 * UInt32(byte)))
            }
            written += 1
        }
    }

    private var keyByteCount: Int { storage.count - 4 * keyCount }

    private func append(to builder: inout Builder, _ range: Range<Int>) {
        for index in range { withKey(at: index) { builder.append($0) } }
    }

    private func part(_ range: Range<Int>) -> Path {
        if range.count == keyCount { return self }
        var builder = Builder(keyCount: range.count, byteCount: keyByteCount)
        append(to: &builder, range)
        return Path(builder)
    }

    @usableFromInline func keyRange(_ storage: Bytes, _ index: Int) -> Range<Int> {
        BorrowedKeys(count: keyCount, storage: storage).range(index)
    }
}

/// The keys of a path, borrowed during a call.
@usableFromInline
package struct BorrowedKeys {
    /// The number of keys.
    @usableFromInline
    package let count: Int

    @usableFromInline let storage: Bytes

    @usableFromInline
    init(count: Int, storage: Bytes) {
        self.count = count
        self.storage = storage
    }

    /// The bytes of the key at `index`, 0 being the one below the root.
    package subscript(index: Int) -> Bytes {
        precondition(index >= 0 && index < count, "a key index lies within the path")
        return storage.slice(range(index))
    }

    /// The range of key `index` in the storage.
    fileprivate func range(_ index: Int) -> Range<Int> {
        let pointer = storage.pointer
        let start = index == 0 ? 0 : Int(UInt32(littleEndian: pointer.load32(4 * (index - 1))))
        let end = Int(UInt32(littleEndian: pointer.load32(4 * index)))
        return 4 * count + start..<4 * count + end
    }
}
