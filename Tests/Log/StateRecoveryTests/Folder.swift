import JSONTree
import SecurityRules
import SimulatedStorage
import StateRecovery
import WriteAheadLog

@testable import DatabaseCore

/// A data folder on a simulated disk, whose commits the test makes itself.
final class Folder {
    static let database = DatabaseID("default")
    static let policy = EnginePolicy(databases: [], createsDatabases: false, defaultRules: .closed)

    let storage: SimulatedLogStorage
    private(set) var state: RecoveredState
    private let options: LogOptions
    private var folder: DataFolder
    private var commit: UInt64 = 0

    init(
        _ storage: SimulatedLogStorage = SimulatedLogStorage(seed: 7),
        segmentByteCount: Int = 4096
    ) throws {
        self.storage = storage
        options = LogOptions(segmentByteCount: segmentByteCount, reserveByteCount: 0)
        folder = try DataFolder.open(storage, options: options)
        state = try folder.recoverState(Folder.policy)
    }

    /// The data now; nil without the database.
    var root: Node? {
        state.engine.snapshots().first { $0.database == Folder.database }?.root
    }

    /// Appends a commit of these operations, which the engine applies too.
    func append(_ operations: [CommitOperation], time: Int64 = 5) throws {
        commit += 1
        let payload = CommitEncoder.encode(operations)
        try append(payload, time)
        try state.engine.apply(
            CommitRecord(
                database: Folder.database,
                number: CommitNumber(commit),
                time: Timestamp(milliseconds: time),
                payload: payload,
            )
        )
    }

    /// Appends a commit that no reader takes.
    func appendNonsense() throws {
        commit += 1
        // A write of a node whose block has a tag that there is not.
        try append([1, 1, 0, 1, 0x61, 2, 0x12, 0x63], 5)
    }

    private func append(_ payload: [UInt8], _ time: Int64) throws {
        let name = try LogDatabaseName(Folder.database.name)
        let record = LogRecord(
            database: name,
            commit: commit,
            time: time,
            payload: .bytes(payload)
        )
        _ = try state.writer.append([record])
    }

    /// Puts children, a commit each.
    func put(_ keys: [String], _ value: String = "value") throws {
        for key in keys {
            try append([.write(try WriteTarget("/list/\(key)"), Node(string: value))])
        }
    }

    /// The content of a checkpoint of the state now.
    var content: [UInt8] {
        var encoder = CheckpointEncoder(state.engine.snapshots())
        var bytes: [UInt8] = []
        while encoder.next(into: &bytes, atLeast: 1 << 20) {}
        return bytes
    }

    /// Writes a checkpoint of the state now, with `change` made to its content, in one chunk.
    func checkpoint(
        readBackBy reader: RecoveryReader = StateChecker().take,
        _ change: (inout [UInt8]) -> Void = { _ in }
    ) throws {
        let (position, heads) = (state.writer.position, state.writer.logHeads)
        let writer = try folder.beginCheckpoint(at: position, heads: heads)
        var bytes = content
        change(&bytes)
        do {
            try bytes.withUnsafeBufferPointer { try writer.write($0) }
            _ = try writer.commit(appendedThrough: position, readBackBy: reader)
        } catch {
            try writer.abandon()
            throw error
        }
    }

    /// Writes a checkpoint of the state now with a chunk for each part that the encoder gives, as a
    /// server does.
    func checkpointInParts() throws {
        let (position, heads) = (state.writer.position, state.writer.logHeads)
        let writer = try folder.beginCheckpoint(at: position, heads: heads)
        var encoder = CheckpointEncoder(state.engine.snapshots())
        var part: [UInt8] = []
        while encoder.next(into: &part, atLeast: 1) {
            try part.withUnsafeBufferPointer { try writer.write($0) }
            part = []
        }
        _ = try writer.commit(appendedThrough: position, readBackBy: StateChecker().take)
    }

    /// Ends the process and starts another.
    func restart() throws {
        try state.writer.close()
        try crash()
    }

    /// Ends the process without a word and starts another.
    func crash() throws {
        folder.close()
        folder = try DataFolder.open(storage, options: options)
        do {
            state = try folder.recoverState(Folder.policy)
        } catch {
            folder.close()
            throw error
        }
    }

    func close() throws {
        try state.writer.close()
        folder.close()
    }
}

/// Makes the first value of a checkpoint's list, which must be a text, no text.
func spoilFirstText(_ bytes: inout [UInt8]) {
    let text = Array("value".utf8)
    guard let place = (0..<bytes.count - 8).first(where: { bytes[$0..<$0 + 5].elementsEqual(text) })
    else { preconditionFailure("the checkpoint holds the value") }
    bytes[place] = 0xFF
}
