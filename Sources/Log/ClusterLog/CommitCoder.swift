package import WriteAheadLog

/// Commits as the payloads of entries hold them, one behind another.
///
///     size
///      1   byte count of the name, 1 to 63
///      n   name of the database
///      8   commit number within the database, from 1
///      8   time, milliseconds since 1970 UTC, signed
///      4   byte count of the payload
///      m   payload, opaque to the log: that of a record of the write-ahead log
///
/// A list may be cut anywhere: a commit above the limit of an entry begins in `part` entries, and ends in the `batch`
/// that follows them.
package enum CommitCoder {
    /// Bytes beside name and payload.
    private static let fixedByteCount = 21

    /// Bytes of a commit in a list.
    package static func byteCount(of record: LogRecord) -> Int {
        fixedByteCount + record.database.utf8.count + record.payload.byteCount
    }

    /// Appends what stands before the payload of a commit.
    static func appendHead(of record: LogRecord, to bytes: inout [UInt8]) {
        precondition(
            record.payload.byteCount <= LogLimits.payloadByteCount,
            "the engine makes no commit beyond the limit of the log"
        )
        bytes.append(UInt8(record.database.utf8.count))
        bytes += record.database.utf8
        bytes.append(littleEndian: record.commit)
        bytes.append(littleEndian: record.time)
        bytes.append(littleEndian: UInt32(record.payload.byteCount))
    }

    /// Appends a whole commit.
    package static func append(_ record: LogRecord, to bytes: inout [UInt8]) {
        appendHead(of: record, to: &bytes)
        switch record.payload {
        case .bytes(let payload): bytes += payload
        case .pieces(var pieces): while pieces.next(into: &bytes) {}
        }
    }

    /// Decodes a whole list.
    ///
    /// - Throws: what is wrong with it. A writer of this version makes no such list.
    package static func decode(
        _ bytes: [UInt8],
        count: Int
    ) throws(CommitListFault) -> [LogRecord] {
        var cursor = ByteCursor(bytes)
        var records: [LogRecord] = []
        while records.count < count { records.append(try decodeNext(&cursor)) }
        guard cursor.isAtEnd else { throw .tooLong(byteCount: cursor.remainingByteCount) }
        return records
    }

    private static func decodeNext(_ cursor: inout ByteCursor) throws(CommitListFault) -> LogRecord
    {
        let start = cursor.offset
        guard let nameByteCount = cursor.integer(UInt8.self),
            let utf8 = cursor.run(Int(nameByteCount)),
            let number = cursor.integer(UInt64.self),
            let time = cursor.integer(Int64.self),
            let payloadByteCount = cursor.integer(UInt32.self),
            let payload = cursor.run(Int(payloadByteCount))
        else { throw .truncated(offset: start) }
        guard number > 0 else { throw .noNumber(offset: start) }
        do {
            let name = try LogDatabaseName(utf8: Array(utf8))
            return LogRecord(
                database: name,
                commit: number,
                time: time,
                payload: .bytes(Array(payload))
            )
        } catch {
            throw .badName(offset: start)
        }
    }
}

/// Why a list of commits cannot be read; the checksum of its entry rules out damage.
package enum CommitListFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// The commit that begins there ends behind the list.
    case truncated(offset: Int)
    case badName(offset: Int)
    /// Commits are numbered from 1.
    case noNumber(offset: Int)
    /// So many bytes follow the last commit.
    case tooLong(byteCount: Int)

    /// The clause for people; offsets count from the start of the list.
    package var description: String {
        switch self {
        case .truncated(let offset): "the commit at byte \(offset) ends behind the list"
        case .badName(let offset): "the commit at byte \(offset) has no name of a database"
        case .noNumber(let offset): "the commit at byte \(offset) has the number 0"
        case .tooLong(let byteCount): "\(byteCount) bytes follow the last commit"
        }
    }
}
