import DatabaseCore
import FileRecords
import Files
import SecurityRules
import Tokens

/// The files that are read again when they change.
struct WatchedFiles {
    enum File: Equatable {
        /// The rules of one database, or (nil) of all that have none.
        case rules(DatabaseID?)
        case keys
        /// The rules for files of one bucket, or (nil) of all that have none.
        case fileRules(BucketName?)
    }

    private var watches: [(file: File, watch: FileWatch)] = []

    init(_ configuration: Configuration) {
        if let path = configuration.rulesFile { add(.rules(nil), path) }
        for database in configuration.databases {
            if let path = database.rulesFile { add(.rules(DatabaseID(database.name.text)), path) }
        }
        if let path = configuration.tokens.jwksFile { add(.keys, path) }
        if let path = configuration.files.rulesFile { add(.fileRules(nil), path) }
        for bucket in configuration.files.buckets {
            if let path = bucket.rulesFile { add(.fileRules(bucket.name), path) }
        }
    }

    private mutating func add(_ file: File, _ path: String) {
        watches.append((file, FileWatch(path: path, inForce: FileStamp.of(path))))
    }

    var all: [File] { watches.map(\.file) }

    func rulesPath(_ database: DatabaseID?) -> String? { path(.rules(database)) }

    func path(_ file: File) -> String? { watches.first { $0.file == file }?.watch.path }

    /// Takes in that all are read now, so that only later changes count.
    mutating func isReloading() {
        for index in watches.indices {
            guard let stamp = FileStamp.of(watches[index].watch.path) else { continue }
            watches[index].watch.loaded(stamp)
        }
    }

    /// Those that have changed and come to rest since the last look.
    mutating func changes() -> [File] {
        var changed: [File] = []
        for index in watches.indices {
            let stamp = FileStamp.of(watches[index].watch.path)
            if watches[index].watch.look(stamp) == .changed { changed.append(watches[index].file) }
        }
        return changed
    }
}

/// Rules from a file, with faults that name it.
enum RulesFile {
    /// Bytes of a rules file. Source: Firebase Realtime Database, "Usage and limits", with room.
    static let byteLimit = 1 << 20

    /// - Throws: `RulesFileError` for people: `file:line:column: message`, a line each.
    static func load(_ path: String) throws -> Ruleset {
        let bytes = try SmallFile.read(path, byteLimit: byteLimit).bytes
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw RulesFileError(description: "\(path): is not UTF-8 text")
        }
        do throws(RulesError) { return try Ruleset.load(text) } catch {
            let lines = error.faults.map { fault in
                "\(path):\(fault.line):\(fault.column): \(fault.message)"
                    + (fault.hint.map { " (\($0))" } ?? "")
            }
            throw RulesFileError(description: lines.joined(separator: "\n"))
        }
    }
}

struct RulesFileError: Error, CustomStringConvertible {
    let description: String
}
