/// When a map is shown as an array: all keys match `0|[1-9][0-9]*` and the largest is less than
/// twice the number of children.
///
/// Source: the clients' `val()`. Integer keys sort first and by value, so the last key decides
/// nearly always and all keys are looked at only when it allows an array.
package enum ArrayRule {
    /// The last index of an embedded map that is an array, else nil.
    static func lastIndex(_ map: BytePointer) -> Int? {
        let entries = Entries(map)
        let count = entries.count
        guard let last = index(entries.key(count - 1)), last < 2 * count else { return nil }
        for entry in 0..<count where index(entries.key(entry)) == nil { return nil }
        return last
    }

    /// The last index of a map that is an array, else nil.
    package static func lastIndex(_ node: Node) -> Int? {
        var last: Int?
        node.visitChildren(backwards: true) { key, _ in
            last = index(key)
            return false
        }
        guard let last, last < 2 * node.childCount else { return nil }
        var isArray = true
        node.visitChildren { key, _ in
            isArray = index(key) != nil
            return isArray
        }
        return isArray ? last : nil
    }

    /// The array index a key stands for, if it is one without leading zeros.
    static func index(_ key: Bytes) -> Int? {
        if key.count == 0 { return nil }
        let first = key[0]
        if first &- 48 > 9 || (first == 48 && key.count > 1) { return nil }
        return Key.integer(key)
    }
}
