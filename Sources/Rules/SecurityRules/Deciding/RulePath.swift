import JSONTree

/// The path whose rules run: that of the request or entry, and during the validation of written
/// nodes the keys below it.
struct RulePath {
    let target: Path
    /// The keys of `target`.
    private let keys: BorrowedKeys
    /// Keys of the new tree.
    private var below: [Bytes] = []

    init(target: Path, _ keys: BorrowedKeys) {
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

    func key(at index: Int) -> Bytes {
        index < keys.count ? keys[index] : below[index - keys.count]
    }

    /// Steps down to a child of the new tree.
    mutating func enter(_ key: Bytes) { below.append(key) }

    /// Steps back up.
    mutating func leave() { below.removeLast() }
}
