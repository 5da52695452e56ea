import Files
import Glibc
import JSONTree

/// What is kept beside a file while it is imported, so that an import that was stopped can go on.
///
/// A text of one line, JSON: `{"version":1,"target":T,"filter":F,"merges":B,"byteCount":N,"modified":N,
/// "confirmedOffset":N}`. It is replaced as a whole and removed when the import is done.
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
        if access(path, F_OK) != 0, errno == ENOENT { return nil }
        let bytes = try Descriptor.reading(path).readAll(byteLimit: 64 * 1024)
        guard let record = ImportRecord(bytes) else {
            throw .failed("\(path): is no record of an import; remove it to start anew")
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
        var out = Array("{\"version\":1,\"target\":".utf8)
        appendJSONString(target, to: &out)
        out += Array(",\"filter\":".utf8)
        appendJSONString(filter, to: &out)
        out += Array(
            """
            ,"merges":\(merges),"byteCount":\(byteCount),"modified":\(modified),\
            "confirmedOffset":\(confirmedOffset)}

            """.utf8
        )
        return out
    }

    private init?(_ text: [UInt8]) {
        do throws(JSONError) {
            self = try text.withBytes { (bytes) throws(JSONError) in
                var scanner = JSONScanner(bytes)
                return try ImportRecord(&scanner)
            }
        } catch {
            return nil
        }
    }

    private init(_ scanner: inout JSONScanner) throws(JSONError) {
        self.init(target: "", filter: "", merges: false, byteCount: -1, modified: -1)
        var version: Int64?
        try scanner.enterObject()
        while let name = try scanner.nextName() {
            switch name {
            case "version": version = try scanner.readInteger()
            case "target": target = try scanner.readString()
            case "filter": filter = try scanner.readString()
            case "merges": merges = try scanner.readBoolean()
            case "byteCount": byteCount = Int(try scanner.readInteger() ?? -1)
            case "modified": modified = Int(try scanner.readInteger() ?? -1)
            case "confirmedOffset": confirmedOffset = Int(try scanner.readInteger() ?? -1)
            default: _ = try scanner.skipValue()
            }
        }
        try scanner.expectEnd()
        guard version == 1, byteCount >= 0, modified >= 0, confirmedOffset >= 0 else {
            throw JSONError(.badValue, offset: 0)
        }
    }

    init(target: String, filter: String, merges: Bool, byteCount: Int, modified: Int) {
        self.target = target
        self.filter = filter
        self.merges = merges
        self.byteCount = byteCount
        self.modified = modified
    }
}
