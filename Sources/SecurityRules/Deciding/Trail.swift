import JSONTree

/// The path that is being judged: that of the request or entry, and while the nodes that a write
/// carries are validated, the keys below it.
struct Trail {
    let target: Path
    /// The keys of `target`.
    private let keys: LentKeys
    /// Keys of the new tree.
    private var below: [Bytes] = []

    init(target: Path, _ keys: LentKeys) {
        self.target = target
        self.keys = keys
    }

    var keyCount: Int { keys.count + below.count }

    /// The first `depth` keys.
    func path(_ depth: Int) -> Path {
        if depth <= keys.count { return target.prefix(depth) }
        return target.appending(Path(below[..<(depth - keys.count)].map { Key($0) }))
    }

    /// All keys.
    var path: Path { below.isEmpty ? target : path(keyCount) }

    /// The key at an index.
    func key(at index: Int) -> Bytes {
        index < keys.count ? keys[index] : below[index - keys.count]
    }

    /// Steps down to a child of the new tree.
    mutating func enter(_ key: Bytes) { below.append(key) }

    /// Steps back up.
    mutating func leave() { below.removeLast() }
}
