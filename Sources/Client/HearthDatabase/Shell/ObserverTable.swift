import JSONTree
import SyncCore

/// The observers of a database, found by their names and by their paths.
struct ObserverTable {
    private var entries: [ObserverID: ObserverEntry] = [:]
    private var byPath: [Path: Set<ObserverID>] = [:]

    /// All entries, in the order of creation.
    var inOrder: [ObserverEntry] { entries.values.sorted { $0.id < $1.id } }

    subscript(id: ObserverID) -> ObserverEntry? { entries[id] }

    mutating func insert(_ entry: ObserverEntry) {
        entries[entry.id] = entry
        byPath[entry.location.path, default: []].insert(entry.id)
    }

    mutating func remove(_ id: ObserverID) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        let path = entry.location.path
        byPath[path]?.remove(id)
        if byPath[path]?.isEmpty == true { byPath[path] = nil }
    }

    mutating func removeAll() { self = ObserverTable() }

    /// The entries that `removeAllObservers` of a location removes, in the order of creation.
    func meant(by location: QueryLocation) -> [ObserverEntry] {
        (byPath[location.path] ?? []).compactMap { entries[$0] }.filter { $0.isMeant(by: location) }
            .sorted { $0.id < $1.id }
    }
}
