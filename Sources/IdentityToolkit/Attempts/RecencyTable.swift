/// A dictionary of so many entries at most, which forgets the one that was stored longest ago.
///
/// Every operation takes the same time, however many entries there are.
struct RecencyTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        var key: Key
        var value: Value
        /// The entries stored next before and after this one; -1 for none.
        var older: Int
        var newer: Int
    }

    private let limit: Int
    private var places: [Key: Int] = [:]
    /// `places` names each of them exactly once but those in `free`.
    private var entries: [Entry] = []
    private var free: [Int] = []
    private var oldest = -1
    private var newest = -1

    init(limit: Int) {
        precondition(limit > 0, "a table has room for something")
        self.limit = limit
    }

    var count: Int { places.count }

    subscript(key: Key) -> Value? {
        places[key].map { entries[$0].value }
    }

    /// Stores a value; it is then the newest.
    mutating func set(_ value: Value, for key: Key) {
        if let place = places[key] {
            unlink(place)
            entries[place].value = value
            link(place)
            return
        }
        if places.count == limit { remove(entries[oldest].key) }
        let entry = Entry(key: key, value: value, older: -1, newer: -1)
        let place: Int
        if let reused = free.popLast() {
            place = reused
            entries[place] = entry
        } else {
            place = entries.count
            entries.append(entry)
        }
        places[key] = place
        link(place)
    }

    mutating func remove(_ key: Key) {
        guard let place = places.removeValue(forKey: key) else { return }
        unlink(place)
        free.append(place)
    }

    /// Makes an entry that is in no chain the newest.
    private mutating func link(_ place: Int) {
        entries[place].older = newest
        entries[place].newer = -1
        if newest >= 0 { entries[newest].newer = place }
        newest = place
        if oldest < 0 { oldest = place }
    }

    private mutating func unlink(_ place: Int) {
        let (older, newer) = (entries[place].older, entries[place].newer)
        if older >= 0 { entries[older].newer = newer } else { oldest = newer }
        if newer >= 0 { entries[newer].older = older } else { newest = older }
    }
}
