/// A position in this server's log: the number of a record, counted from 1 over all databases.
///
/// Every record has exactly one position and positions have no holes, so a position also says how many records the log
/// has ever held. A checkpoint "at" a position covers the records up to and including it.
package struct LogPosition: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number of the record; 0 is the position before the first one.
    package var value: UInt64

    /// The position before the first record.
    package static let start = LogPosition(0)

    /// Wraps a record number.
    package init(_ value: UInt64) {
        self.value = value
    }

    /// The position of the record that follows.
    package var next: LogPosition { LogPosition(value + 1) }

    /// The number in decimal.
    package var description: String { String(value) }

    /// Orders by age: a smaller position was appended earlier.
    package static func < (left: LogPosition, right: LogPosition) -> Bool {
        left.value < right.value
    }
}

/// Hard limits of the files of a data folder.
package enum LogLimits {
    /// Bytes in the payload of one record: the largest write (256 MiB over REST) with room to spare.
    package static let payloadByteCount = 512 * 1024 * 1024

    /// Bytes in the name of a database, as DESIGN fixes it; a name has at least 1.
    package static let databaseNameByteCount = 63

    /// Bytes in one chunk of a checkpoint. A reader holds one chunk in memory.
    package static let chunkByteCount = 64 * 1024 * 1024

    /// Databases that one checkpoint covers.
    package static let databaseCount = 200_000

    /// Bytes of a checkpoint's manifest: `databaseCount` entries with the longest names.
    package static let manifestByteCount = 16 * 1024 * 1024

    /// Faults that one verification lists; more are only counted.
    package static let listedFaultCount = 1000

    /// Checkpoints kept: the newest, and the one used when the newest is damaged.
    package static let checkpointCount = 2
}

/// The name of a database as records carry it: 1 to 63 opaque bytes.
package struct LogDatabaseName: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The bytes, usually text.
    package let utf8: [UInt8]

    /// Takes a name.
    ///
    /// Throws: `badDatabaseName` when it has no byte or more than 63.
    package init(utf8: [UInt8]) throws(LogError) {
        guard (1...LogLimits.databaseNameByteCount).contains(utf8.count) else {
            throw .badDatabaseName(byteCount: utf8.count)
        }
        self.utf8 = utf8
    }

    /// Takes a name from text, as its UTF-8 bytes.
    ///
    /// Throws: `badDatabaseName` when it has no byte or more than 63.
    package init(_ text: String) throws(LogError) {
        try self.init(utf8: Array(text.utf8))
    }

    /// For bytes that a reader has already measured.
    init(measured bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count >= 1, "a reader checks the length of a name")
        precondition(bytes.count <= LogLimits.databaseNameByteCount, "a name has at most 63 bytes")
        utf8 = Array(bytes)
    }

    /// The name as text; bytes that are not UTF-8 show as U+FFFD.
    package var description: String { String(decoding: utf8, as: UTF8.self) }

    /// Orders by bytes.
    package static func < (left: LogDatabaseName, right: LogDatabaseName) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }
}

/// One commit on its way into the log.
package struct LogRecord: Sendable {
    /// The database whose order the commit belongs to.
    package let database: LogDatabaseName
    /// The commit's number within that database, from 1, without holes.
    package let commit: UInt64
    /// Server time of the commit, milliseconds since 1970 UTC.
    package let time: Int64
    /// What the commit changes; opaque to the log.
    package let payload: LogPayload

    /// Puts a record together; nothing is checked before `LogWriter.append`.
    package init(database: LogDatabaseName, commit: UInt64, time: Int64, payload: LogPayload) {
        self.database = database
        self.commit = commit
        self.time = time
        self.payload = payload
    }
}

/// The last commit of one database at some position.
package struct LogHead: Hashable, Sendable {
    /// The database.
    package let database: LogDatabaseName
    /// The number of its last commit.
    package let commit: UInt64

    /// Puts a head together.
    package init(database: LogDatabaseName, commit: UInt64) {
        self.database = database
        self.commit = commit
    }
}

/// When an append becomes durable.
package enum SyncPolicy: Sendable, Equatable {
    /// `append` returns after the batch is on the disk: one write and one sync per batch.
    case always
    /// Only `sync()` makes appends durable; the caller decides when, if ever.
    case onRequest
}

/// How a data folder is used.
package struct LogOptions: Sendable {
    /// Bytes after which a segment is full. A batch is never cut: one that is larger makes one larger segment.
    package var segmentByteCount: Int
    /// Free bytes of the disk below which the space state becomes low.
    package var reserveByteCount: UInt64
    /// When appends become durable.
    package var syncPolicy: SyncPolicy
    /// Bytes of one read from the disk.
    package var readByteCount: Int

    /// Takes the options; the defaults are the server's.
    package init(
        segmentByteCount: Int = 64 * 1024 * 1024,
        reserveByteCount: UInt64 = 256 * 1024 * 1024,
        syncPolicy: SyncPolicy = .always,
        readByteCount: Int = 1024 * 1024
    ) {
        precondition(segmentByteCount >= 1024, "a segment holds at least its header and a record")
        precondition(readByteCount >= 64, "a reader sees at least one header")
        self.segmentByteCount = segmentByteCount
        self.reserveByteCount = reserveByteCount
        self.syncPolicy = syncPolicy
        self.readByteCount = readByteCount
    }

    /// The options for a disk of that many bytes: on a small one segment and reserve are shares of it.
    ///
    ///     disk      2 GiB and more   1 GiB     200 MB
    ///     reserve       256 MiB      128 MiB   23 MiB    an eighth
    ///     segment        64 MiB       64 MiB   11 MiB    a sixteenth
    ///
    /// - Parameters:
    ///   - diskByteCount: 0 when it is not known.
    ///   - syncPolicy: When appends become durable.
    package init(diskByteCount: UInt64, syncPolicy: SyncPolicy = .always) {
        self.init(syncPolicy: syncPolicy)
        guard diskByteCount > 0 else { return }
        reserveByteCount = min(reserveByteCount, diskByteCount / 8)
        segmentByteCount = min(
            segmentByteCount,
            max(Self.leastSegmentByteCount, Int(clamping: diskByteCount / 16))
        )
    }

    private static let leastSegmentByteCount = 1024 * 1024

    /// Free bytes at which a low space state becomes ok again: the reserve and a quarter, so that a
    /// disk hovering at the limit does not flap.
    package var resumeByteCount: UInt64 { reserveByteCount + reserveByteCount / 4 }
}
