import Glibc
import WriteAheadLog

/// The state of a simulated disk: nodes by number, with what a power cut would forget.
struct SimulatedDisk {
    /// One change of a folder's names that was not synced.
    enum NameChange {
        case link(String, Int)
        case unlink(String)
        case rename(String, String, Int)
    }

    /// One unsynced change of a file's bytes.
    struct ByteChange {
        let offset: Int
        let new: [UInt8]
        /// Whether the file ends behind `new` because it was cut there.
        var isCut = false
    }

    /// A file or a folder.
    struct Node {
        let isFolder: Bool
        /// What a reader sees: the system's memory of the file.
        var content: [UInt8] = []
        /// What a power cut leaves for certain.
        var durable: [UInt8] = []
        /// What the next sync makes durable.
        var writes: [ByteChange] = []
        /// Each file that was open during one reports it once, at its next sync.
        var failedSyncCount = 0
        var names: [String: Int] = [:]
        var syncedNames: [String: Int] = [:]
        var changes: [NameChange] = []
        /// Milliseconds since 1970.
        var modified: Int64 = 0
        /// Whether it is never to be written again, and whether that survives a power cut.
        var isProtected = false
        var isDurablyProtected = false
    }

    /// A call that will fail.
    struct PlannedFailure {
        let operation: DiskFailure.Operation
        let errorNumber: Int32
        var callsLeft: Int

        init(_ operation: DiskFailure.Operation, _ errorNumber: Int32, _ callsLeft: Int) {
            self.operation = operation
            self.errorNumber = errorNumber
            self.callsLeft = callsLeft
        }
    }

    private static let sectorByteCount = 512

    var random: SplitMix64
    var capacity: UInt64
    var nodes: [Int: Node] = [0: Node(isFolder: true)]
    var callCount = 0
    var powerCutCall: Int?
    var failures: [PlannedFailure] = []
    /// The error number for any call, by its count and operation; nil lets it be.
    var failAtCall: (count: Int, errorNumber: @Sendable (DiskFailure.Operation) -> Int32?)?
    /// What `failAtCall` met.
    var metFailure: DiskFailure?
    var isLocked = false
    /// Counts restarts; files and locks of an earlier life are dead.
    var life = 0
    /// Milliseconds since 1970: what `modified` of a node becomes.
    var now: Int64 = 0
    private var isOff = false
    private var nextNode = 1

    init(seed: UInt64, capacity: UInt64) {
        random = SplitMix64(state: seed)
        self.capacity = capacity
    }

    var freeByteCount: UInt64 {
        let used = Set(paths().compactMap(find)).reduce(UInt64(0)) { sum, id in
            sum + UInt64(nodes[id]?.content.count ?? 0)
        }
        return capacity > used ? capacity - used : 0
    }

    // MARK: - Calls

    /// Counts a call; throws when the power is off, goes off, or the call is planned to fail.
    mutating func begin(_ operation: DiskFailure.Operation, _ path: String) throws(LogError) {
        callCount += 1
        if callCount == powerCutCall { isOff = true }
        if isOff { throw failure(operation, path, EIO) }
        if let plan = failAtCall, plan.count == callCount, let number = plan.errorNumber(operation)
        {
            metFailure = DiskFailure(operation, "simulated/\(path)", errorNumber: number)
            throw failure(operation, path, number)
        }
        for index in failures.indices where failures[index].operation == operation {
            failures[index].callsLeft -= 1
            guard failures[index].callsLeft == 0 else { continue }
            throw failure(operation, path, failures.remove(at: index).errorNumber)
        }
    }

    func failure(
        _ operation: DiskFailure.Operation,
        _ path: String,
        _ errorNumber: Int32
    ) -> LogError {
        .disk(DiskFailure(operation, "simulated/\(path)", errorNumber: errorNumber))
    }

    mutating func write(
        _ bytes: [UInt8],
        at offset: Int,
        _ id: Int,
        _ path: String,
        _ operation: DiskFailure.Operation = .write
    ) throws(LogError) {
        do throws(LogError) {
            try begin(operation, path)
        } catch {
            // The call that the power cut or the failure met has done part of its work.
            put(Array(bytes.prefix(Int(random.next(below: bytes.count + 1)))), at: offset, id)
            throw error
        }
        let size = nodes[id]?.content.count ?? 0
        let growth = max(0, offset + bytes.count - size)
        guard growth <= freeByteCount else {
            if operation == .write {
                put(Array(bytes.prefix(bytes.count - growth + Int(freeByteCount))), at: offset, id)
            }
            throw failure(operation, path, ENOSPC)
        }
        put(bytes, at: offset, id)
    }

    mutating func truncate(to byteCount: Int, _ id: Int, _ path: String) throws(LogError) {
        try begin(.truncate, path)
        guard let content = nodes[id]?.content, byteCount < content.count else { return }
        touch(id)
        nodes[id]?.content.removeLast(content.count - byteCount)
        nodes[id]?.writes.append(ByteChange(offset: byteCount, new: [], isCut: true))
    }

    /// A sync that fails does what Linux does: part of the bytes are durable, and none is tried again by a later
    /// sync, though a reader may still see all of them. A folder keeps its changes: where such a sync fails, the
    /// journal of the file system does, and no later one succeeds.
    mutating func sync(_ id: Int, _ path: String) throws(LogError) {
        do throws(LogError) {
            try begin(.sync, path)
        } catch {
            if !isOff {
                spill(id)
                nodes[id]?.failedSyncCount += 1
                if random.next(below: 2) == 0 { forgetCached(id) }
            } else if callCount == powerCutCall, random.next(below: 2) == 0 {
                settle(id)
            }
            throw error
        }
        settle(id)
    }

    /// Lets readers see what is durable, unless there is something to sync.
    mutating func forgetCached(_ id: Int) {
        guard let node = nodes[id], !node.isFolder, node.writes.isEmpty else { return }
        nodes[id]?.content = node.durable
    }

    /// Makes the current state of a node durable.
    private mutating func settle(_ id: Int) {
        guard let node = nodes[id] else { return }
        nodes[id]?.durable = []
        var durable = node.durable
        for write in node.writes { redo(write, keeping: write.new.count, in: &durable) }
        nodes[id]?.durable = durable
        nodes[id]?.writes = []
        nodes[id]?.changes = []
        nodes[id]?.syncedNames = node.names
        nodes[id]?.isDurablyProtected = node.isProtected
    }

    /// A change of the content: a protected file must have none.
    private mutating func touch(_ id: Int) {
        precondition(nodes[id]?.isProtected != true, "a read-only file is not written")
        nodes[id]?.modified = now
    }

    private mutating func put(_ bytes: [UInt8], at offset: Int, _ id: Int) {
        guard var content = nodes[id]?.content, !bytes.isEmpty else { return }
        touch(id)
        nodes[id]?.content = []
        if content.count < offset {
            content.append(contentsOf: repeatElement(0, count: offset - content.count))
        }
        let overlap = min(content.count, offset + bytes.count)
        content.replaceSubrange(offset..<overlap, with: bytes)
        nodes[id]?.content = content
        nodes[id]?.writes.append(ByteChange(offset: offset, new: bytes))
    }

    // MARK: - Names

    /// The node at a path; nil when it is missing.
    func find(_ path: String) -> Int? {
        var id = 0
        for piece in path.split(separator: "/") {
            guard let next = nodes[id]?.names[String(piece)] else { return nil }
            id = next
        }
        return id
    }

    func parent(
        of path: String,
        _ operation: DiskFailure.Operation
    ) throws(LogError) -> (Int, String) {
        let pieces = path.split(separator: "/")
        let folder = find(pieces.dropLast().joined(separator: "/"))
        guard let name = pieces.last, let folder, nodes[folder]?.isFolder == true else {
            throw failure(operation, path, ENOENT)
        }
        return (folder, String(name))
    }

    mutating func makeNode(isFolder: Bool) -> Int {
        defer { nextNode += 1 }
        nodes[nextNode] = Node(isFolder: isFolder, modified: now)
        return nextNode
    }

    mutating func link(
        _ id: Int,
        at path: String,
        _ operation: DiskFailure.Operation
    ) throws(LogError) {
        let (folder, name) = try parent(of: path, operation)
        change(folder, .link(name, id))
    }

    mutating func change(_ folder: Int, _ change: NameChange) {
        nodes[folder]?.changes.append(change)
        guard var names = nodes[folder]?.names else { return }
        Self.apply(change, to: &names)
        nodes[folder]?.names = names
    }

    /// Every file that a path leads to, sorted.
    func paths() -> [String] {
        var found: [String] = []
        var open: [(String, Int)] = [("", 0)]
        while let (path, id) = open.popLast() {
            guard let node = nodes[id] else { continue }
            if !node.isFolder { found.append(path) }
            for (name, child) in node.names {
                open.append((path.isEmpty ? name : "\(path)/\(name)", child))
            }
        }
        return found.sorted()
    }

    private static func apply(_ change: NameChange, to names: inout [String: Int]) {
        switch change {
        case .link(let name, let id): names[name] = id
        case .unlink(let name): names[name] = nil
        case .rename(let name, let newName, let id):
            if names[name] == id { names[name] = nil }
            names[newName] = id
        }
    }

    // MARK: - The power cut

    /// Forgets what was not synced, or part of it, and starts a new life.
    mutating func restart() {
        for id in nodes.keys.sorted() {
            loseNames(id)
            loseProtection(id)
            spill(id)
            forgetCached(id)
        }
        var alive: Set<Int> = [0]
        var open = [0]
        while let id = open.popLast() {
            for child in (nodes[id]?.names ?? [:]).values where alive.insert(child).inserted {
                open.append(child)
            }
        }
        nodes = nodes.filter { alive.contains($0.key) }
        isOff = false
        powerCutCall = nil
        kill()
    }

    /// Ends the process, and nothing else.
    mutating func kill() {
        isLocked = false
        failures = []
        life += 1
    }

    private mutating func loseNames(_ id: Int) {
        guard let node = nodes[id], node.isFolder else { return }
        var names = node.syncedNames
        let isOrdered = random.next(below: 2) == 0
        let kept = Int(random.next(below: node.changes.count + 1))
        for (index, change) in node.changes.enumerated() {
            let survives = isOrdered ? index < kept : random.next(below: 2) == 0
            if survives { Self.apply(change, to: &names) }
        }
        nodes[id]?.names = names
        settle(id)
    }

    private mutating func loseProtection(_ id: Int) {
        guard let node = nodes[id], node.isProtected != node.isDurablyProtected else { return }
        nodes[id]?.isProtected = random.next(below: 2) == 0
    }

    /// Makes some part of the unsynced bytes durable, and forgets that the rest was to be synced.
    private mutating func spill(_ id: Int) {
        guard let node = nodes[id], !node.writes.isEmpty else { return }
        var content = node.durable
        let mode = random.next(below: 4)
        let whole = Int(random.next(below: node.writes.count + 1))
        for (index, write) in node.writes.enumerated() {
            switch mode {
            case 0: break
            case 1: redo(write, keeping: write.new.count, in: &content)
            case 2 where index < whole: redo(write, keeping: write.new.count, in: &content)
            case 2 where index == whole:
                let count = Int(random.next(below: write.new.count + 1))
                redo(write, keeping: count, in: &content)
            case 2: break
            default: scatter(write, in: &content)
            }
        }
        nodes[id]?.durable = content
        nodes[id]?.writes = []
    }

    private func redo(_ write: ByteChange, keeping count: Int, in content: inout [UInt8]) {
        if write.isCut { return content.removeLast(max(0, content.count - write.offset)) }
        guard count > 0 else { return }
        if content.count < write.offset {
            content.append(contentsOf: repeatElement(0, count: write.offset - content.count))
        }
        let end = min(content.count, write.offset + count)
        content.replaceSubrange(write.offset..<end, with: write.new.prefix(count))
    }

    /// Keeps, loses or garbles each sector that a write touched, on its own.
    private mutating func scatter(_ write: ByteChange, in content: inout [UInt8]) {
        if write.isCut { return redo(write, keeping: 0, in: &content) }
        let end = write.offset + write.new.count
        if content.count < end, random.next(below: 4) != 0 {
            content.append(contentsOf: repeatElement(0, count: end - content.count))
        }
        var start = write.offset
        while start < end {
            let next = min(end, (start / Self.sectorByteCount + 1) * Self.sectorByteCount)
            let choice = random.next(below: 3)
            for index in start..<next where index < content.count && choice > 0 {
                let garbage = UInt8(truncatingIfNeeded: random.next())
                content[index] = choice == 1 ? write.new[index - write.offset] : garbage
            }
            start = next
        }
    }
}
