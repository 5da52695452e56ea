import Files
import Glibc
import JSONTree

/// The record beside a file during its import, so that a stopped import can continue.
///
/// One line of JSON: `{"version":1,"target":T,"filter":F,"merges":B,"byteCount":N,"modified":N,
/// "confirmedOffset":N}`. It is replaced whole, and removed when the import is done.
struct ImportRecord: Equatable {
    /// For people and for comparison: server, database and path.
    var target: String
    var filter: String
    var merges: Bool
    /// The source file: its bytes, and nanoseconds since 1970 at its last change.
    var byteCount: Int
    var modified: Int
    /// All values of the source that end at or before this byte are written.
    var confirmedOffset = 0

    /// The record's file for a source file.
    static func path(of source: String) -> String { source + ".hearth-import" }

    /// Whether both are about the same import.
    func isSameImport(as other: ImportRecord) -> Bool {
        var other = other
        other.confirmedOffset = confirmedOffset
        return self == other
    }

    /// Whether both are about the same bytes.
    func isSameSource(as other: ImportRecord) -> Bool {
        byteCount == other.byteCount && modified == other.modified
    }

    /// The record at `path`; nil when there is none.
    static func load(_ path: String) throws(CommandError) -> ImportRecord? {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try SmallFile.read(path, byteLimit: 64 * 1024).bytes
        } catch {
            if error.errorNumber == ENOENT { return nil }
            throw .failed("\(error)")
        }
        guard let record = ImportRecord(bytes) else {
            throw .failed("\(path): is not a record of an import; remove it to start anew")
        }
        return record
    }

    /// Replaces the record at `path`, and waits until the disk has it.
    func save(_ path: String) throws(CommandError) {
        do throws(FileError) {
            let draft = try FileDraft(path)
            try draft.write(text)
            try draft.commit()
        } catch {
            throw .failed("\(error)")
        }
    }

    private var text: [UInt8] {
        let record: JSONValue = [
            "version": .number(1), "target": .string(target), "filter": .string(filter),
            "merges": .boolean(merges), "byteCount": .number(byteCount),
            "modified": .number(modified), "confirmedOffset": .number(confirmedOffset),
        ]
        return record.text + [UInt8(ascii: "\n")]
    }
}

extension ImportRecord {
    private init?(_ text: [UInt8]) {
        guard let record = Node(answer: text), record.member("version").integer == 1,
            let target = record.member("target").string,
            let filter = record.member("filter").string,
            let merges = record.member("merges").boolean,
            let byteCount = record.member("byteCount").integer, byteCount >= 0,
            let modified = record.member("modified").integer, modified >= 0,
            let confirmedOffset = record.member("confirmedOffset").integer, confirmedOffset >= 0
        else { return nil }
        self.init(
            target: target,
            filter: filter,
            merges: merges,
            byteCount: Int(byteCount),
            modified: Int(modified),
            confirmedOffset: Int(confirmedOffset)
        )
    }
}
