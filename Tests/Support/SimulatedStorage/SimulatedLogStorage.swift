import Glibc
import Synchronization
package import WriteAheadLog

/// A disk in memory that can lose its power, fail and fill up, all from one seed.
///
/// A power cut keeps what was synced and does its worst with everything after: each write since the
/// last sync of its file may be whole, gone, cut at any byte, or a scatter of old, new and garbage
/// sectors; each create, rename and remove since the last sync of its folder may have happened or
/// not, in any combination. A byte that was synced is never touched by the tearing of another.
/// Open files and locks from before the cut are dead. A sync that fails loses bytes for good, as on Linux.
package final class SimulatedLogStorage: LogStorage {
    package let path = "simulated"
    let disk: Mutex<SimulatedDisk>

    /// Makes an empty disk.
    ///
    /// `capacity` is its size in bytes, counting file contents only.
    package init(seed: UInt64, capacity: UInt64 = .max / 2) {
        disk = Mutex(SimulatedDisk(seed: seed, capacity: capacity))
    }

    // MARK: - Trouble

    /// Storage calls so far.
    package var callCount: Int { disk.withLock { $0.callCount } }

    /// The power fails during the n-th call from now, 1 being the next one; that call and all later
    /// ones throw until `restart`.
    package func cutPower(afterCalls count: Int) {
        disk.withLock { $0.powerCutCall = $0.callCount + count }
    }

    /// The power fails now, unless it has, and comes back: what was not synced is lost or torn.
    package func restart() {
        disk.withLock { $0.restart() }
    }

    /// The process ends as by SIGKILL: its files and locks are dead, and the system keeps what was written.
    package func kill() {
        disk.withLock { $0.kill() }
    }

    /// Lets the n-th of all calls from now fail, 1 being the next one, with the number that its operation gives; with
    /// nil it does what it does. Neither `restart` nor `kill` cancels this.
    package func failCall(
        _ count: Int,
        errorNumber: @escaping @Sendable (DiskFailure.Operation) -> Int32?
    ) {
        disk.withLock { $0.failAtCall = ($0.callCount + count, errorNumber) }
    }

    /// The failure that `failCall` planned, once a call has met it.
    package var metFailure: DiskFailure? { disk.withLock { $0.metFailure } }

    /// Lets the n-th call of one kind from now fail, 1 being the next one.
    ///
    /// A write that fails has written part of its bytes.
    package func fail(
        _ operation: DiskFailure.Operation,
        errorNumber: Int32,
        afterCalls count: Int = 1
    ) {
        disk.withLock { $0.failures.append(.init(operation, errorNumber, count)) }
    }

    /// Forgets the failures that no call has met yet.
    package func cancelFailures() {
        disk.withLock { disk in
            disk.failures = []
            disk.failAtCall = nil
        }
    }

    /// Sets the size of the disk in bytes; content that is there stays.
    package func setCapacity(_ byteCount: UInt64) {
        disk.withLock { $0.capacity = byteCount }
    }

    /// Every file's path, sorted.
    package var files: [String] { disk.withLock { $0.paths() } }

    /// The content of a file as a reader would see it now; nil without one.
    package func content(_ path: String) -> [UInt8]? {
        disk.withLock { disk in disk.find(path).flatMap { disk.nodes[$0]?.content } }
    }

    /// Replaces a file's content durably, as a failing disk or a careless hand would.
    package func overwrite(_ path: String, with content: [UInt8]) {
        disk.withLock { disk in
            guard let id = disk.find(path) else { return }
            disk.nodes[id]?.content = content
            disk.nodes[id]?.durable = content
            disk.nodes[id]?.writes = []
        }
    }

    // MARK: - LogStorage

    package func createFolder(_ path: String) throws(LogError) {
        try disk.withLock { disk throws(LogError) in
            try disk.begin(.createFolder, path)
            guard disk.find(path) == nil else { return }
            try disk.link(disk.makeNode(isFolder: true), at: path, .createFolder)
        }
    }

    package func create(_ path: String) throws(LogError) -> any LogFile {
        let (id, life) = try disk.withLock { disk throws(LogError) in
            try disk.begin(.create, path)
            let id = disk.makeNode(isFolder: false)
            try disk.link(id, at: path, .create)
            return (id, disk.life)
        }
        return SimulatedLogFile(storage: self, id: id, path: path, life: life)
    }

    package func open(_ path: String) throws(LogError) -> (any LogFile)? {
        let found = try disk.withLock { disk throws(LogError) in
            try disk.begin(.open, path)
            return disk.find(path).map { ($0, disk.life) }
        }
        guard let (id, life) = found else { return nil }
        return SimulatedLogFile(storage: self, id: id, path: path, life: life)
    }

    package func list(_ path: String) throws(LogError) -> [String] {
        try disk.withLock { disk throws(LogError) in
            try disk.begin(.list, path)
            guard let id = disk.find(path) else { return [] }
            return disk.nodes[id]?.names.keys.sorted() ?? []
        }
    }

    package func hasFolder(_ path: String) throws(LogError) -> Bool {
        try disk.withLock { disk throws(LogError) in
            try disk.begin(.open, path)
            return disk.find(path).flatMap { disk.nodes[$0]?.isFolder } ?? false
        }
    }

    package func rename(_ path: String, to newPath: String) throws(LogError) {
        try disk.withLock { disk throws(LogError) in
            try disk.begin(.rename, path)
            guard let id = disk.find(path) else { throw disk.failure(.rename, path, ENOENT) }
            let (parent, name) = try disk.parent(of: path, .rename)
            let (newParent, newName) = try disk.parent(of: newPath, .rename)
            guard parent == newParent else { throw disk.failure(.rename, path, EXDEV) }
            disk.change(parent, .rename(name, newName, id))
        }
    }

    package func remove(_ path: String) throws(LogError) {
        try disk.withLock { disk throws(LogError) in
            try disk.begin(.remove, path)
            guard let id = disk.find(path) else { return }
            guard disk.nodes[id]?.names.isEmpty != false else {
                throw disk.failure(.remove, path, ENOTEMPTY)
            }
            let (parent, name) = try disk.parent(of: path, .remove)
            disk.change(parent, .unlink(name))
        }
    }

    package func syncFolder(_ path: String) throws(LogError) {
        try disk.withLock { disk throws(LogError) in
            guard let id = disk.find(path) else { throw disk.failure(.sync, path, ENOENT) }
            try disk.sync(id, path)
        }
    }

    package func freeByteCount() throws(LogError) -> UInt64 {
        try disk.withLock { disk throws(LogError) in
            try disk.begin(.measureFreeSpace, "")
            return disk.freeByteCount
        }
    }

    package func lock(_ mode: LogLockMode) throws(LogError) -> any LogLock {
        let life = try disk.withLock { disk throws(LogError) in
            try disk.begin(.lock, "LOCK")
            guard !disk.isLocked else { throw LogError.inUse(path: path, holder: 1) }
            disk.isLocked = true
            return disk.life
        }
        return SimulatedLock(storage: self, life: life)
    }

    package func randomNumber() -> UInt64 {
        disk.withLock { $0.random.next() }
    }

    // MARK: - For its files

    fileprivate func withDisk<Result>(
        life: Int,
        _ path: String,
        _ body: (inout SimulatedDisk) throws(LogError) -> sending Result
    ) throws(LogError) -> sending Result {
        try disk.withLock { disk throws(LogError) in
            guard life == disk.life else { throw disk.failure(.open, path, EBADF) }
            return try body(&disk)
        }
    }

    fileprivate func failedSyncCount(_ id: Int) -> Int {
        disk.withLock { $0.nodes[id]?.failedSyncCount ?? 0 }
    }

    fileprivate func unlock(life: Int) {
        disk.withLock { disk in
            if life == disk.life { disk.isLocked = false }
        }
    }
}

final class SimulatedLogFile: LogFile {
    private let storage: SimulatedLogStorage
    private let id: Int
    private var path: String
    private let life: Int
    /// Failed syncs that this file has reported, or that were before it.
    private var knownFailureCount: Int

    init(storage: SimulatedLogStorage, id: Int, path: String, life: Int) {
        self.storage = storage
        self.id = id
        self.path = path
        self.life = life
        knownFailureCount = storage.failedSyncCount(id)
    }

    func byteCount() throws(LogError) -> UInt64 {
        try storage.withDisk(life: life, path) { disk throws(LogError) in
            try disk.begin(.read, path)
            return UInt64(disk.nodes[id]?.content.count ?? 0)
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LogError) -> Int
    {
        let bytes = try storage.withDisk(life: life, path) { disk throws(LogError) in
            try disk.begin(.read, path)
            let content = disk.nodes[id]?.content ?? []
            let start = min(Int(offset), content.count)
            return content[start..<min(content.count, start + buffer.count)]
        }
        buffer.copyBytes(from: bytes)
        return bytes.count
    }

    /// Every read of this disk waits for it.
    func readCached(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int? { nil }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(LogError) {
        let bytes = Array(bytes)
        try storage.withDisk(life: life, path) { disk throws(LogError) in
            try disk.write(bytes, at: Int(offset), id, path)
        }
    }

    /// Its disk is written by syncs alone.
    func beginWriting(_ range: Range<UInt64>) {}

    func sync() throws(LogError) {
        defer { knownFailureCount = storage.failedSyncCount(id) }
        try storage.withDisk(life: life, path) { disk throws(LogError) in
            try disk.sync(id, path)
            // A failure that another open file met is reported here too.
            if disk.nodes[id]?.failedSyncCount ?? 0 > knownFailureCount {
                throw disk.failure(.sync, path, EIO)
            }
        }
    }

    func forgetCached() throws(LogError) {
        try storage.withDisk(life: life, path) { disk throws(LogError) in
            try disk.begin(.read, path)
            disk.forgetCached(id)
        }
    }

    func preallocate(_ byteCount: UInt64) throws(LogError) {
        try storage.withDisk(life: life, path) { disk throws(LogError) in
            let size = disk.nodes[id]?.content.count ?? 0
            let missing = [UInt8](repeating: 0, count: max(0, Int(byteCount) - size))
            try disk.write(missing, at: size, id, path, .preallocate)
        }
    }

    func truncate(to byteCount: UInt64) throws(LogError) {
        try storage.withDisk(life: life, path) { disk throws(LogError) in
            try disk.truncate(to: Int(byteCount), id, path)
        }
    }

    func isRenamed(to path: String) {
        self.path = path
    }

    func close() {}
}

private final class SimulatedLock: LogLock {
    private let storage: SimulatedLogStorage
    private let life: Int

    init(storage: SimulatedLogStorage, life: Int) {
        self.storage = storage
        self.life = life
    }

    deinit {
        release()
    }

    func release() {
        storage.unlock(life: life)
    }
}
