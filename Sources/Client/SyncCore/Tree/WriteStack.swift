import JSONTree

/// The pending writes at one location, oldest first. Writes are acknowledged oldest first, so taking the first away is
/// O(1) in the long run.
struct WriteStack {
    struct Entry {
        let id: WriteID
        let node: Node
        let isVisible: Bool
    }

    private var entries: [Entry?] = []
    /// Entries before this one are gone.
    private var first = 0

    var isEmpty: Bool { first == entries.count }

    mutating func add(_ entry: Entry) {
        let location = location(of: entry.id)
        entries.insert(entry, at: location)
    }

    mutating func remove(_ id: WriteID) {
        let location = location(of: id)
        guard location < entries.count, entries[location]?.id == id else { return }
        if location > first {
            entries.remove(at: location)
            return
        }
        entries[first] = nil
        first += 1
        if 2 * first > entries.count {
            entries.removeFirst(first)
            first = 0
        }
    }

    func latest(_ layer: WriteLayer) -> Entry? {
        var index = entries.count
        while index > first {
            index -= 1
            if let entry = entries[index], layer.contains(entry) { return entry }
        }
        return nil
    }

    /// Whether an entry of a layer, later than a write, has a value there.
    func fills(after id: WriteID, _ layer: WriteLayer) -> Bool {
        entries[first...].contains { entry in
            guard let entry, entry.id > id, !entry.node.isAbsent else { return false }
            return layer.contains(entry)
        }
    }

    /// Where the write has its entry, or would have it. Nearly always one at an end.
    private func location(of id: WriteID) -> Int {
        if isEmpty { return entries.count }
        if let last = entries[entries.count - 1], last.id < id { return entries.count }
        var low = first
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if let entry = entries[middle], entry.id < id {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }
}

/// Which pending writes are looked at.
struct WriteLayer {
    var excluding: Set<WriteID> = []
    /// Whether those count that do not show.
    var includesHidden = false

    /// Those that observers see.
    static let visible = WriteLayer()

    func contains(_ entry: WriteStack.Entry) -> Bool {
        if !entry.isVisible && !includesHidden { return false }
        return excluding.isEmpty || !excluding.contains(entry.id)
    }
}
