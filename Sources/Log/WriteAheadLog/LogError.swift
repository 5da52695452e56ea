import Glibc

/// Why an operation of the log failed.
///
/// `description` is the sentence for people: what, where, what to do.
package indirect enum LogError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The disk failed a call.
    case disk(DiskFailure)
    /// Durable files differ from what was written; the log refuses to open.
    case damage(LogDamage)
    /// Another process holds the data folder. `holder` is its pid when the lock file names one.
    case inUse(path: String, holder: Int32?)
    /// A file was written by another version of the format.
    case unknownFormat(file: String, found: UInt32, known: UInt32)
    /// An earlier append or sync failed; memory and disk may disagree, so nothing more is written.
    case stopped(by: LogError)
    /// The payload of a record is above `LogLimits.payloadByteCount`.
    case payloadTooLarge(byteCount: Int)
    /// The name of a database is empty or above `LogLimits.databaseNameByteCount`.
    case badDatabaseName(byteCount: Int)
    /// A chunk of a checkpoint is above `LogLimits.chunkByteCount`.
    case chunkTooLarge(byteCount: Int)
    /// A checkpoint covers at most `LogLimits.databaseCount` databases.
    case tooManyDatabases(count: Int)
    /// A checkpoint must be newer than the newest existing one.
    case checkpointNotNewer(position: LogPosition, newest: LogPosition)
    /// The reader of a recovery refused the log's content, though its checksum is correct.
    case refused(RecoveryRefusal, file: String, offset: UInt64)
    /// There is no data folder to read.
    case notADataFolder(path: String)

    /// The sentence for people.
    package var description: String {
        switch self {
        case .disk(let failure): failure.description
        case .damage(let damage): damage.description
        case .inUse(let path, let holder?):
            "\(path) is in use by process \(holder); stop it first or name another data folder"
        case .inUse(let path, nil):
            "\(path) is in use by another process; stop it first or name another data folder"
        case .unknownFormat(let file, let found, let known):
            "\(file) has format \(found); this version reads format \(known) only."
                + " Use the version of hearth that wrote it, or export there and import here"
        case .stopped(let cause): "the log takes no more writes since it failed: \(cause)"
        case .payloadTooLarge(let byteCount):
            "a commit of \(byteCount) bytes is above the limit of \(LogLimits.payloadByteCount)"
        case .badDatabaseName(let byteCount):
            "a database name of \(byteCount) bytes is outside"
                + " 1...\(LogLimits.databaseNameByteCount)"
        case .chunkTooLarge(let byteCount):
            "a checkpoint chunk of \(byteCount) bytes is above \(LogLimits.chunkByteCount)"
        case .tooManyDatabases(let count):
            "\(count) databases are more than a checkpoint's \(LogLimits.databaseCount)"
        case .checkpointNotNewer(let position, let newest):
            "a checkpoint at position \(position) is not newer than the one at \(newest)"
        case .refused(let refusal, let file, let offset):
            "\(file) at byte \(offset): \(refusal.reason)"
        case .notADataFolder(let path):
            "\(path) is not a Hearth data folder: it has no FORMAT file and no log"
        }
    }
}

extension LogError {
    /// A fault of a checkpoint that gave this error, where an older one may do instead; nil
    /// for errors that an older one would not avoid, and where another version of the server wrote it.
    var checkpointDamage: LogDamage? {
        if case .refused(let refusal, _, _) = self, refusal.isOfAnotherVersion { return nil }
        do throws(LogError) { return try asDamage() } catch { return nil }
    }

    /// The damage of the file, if this error is a fault of a file. Throws other errors again.
    func asDamage() throws(LogError) -> LogDamage {
        switch self {
        case .damage(let damage): return damage
        case .refused(let refusal, let file, let offset):
            let fault = LogDamage.Fault.undecodable(reason: refusal.reason)
            return LogDamage(file: file, offset: offset, fault: fault)
        default: throw self
        }
    }
}

/// A call to the disk that failed.
package struct DiskFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The operation on the disk.
    package enum Operation: String, Sendable {
        case createFolder = "create folder"
        case open, create, read, write, sync, truncate, preallocate, rename, remove, list, lock
        case link
        case status = "look at"
        case protect = "make read-only"
        case measureFreeSpace = "measure the free space of"
    }

    /// The operation.
    package let operation: Operation
    /// On which file or folder.
    package let path: String
    /// The `errno` of the call.
    package let errorNumber: Int32

    /// A failure of a call.
    package init(_ operation: Operation, _ path: String, errorNumber: Int32) {
        self.operation = operation
        self.path = path
        self.errorNumber = errorNumber
    }

    /// The sentence for people, with the system's text for the number.
    package var description: String {
        let text = strerror(errorNumber).map { String(cString: $0) } ?? "unknown error"
        return "cannot \(operation.rawValue) \(path): \(text) (errno \(errorNumber))"
    }
}

/// Durable bytes that differ from what was written.
package struct LogDamage: Sendable, Equatable, CustomStringConvertible {
    /// What is wrong.
    package enum Fault: Sendable, Equatable {
        /// The file is missing.
        case missing
        /// The file is shorter than its fixed part, or is not of its kind at all.
        case unreadableHeader
        /// The file belongs to another data folder or another position than its name says.
        case foreign
        /// A record's header does not match its checksum; `expected` is the record that stood here.
        case recordHeader(expected: LogPosition)
        /// A record's header is right but its name or payload does not match the checksum.
        case recordBody(position: LogPosition, commit: UInt64)
        /// A record extends beyond the end of the file.
        case recordCutShort(position: LogPosition)
        /// The header is right by its checksum but says what no writer writes.
        case impossibleRecord(expected: LogPosition)
        /// Records are missing although later ones exist.
        case missingRecords(from: LogPosition, through: LogPosition)
        /// A record whose position is already taken.
        case repeatedRecord(found: LogPosition, expected: LogPosition)
        /// A commit number that does not follow the one before in its database.
        case commitNumber(database: LogDatabaseName, expected: UInt64, found: UInt64)
        /// The log ends although a durable checkpoint proves that it went on.
        case endsEarly(last: LogPosition, known: LogPosition)
        /// A segment is shorter than it was durably: its end is gone. `known` bytes belong there, or for
        /// a log that was not closed at least as many.
        case cutShort(byteCount: UInt64, known: UInt64)
        /// A chunk of a checkpoint does not match its checksum or its number.
        case chunk(index: UInt64)
        /// Bytes follow where a file should have ended.
        case trailingBytes
        /// The checksums are correct, but the reader refused the content.
        case undecodable(reason: String)
    }

    /// The file, relative to the data folder.
    package let file: String
    /// Bytes from the start of the file.
    package let offset: UInt64
    /// What is wrong.
    package let fault: Fault

    /// Puts a finding together.
    package init(file: String, offset: UInt64, fault: Fault) {
        self.file = file
        self.offset = offset
        self.fault = fault
    }

    /// The same finding for the same file in another folder of checkpoints.
    func moved(to checkpoint: String) -> LogDamage {
        let name = file.split(separator: "/").last ?? ""
        return LogDamage(file: "\(checkpoint)/\(name)", offset: offset, fault: fault)
    }

    /// What to do about it.
    package var advice: String {
        "Nothing was changed. Restore a backup, or run 'hearth log salvage' to copy what is"
            + " readable into a new folder and to see what is lost"
    }

    /// Where and what, without the advice.
    package var summary: String { "\(file) is damaged at byte \(offset): \(fault)" }

    /// The sentences for people.
    package var description: String { "\(summary). \(advice)." }
}

extension LogDamage.Fault: CustomStringConvertible {
    /// The clause for people.
    package var description: String {
        switch self {
        case .missing: "the file is missing"
        case .unreadableHeader: "its header is unreadable"
        case .foreign: "it belongs to another data folder or another position"
        case .recordHeader(let expected): "the header of record \(expected) is unreadable"
        case .recordBody(let position, let commit):
            "the content of record \(position) (commit \(commit)) does not match its checksum"
        case .recordCutShort(let position): "record \(position) goes beyond the end of the file"
        case .impossibleRecord(let expected): "the header of record \(expected) makes no sense"
        case .missingRecords(let from, let through) where from == through:
            "record \(from) is missing"
        case .missingRecords(let from, let through):
            "records \(from) through \(through) are missing"
        case .repeatedRecord(let found, let expected):
            "record \(found) stands where record \(expected) belongs"
        case .commitNumber(let database, let expected, let found):
            "commit \(found) of database '\(database)' stands where commit \(expected) belongs"
        case .endsEarly(let last, let known):
            "the log ends at record \(last), but a checkpoint covers record \(known)"
        case .cutShort(let byteCount, let known):
            "its end is gone: it has \(byteCount) bytes where \(known) belong"
        case .chunk(let index): "chunk \(index) does not match its checksum"
        case .trailingBytes: "bytes follow its end"
        case .undecodable(let reason):
            "its checksums are right, but its content cannot be read: \(reason)"
        }
    }
}

/// Why the reader of a recovery stopped it, for instance a payload of an unknown kind.
package struct RecoveryRefusal: Error, Sendable, Equatable {
    /// The clause for people.
    package let reason: String
    /// Whether another version of the server may have written it: then nothing else is tried.
    package let isOfAnotherVersion: Bool

    /// Takes the reason.
    package init(reason: String, isOfAnotherVersion: Bool = false) {
        self.reason = reason
        self.isOfAnotherVersion = isOfAnotherVersion
    }
}
