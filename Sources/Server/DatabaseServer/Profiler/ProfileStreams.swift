import DatabaseCore
import JSONTree
import Transport

/// One reader of a database's operations.
@LoopActor
final class ProfileStream {
    let database: DatabaseID
    let response: PushedResponse
    /// How long the credential of its reader counts.
    let term: CredentialTerm
    /// Records that were dropped since one was last sent.
    private var droppedCount = 0

    /// Bytes that may wait for the reader; records beyond them are dropped and counted.
    private static let queueByteLimit = 1 << 20

    init(_ database: DatabaseID, _ response: PushedResponse, until term: CredentialTerm) {
        self.database = database
        self.response = response
        self.term = term
    }

    func send(_ events: SharedChunk, count: Int, now: Timestamp) {
        guard response.queuedByteCount + events.byteCount <= Self.queueByteLimit else {
            droppedCount += count
            return
        }
        if droppedCount > 0 {
            response.send(SharedChunk(text: ProfileText.dropped(droppedCount, at: now)))
            droppedCount = 0
        }
        response.send(events)
    }

    func drop(_ count: Int) {
        droppedCount += count
    }
}

/// The readers of each database, and the records on their way there.
@LoopActor
struct ProfileStreams {
    private var byDatabase: [DatabaseID: [ProfileStream]] = [:]
    /// Records that are not formatted yet.
    var batch: [ProfileText] = []
    /// Records that were taken and have not reached the streams.
    var underWayCount = 0

    /// Records between the engine and the streams; more are dropped and counted.
    static let underWayLimit = 20_000

    /// Readers of one database.
    static let streamLimit = 16

    var isEmpty: Bool { byDatabase.isEmpty }

    subscript(database: DatabaseID) -> [ProfileStream] { byDatabase[database] ?? [] }

    /// Databases with readers, in order of their names.
    var all: [ProfileStream] { byDatabase.keys.sorted().flatMap { self[$0] } }

    /// Whether it is the first one of its database.
    mutating func add(_ stream: ProfileStream) -> Bool {
        byDatabase[stream.database, default: []].append(stream)
        return self[stream.database].count == 1
    }

    /// Whether it was the last one of its database.
    mutating func remove(_ stream: ProfileStream) -> Bool {
        var left = self[stream.database]
        guard let index = left.firstIndex(where: { $0 === stream }) else { return false }
        left.remove(at: index)
        byDatabase[stream.database] = left.isEmpty ? nil : left
        return left.isEmpty
    }
}
