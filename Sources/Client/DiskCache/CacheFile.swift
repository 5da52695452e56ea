import Foundation
import JSONTree
import SyncCore
import WireProtocol

/// The file of a cache. Belongs to the cache's queue.
///
///     writes   id -> the request of the write, and its checksum
///     listens  id -> the request of the listen, when it was last used, its bytes, the priority of its map
///     nodes    listen, key -> the encoding of that child; of a leaf the whole, with an empty key
///     account  whose all this is; at most one row
///
/// The file is in WAL mode and locked for as long as it is open. A change that is committed outlives the process. A
/// pending write outlives a power cut too; of other changes the last may be lost then, and the file stays whole.
final class CacheFile {
    private typealias Failure = SQLiteDatabase.Failure

    /// "Hrth": marks the file as ours.
    static let applicationID: Int64 = 0x4872_7468
    static let schema: Int64 = 1
    private let path: String
    private let limitByteCount: Int64
    private let report: (DiskCacheError) -> Void
    private(set) var database: SQLiteDatabase
    private var syncsCommits = false
    /// Counted up with every use of a listen.
    private var lastUse: Int64 = 0
    /// Of the keys and nodes of all listens.
    private var byteCount: Int64 = 0
    /// The listens in use in this process, whether stored or not: a listen is so once its data is saved, too.
    private var active: Set<[UInt8]> = []

    /// Opens the file, or makes it. `report` gets a warning when the file was damaged.
    ///
    /// - Throws: `DiskCacheError` when no file can be used.
    init(
        path: String,
        limitByteCount: Int,
        report: @escaping (DiskCacheError) -> Void,
    ) throws(DiskCacheError) {
        self.path = path
        self.limitByteCount = Int64(limitByteCount)
        self.report = report
        do {
            database = try Self.open(path)
        } catch {
            guard case .damaged = error else { throw error }
            try Self.moveAside(path)
            report(error)
            database = try Self.open(path)
        }
        try attempt("read") { () throws(Failure) in try readTotals() }
    }

    /// Closes the file; nothing may follow.
    func close() { database.close() }

    private func attempt<Result>(
        _ action: String,
        _ body: () throws(Failure) -> Result,
    ) throws(DiskCacheError) -> Result {
        do throws(Failure) {
            return try body()
        } catch {
            if error.isDamage { throw Self.damaged(path) }
            throw .failed(action, error.text)
        }
    }

    private func readTotals() throws(Failure) {
        lastUse = try database.integer("SELECT max(lastUse) FROM listens") ?? 0
        byteCount = try database.integer("SELECT sum(byteCount) FROM listens") ?? 0
    }

    // MARK: Changes

    /// Makes all the changes or none.
    func apply(_ changes: [StoreChange]) throws(DiskCacheError) {
        try attempt("write") { () throws(Failure) in
            try syncCommits(changes.contains { $0.isPendingWrite })
            try database.run("BEGIN IMMEDIATE")
            do throws(Failure) {
                for change in changes { try perform(change) }
                try dropUnused()
                try database.run("COMMIT")
            } catch {
                // SQLite may have undone it by itself, and then says that there is nothing to undo.
                try? database.run("ROLLBACK")
                try readTotals()
                throw error
            }
            // Data of a signed-out user must also leave the log.
            if changes.contains(where: \.isRemovalOfAll) {
                try database.set("PRAGMA wal_checkpoint(TRUNCATE)")
            }
        }
    }

    /// Has commits wait until the disk has them, or not.
    private func syncCommits(_ isNeeded: Bool) throws(Failure) {
        guard isNeeded != syncsCommits else { return }
        try database.set("PRAGMA synchronous = \(isNeeded ? "FULL" : "NORMAL")")
        syncsCommits = isNeeded
    }

    private func perform(_ change: StoreChange) throws(Failure) {
        switch change {
        case .saveWrite(let id, let write):
            let text = write.text
            try database.run(
                "INSERT OR REPLACE INTO writes (id, checksum, request) VALUES (?, ?, ?)",
                .integer(id.value),
                .integer(checksum(text, id.value)),
                .bytes(text)
            )
        case .removeWrite(let id):
            try database.run("DELETE FROM writes WHERE id = ?", .integer(id.value))
        case .saveListen(let target, let node): try saveListen(target.text, node)
        case .saveChildren(let target, let children): try saveChildren(target.text, children)
        case .useListen(let target, let isActive): try use(target.text, isActive)
        case .removeListen(let target):
            let text = target.text
            active.remove(text)
            if let listen = try id(of: text) { try removeListen(listen) }
        case .removeAll:
            try database.run("DELETE FROM writes")
            try database.run("DELETE FROM listens")
            try database.run("DELETE FROM nodes")
            byteCount = 0
            active = []
        case .account(let name):
            try database.run("DELETE FROM account")
            if let name {
                try database.run(
                    "INSERT INTO account (id, name) VALUES (0, ?)",
                    .bytes(Array(name.utf8))
                )
            }
        }
    }

    private func id(of text: [UInt8]) throws(Failure) -> Int64? {
        try database.integer("SELECT id FROM listens WHERE request = ?", .bytes(text))
    }

    private func saveListen(_ text: [UInt8], _ node: Node) throws(Failure) {
        if let old = try id(of: text) { try removeListen(old) }
        active.insert(text)
        lastUse += 1
        try database.run(
            """
            INSERT INTO listens (request, isActive, lastUse, byteCount, priority)
            VALUES (?, 1, ?, 0, x'')
            """,
            .bytes(text),
            .integer(lastUse)
        )
        if let listen = try id(of: text) { try fill(listen, with: node) }
    }

    /// Stores data of a listen that has none.
    private func fill(_ listen: Int64, with node: Node) throws(Failure) {
        try setPriority(node.isMap ? node.priority : .absent, of: listen)
        guard node.isMap else {
            return try grow(listen, by: node.isAbsent ? 0 : insert([], node, of: listen))
        }
        var size: Int64 = 0
        var failure: Failure?
        node.visitChildren { key, child in
            do throws(Failure) {
                size += try insert(key.array, child, of: listen)
            } catch {
                failure = error
            }
            return failure == nil
        }
        if let failure { throw failure }
        try grow(listen, by: size)
    }

    private func setPriority(_ priority: Node, of listen: Int64) throws(Failure) {
        try database.run(
            "UPDATE listens SET priority = ? WHERE id = ?",
            .bytes(priority.encoding),
            .integer(listen)
        )
    }

    /// Returns the bytes that were added.
    private func insert(_ key: [UInt8], _ node: Node, of listen: Int64) throws(Failure) -> Int64 {
        let data = node.encoding
        try database.run(
            "INSERT OR REPLACE INTO nodes (listen, key, data) VALUES (?, ?, ?)",
            .integer(listen),
            .bytes(key),
            .bytes(data)
        )
        return Int64(key.count + data.count)
    }

    private func saveChildren(
        _ text: [UInt8],
        _ children: [(key: Key, node: Node)],
    ) throws(Failure) {
        guard let listen = try id(of: text) else { return }
        if var node = try leaf(of: listen) {
            // The tree decides about a leaf that gets children.
            for child in children { node.set(child.node, at: Path([child.key])) }
            try grow(listen, by: -(try remove([], of: listen)))
            return try fill(listen, with: node)
        }
        var growth: Int64 = 0
        for child in children {
            growth -= try remove(child.key.utf8, of: listen)
            guard !child.node.isAbsent else { continue }
            growth += try insert(child.key.utf8, child.node, of: listen)
        }
        try grow(listen, by: growth)
        guard children.contains(where: { $0.node.isAbsent }) else { return }
        let any = "SELECT 1 FROM nodes WHERE listen = ? LIMIT 1"
        // Without children there is nothing that has a priority.
        if try database.integer(any, .integer(listen)) == nil {
            try setPriority(.absent, of: listen)
        }
    }

    private func leaf(of listen: Int64) throws(Failure) -> Node? {
        var leaf: Node?
        let sql = "SELECT data FROM nodes WHERE listen = ? AND key = x''"
        try database.rows(sql, .integer(listen)) { row in leaf = Node(encoding: row.bytes(0)) }
        return leaf
    }

    /// Returns the bytes that were freed.
    private func remove(_ key: [UInt8], of listen: Int64) throws(Failure) -> Int64 {
        let size = try database.integer(
            "SELECT length(key) + length(data) FROM nodes WHERE listen = ? AND key = ?",
            .integer(listen),
            .bytes(key)
        )
        guard let size else { return 0 }
        try database.run(
            "DELETE FROM nodes WHERE listen = ? AND key = ?",
            .integer(listen),
            .bytes(key)
        )
        return size
    }

    private func grow(_ listen: Int64, by growth: Int64) throws(Failure) {
        byteCount += growth
        try database.run(
            "UPDATE listens SET byteCount = byteCount + ? WHERE id = ?",
            .integer(growth),
            .integer(listen)
        )
    }

    private func use(_ text: [UInt8], _ isActive: Bool) throws(Failure) {
        if isActive { active.insert(text) } else { active.remove(text) }
        lastUse += 1
        try database.run(
            "UPDATE listens SET isActive = ?, lastUse = ? WHERE request = ?",
            .integer(isActive ? 1 : 0),
            .integer(lastUse),
            .bytes(text)
        )
    }

    private func removeListen(_ listen: Int64) throws(Failure) {
        let size = try database.integer(
            "SELECT byteCount FROM listens WHERE id = ?",
            .integer(listen)
        )
        byteCount -= size ?? 0
        try database.run("DELETE FROM nodes WHERE listen = ?", .integer(listen))
        try database.run("DELETE FROM listens WHERE id = ?", .integer(listen))
    }

    /// Drops the least recently used listens until the rest is within the limit. Listens in use stay, whatever their
    /// size.
    private func dropUnused() throws(Failure) {
        guard byteCount > limitByteCount else { return }
        var candidates: [(id: Int64, text: [UInt8])] = []
        try database.rows("SELECT id, request FROM listens ORDER BY lastUse") { row in
            candidates.append((row.integer(0), row.bytes(1)))
        }
        for candidate in candidates where !active.contains(candidate.text) {
            guard byteCount > limitByteCount else { return }
            try removeListen(candidate.id)
        }
    }

    // MARK: Reading

    /// All stored data. Unreadable entries are removed and reported.
    ///
    /// - Throws: `damaged` when the file is.
    func load() throws(DiskCacheError) -> StoredState {
        var unreadable: (writes: [Int64], listens: [Int64]) = ([], [])
        let state = try attempt("read") { () throws(Failure) in
            var state = StoredState()
            try database.rows("SELECT name FROM account") { row in state.account = row.text(0) }
            try database.rows("SELECT id, checksum, request FROM writes ORDER BY id") { row in
                let (id, text) = (row.integer(0), row.bytes(2))
                if row.integer(1) == checksum(text, id), let write = StoredWrite(text: text) {
                    state.writes.append((WriteID(id), write))
                } else {
                    unreadable.writes.append(id)
                }
            }
            for listen in try storedListens() {
                if let stored = try self.stored(listen) {
                    state.listens.append(stored)
                } else {
                    unreadable.listens.append(listen.id)
                }
            }
            return state
        }
        let count = unreadable.writes.count + unreadable.listens.count
        guard count > 0 else { return state }
        report(.unreadable(count: count))
        try attempt("write") { () throws(Failure) in
            for id in unreadable.writes {
                try database.run("DELETE FROM writes WHERE id = ?", .integer(id))
            }
            for id in unreadable.listens { try removeListen(id) }
        }
        return state
    }

    private typealias Listen = (id: Int64, text: [UInt8], isActive: Bool, priority: [UInt8])

    private func storedListens() throws(Failure) -> [Listen] {
        var listens: [Listen] = []
        let sql = "SELECT id, request, isActive, priority FROM listens ORDER BY lastUse"
        try database.rows(sql) { row in
            listens.append((row.integer(0), row.bytes(1), row.integer(2) != 0, row.bytes(3)))
        }
        return listens
    }

    /// The listen with its data; nil when some of it cannot be read.
    private func stored(_ listen: Listen) throws(Failure) -> StoredListen? {
        guard let target = ListenTarget(text: listen.text),
            let priority = Node(encoding: listen.priority)
        else { return nil }
        var node = Node.absent
        var isReadable = true
        let sql = "SELECT key, data FROM nodes WHERE listen = ? ORDER BY key"
        try database.rows(sql, .integer(listen.id)) { row in
            let key = row.bytes(0)
            guard let data = Node(encoding: row.bytes(1)), !data.isAbsent else {
                isReadable = false
                return
            }
            if key.isEmpty {
                node = data
            } else if let key = try? Key(utf8: key) {
                node.set(data, at: Path([key]))
            } else {
                isReadable = false
            }
        }
        guard isReadable else { return nil }
        if node.isMap { node = node.settingPriority(priority) }
        return StoredListen(target: target, node: node, isActive: listen.isActive)
    }
}

extension StoreChange {
    /// Whether only this client has the saved data.
    fileprivate var isPendingWrite: Bool {
        switch self {
        case .saveWrite: true
        case .removeWrite, .saveListen, .saveChildren, .useListen, .removeListen, .removeAll,
            .account:
            false
        }
    }

    /// Whether a user's data and writes must be deleted.
    fileprivate var isRemovalOfAll: Bool {
        if case .removeAll = self { true } else { false }
    }
}
