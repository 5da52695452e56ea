import SimulatedStorage
import WriteAheadLog

/// A commit as a test sees it.
struct Entry: Equatable {
    let database: String
    let commit: UInt64
    let time: Int64
    let payload: [UInt8]

    init(_ database: String, _ commit: UInt64, time: Int64 = 0, _ payload: [UInt8]) {
        self.database = database
        self.commit = commit
        self.time = time
        self.payload = payload
    }

    /// The commit for a writer; its payload in pieces when their size is given.
    func record(piecesOf pieceByteCount: Int? = nil) throws -> LogRecord {
        LogRecord(
            database: try LogDatabaseName(database),
            commit: commit,
            time: time,
            payload: pieceByteCount.map { .pieces(TestPieces(payload, of: $0)) } ?? .bytes(payload),
        )
    }
}

/// A payload that is made in pieces of some size, the last of which may be empty.
struct TestPieces: PayloadPieces {
    let byteCount: Int
    private let pieceByteCount: Int
    private var rest: ArraySlice<UInt8>

    init(_ payload: [UInt8], of pieceByteCount: Int) {
        byteCount = payload.count
        self.pieceByteCount = pieceByteCount
        rest = payload[...]
    }

    mutating func next(into piece: inout [UInt8]) -> Bool {
        if rest.isEmpty { return false }
        piece.append(contentsOf: rest.prefix(pieceByteCount))
        rest = rest.dropFirst(pieceByteCount)
        return true
    }
}

/// What a recovery gave, collected.
struct Recovered {
    let folder: DataFolder
    let writer: LogWriter
    let report: RecoveryReport
    /// The chunks of the checkpoint that counts in the end.
    let chunks: [[UInt8]]
    let entries: [Entry]
}

/// Small segments, so that a few records roll.
let smallOptions = LogOptions(
    segmentByteCount: 1024,
    reserveByteCount: 0,
    readByteCount: 256,
)

func openLog(
    _ storage: any LogStorage,
    _ options: LogOptions = smallOptions
) throws -> Recovered {
    let folder = try DataFolder.open(storage, options: options)
    var chunks: [[UInt8]] = []
    var entries: [Entry] = []
    let recovered = try folder.recover { step in
        switch step {
        case .checkpointBegan:
            chunks = []
            entries = []
        case .chunk(let bytes): chunks.append(Array(bytes))
        case .checkpointEnded, .skip: break
        case .record(let record):
            entries.append(
                Entry(
                    record.database.description,
                    record.commit,
                    time: record.time,
                    Array(record.payload),
                )
            )
        }
    }
    return Recovered(
        folder: folder,
        writer: recovered.writer,
        report: recovered.report,
        chunks: chunks,
        entries: entries,
    )
}

/// Opens a log that may be damaged: the log, or the refusal.
func tryOpening(_ storage: any LogStorage) throws -> Result<Recovered, LogError> {
    do {
        return .success(try openLog(storage))
    } catch let refusal as LogError {
        return .failure(refusal)
    }
}

/// Commits 1... of one database, with payloads of the given sizes that depend on their number.
func entries(_ sizes: [Int], of database: String = "default", after commit: UInt64 = 0) -> [Entry] {
    sizes.enumerated().map { index, size in
        let number = commit + UInt64(index) + 1
        let payload = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ Int(number)) }
        return Entry(database, number, time: Int64(number) * 10, payload)
    }
}

/// Appends one batch and expects it to be taken.
@discardableResult
func append(_ entries: [Entry], to writer: LogWriter) throws -> LogPosition {
    let outcome = try writer.append(entries.map { try $0.record() })
    guard case .appended(let position) = outcome else { throw UnexpectedOutcome(outcome: outcome) }
    return position
}

struct UnexpectedOutcome: Error {
    let outcome: AppendOutcome
}

/// Writes a checkpoint of the given chunks at the writer's position.
@discardableResult
func checkpoint(_ chunks: [[UInt8]], _ log: Recovered) throws -> CheckpointReceipt {
    let writer = try log.folder.beginCheckpoint(
        at: log.writer.position,
        heads: log.writer.logHeads,
    )
    for chunk in chunks { try chunk.withUnsafeBufferPointer { try writer.write($0) } }
    return try writer.commit(appendedThrough: log.writer.position)
}

/// These tests take any bytes for the content of a log; `StateRecoveryTests` decode it.
extension LogVerification {
    static func run(
        _ storage: any LogStorage,
        readByteCount: Int = smallOptions.readByteCount
    ) throws(LogError) -> LogVerification {
        try run(storage, content: { _ in }, readByteCount: readByteCount)
    }
}

extension LogSalvage {
    static func run(
        from source: any LogStorage,
        to destination: any LogStorage,
        options: LogOptions = LogOptions()
    ) throws(LogError) -> LogSalvage {
        try run(from: source, to: destination, content: { _ in }, options: options)
    }
}

extension CheckpointWriter {
    func commit(appendedThrough position: LogPosition) throws(LogError) -> CheckpointReceipt {
        try commit(appendedThrough: position, readBackBy: { _ in })
    }
}

extension SimulatedLogStorage {
    /// The whole disk, to be written to another one.
    func copyFiles() -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for path in self.files { files[path] = content(path) }
        return files
    }

    /// A disk with these files, all durable.
    static func holding(_ files: [String: [UInt8]]) throws -> SimulatedLogStorage {
        let storage = SimulatedLogStorage(seed: 1)
        for (path, content) in files.sorted(by: { $0.key < $1.key }) {
            var folder = ""
            for piece in path.split(separator: "/").dropLast() {
                folder += folder.isEmpty ? "\(piece)" : "/\(piece)"
                try storage.createFolder(folder)
            }
            _ = try storage.create(path)
            storage.overwrite(path, with: content)
        }
        return storage
    }
}

let segmentNames = (1...9).map { "log/0000000000000000000\($0).log" }

/// Bytes of a seal.
let sealByteCount = 48
