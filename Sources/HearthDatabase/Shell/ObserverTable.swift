import JSONTree
import SyncCore

/// The observers of a database, found by their names and by their paths.
struct ObserverTable {
    private var entries: [ObserverID: ObserverEntry] = [:]
    private var byPath: [Path: Set<ObserverID>] = [:]

    /// All of them, in the order in which they were made.
    var inOrder: [ObserverEntry] { entries.values.sorted { $0.id < $1.id } }

    subscript(id: ObserverID) -> ObserverEntry? { entries[id] }

    mutating func insert(_ entry: ObserverEntry) {
        entries[entry.id] = entry
        byPath[entry.place.path, default: []].insert(entry.id)
    }

    mutating func remove(_ id: ObserverID) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        let path = entry.place.path
        byPath[path]?.remove(id)
        if byPath[path]?.isEmpty == true { byPath[path] = nil }
    }

    mutating func removeAll() { self = ObserverTable() }

    /// Those that `removeAllObservers` of a place means, in the order in which they were made.
    func meant(by place: QueryPlace) -> [ObserverEntry] {
        (byPath[place.path] ?? []).compactMap { entries[$0] }.filter { $0.isMeant(by: place) }
            .sorted { $0.id < $1.id }
    }
}
