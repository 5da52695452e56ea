import DatabaseCore
import Files
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
        let bytes = try Self.bytes(of: path, Self.byteLimit)
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
            let bytes = try bytes(of: metadata, metadataByteLimit)
            let content: Node
            do throws(JSONError) { content = try Node.readingAnyJSON(bytes) } catch {
                throw EmulatorImportError(error, in: bytes, path: metadata)
            }
            // An export of other emulators alone has no such member.
            guard let path = content.member("database").member("path").string else {
                throw .nothingThere(path: folder)
            }
            return "\(folder)/\(path)"
        }
        let standard = "\(folder)/\(EmulatorExport.standardFolder)"
        return Folder.exists(standard) ? standard : folder
    }

    private static func bytes(
        of path: String,
        _ byteLimit: Int
    ) throws(EmulatorImportError) -> [UInt8] {
        do throws(FileError) { return try SmallFile.read(path, byteLimit: byteLimit).bytes } catch {
            throw .file(error)
        }
    }
}

/// A file of `--import`, read.
struct ReadImport {
    let source: EmulatorImport
    let content: Draft

    /// Everything that the configuration wants to begin with.
    static func all(_ configuration: Configuration) throws(EmulatorImportError) -> [ReadImport] {
        var read: [ReadImport] = []
        for text in configuration.emulator.imports {
            let standard = configuration.selection.standard
            for source in try EmulatorImport.find(text, standard: standard) {
                read.append(ReadImport(source: source, content: try source.read()))
            }
        }
        return read
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
