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

    /// A number that differs where the files of rules differ, or what they are the rules of: the first 8 bytes of a SHA-256.
    var rulesDigest: UInt64 {
        var texts: [(name: String, path: String)] = []
        for (file, watch) in watches {
            switch file {
            case .rules(let database): texts.append(("rules \(database?.name ?? "")", watch.path))
            case .fileRules(let bucket): texts.append(("files \(bucket?.text ?? "")", watch.path))
            case .keys: break
            }
        }
        var bytes: [UInt8] = []
        for (name, path) in texts.sorted(by: { $0.name < $1.name }) {
            // One that cannot be read is not the one of the others.
            let text = try? SmallFile.read(path, byteLimit: RulesFile.byteLimit).bytes
            bytes += Array("\(name)\n\(text?.count ?? -1)\n".utf8) + (text ?? [])
        }
        return SHA256Digest.of(bytes).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

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
