import Files
import Glibc
import JSONTree

/// One file of JSON that a database begins with: `--import`.
struct EmulatorImport: Equatable, Sendable {
    let database: DatabaseName
    let path: String

    /// Bytes of one file: what one write may have.
    static let byteLimit = 256 << 20

    private static let metadataByteLimit = 1 << 20

    /// The files that one `--import` names: an export folder, or `[NAME=]FILE`.
    /// A file without a name goes into the database `standard`.
    static func find(
        _ text: String,
        standard: DatabaseName
    ) throws(EmulatorImportError) -> [EmulatorImport] {
        if Folder.exists(text) { return try inFolder(text) }
        guard FileStamp.of(text) == nil, let equals = text.firstIndex(of: "=") else {
            return [EmulatorImport(database: standard, path: text)]
        }
        let name = String(text[..<equals])
        do throws(DatabaseNameError) {
            let database = try DatabaseName(name)
            let path = String(text[text.index(after: equals)...])
            return [EmulatorImport(database: database, path: path)]
        } catch {
            throw .name(path: text, error)
        }
    }

    /// The content of the file, as a write of it would hold it.
    func read() throws(EmulatorImportError) -> Draft {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try SmallFile.read(path, byteLimit: Self.byteLimit).bytes
        } catch {
            throw .file(error)
        }
        do throws(JSONError) {
            return try Draft(json: bytes)
        } catch {
            throw EmulatorImportError(error, in: bytes, path: path)
        }
    }

    private static func inFolder(_ folder: String) throws(EmulatorImportError) -> [EmulatorImport] {
        let data = try dataFolder(in: folder)
        let names: [String]
        do throws(FileError) { names = try Folder.names(data) } catch { throw .file(error) }
        var found: [EmulatorImport] = []
        for name in names where name.hasSuffix(EmulatorExport.suffix) {
            let path = "\(data)/\(name)"
            if name == EmulatorExport.metadataName { continue }
            do throws(DatabaseNameError) {
                let bare = String(name.dropLast(EmulatorExport.suffix.count))
                found.append(EmulatorImport(database: try DatabaseName(bare), path: path))
            } catch {
                throw .name(path: path, error)
            }
        }
        guard !found.isEmpty else { throw .nothingThere(path: data) }
        return found
    }

    /// Where the files are: as the metadata says, or where an export puts them, or here.
    private static func dataFolder(in folder: String) throws(EmulatorImportError) -> String {
        let metadata = "\(folder)/\(EmulatorExport.metadataName)"
        if FileStamp.of(metadata) != nil {
            let bytes: [UInt8]
            do throws(FileError) {
                bytes = try SmallFile.read(metadata, byteLimit: metadataByteLimit).bytes
            } catch {
                throw .file(error)
            }
            let path: String?
            do throws(JSONError) { path = try databasePath(bytes) } catch {
                throw EmulatorImportError(error, in: bytes, path: metadata)
            }
            guard let path else { throw .nothingThere(path: folder) }
            return "\(folder)/\(path)"
        }
        let standard = "\(folder)/\(EmulatorExport.standardFolder)"
        return Folder.exists(standard) ? standard : folder
    }

    /// `database.path` of the metadata; nil when the export holds no database.
    private static func databasePath(_ text: [UInt8]) throws(JSONError) -> String? {
        try text.withBytes { bytes throws(JSONError) in
            var scanner = JSONScanner(bytes)
            var path: String?
            try scanner.enterObject()
            while let name = try scanner.nextMember() {
                guard name == "database", try scanner.peek() == UInt8(ascii: "{") else {
                    _ = try scanner.skipValue()
                    continue
                }
                try scanner.enterObject()
                while let name = try scanner.nextMember() {
                    if name == "path", try scanner.peek() == UInt8(ascii: "\"") {
                        path = try scanner.readString()
                    } else {
                        _ = try scanner.skipValue()
                    }
                }
            }
            try scanner.expectEnd()
            return path
        }
    }
}

/// Why an `--import` cannot be done.
enum EmulatorImportError: Error, Equatable, CustomStringConvertible {
    case file(FileError)
    /// A file or entry whose name is no name of a database.
    case name(path: String, DatabaseNameError)
    case notJSON(path: String, line: Int, column: Int, reason: String)
    case nothingThere(path: String)
    /// The database would not take it.
    case refused(path: String, reason: String)

    init(_ error: JSONError, in bytes: [UInt8], path: String) {
        let (line, column) = bytes.withBytes { error.lineAndColumn(in: $0) }
        self = .notJSON(path: path, line: line, column: column, reason: "\(error.reason)")
    }

    var description: String {
        switch self {
        case .file(let error): "--import: \(error)"
        case .name(let path, let error): "--import \(path): the database name \(error)"
        case .notJSON(let path, let line, let column, let reason):
            "--import \(path):\(line):\(column): is not JSON here (\(reason))"
        case .nothingThere(let path): "--import \(path): holds no NAME.json of a database"
        case .refused(let path, let reason): "--import \(path): \(reason)"
        }
    }
}
