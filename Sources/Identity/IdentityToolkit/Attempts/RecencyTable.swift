/// A dictionary with at most `limit` entries, which drops the one that was stored longest ago.
///
/// Every operation is O(1).
struct RecencyTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        var key: Key
        var value: Value
        /// The entries stored next before and after this one; -1 for none.
        var older: Int
        var newer: Int
    }

    private let limit: Int
    private var indexes: [Key: Int] = [:]
    /// `indexes` names each of them exactly once but those in `free`.
    private var entries: [Entry] = []
    private var free: [Int] = []
    private var oldest = -1
    private var newest = -1

    init(limit: Int) {
        precondition(limit > 0, "a table has room for something")
        self.limit = limit
    }

    var count: Int { indexes.count }

    subscript(key: Key) -> Value? {
        indexes[key].map { entries[$0].value }
    }

    /// Stores a value; it is then the newest.
    mutating func set(_ value: Value, for key: Key) {
        if let index = indexes[key] {
            unlink(index)
            entries[index].value = value
            link(index)
            return
        }
        if indexes.count == limit { remove(entries[oldest].key) }
        let entry = Entry(key: key, value: value, older: -1, newer: -1)
        let index: Int
        if let reused = free.popLast() {
            index = reused
            entries[index] = entry
        } else {
            index = entries.count
            entries.append(entry)
        }
        indexes[key] = index
        link(index)
    }

    mutating func remove(_ key: Key) {
        guard let index = indexes.removeValue(forKey: key) else { return }
        unlink(index)
        free.append(index)
    }

    /// Makes an entry that is in no chain the newest.
    private mutating func link(_ index: Int) {
        entries[index].older = newest
        entries[index].newer = -1
        if newest >= 0 { entries[newest].newer = index }
        newest = index
        if oldest < 0 { oldest = index }
    }

    private mutating func unlink(_ index: Int) {
        let (older, newer) = (entries[index].older, entries[index].newer)
        if older >= 0 { entries[older].newer = newer } else { oldest = newer }
        if newer >= 0 { entries[newer].older = older } else { newest = older }
    }
}
