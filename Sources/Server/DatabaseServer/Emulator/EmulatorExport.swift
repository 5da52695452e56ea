import DatabaseCore
import Files
import Glibc
import JSONTree

/// The folder that emulators write and read:
///
///     firebase-export-metadata.json     {"version": ..., "database": {"version": ..., "path": "database_export"}}
///     database_export/NAME.json         one database that holds anything, with priorities
///
/// Source: firebase-tools, `emulators:export`.
enum EmulatorExport {
    static let metadataName = "firebase-export-metadata.json"
    static let standardFolder = "database_export"
    static let suffix = ".json"

    /// Bytes of text handed to the disk at a time.
    private static let chunkByteCount = 256 * 1024

    /// Writes the databases into a folder, which is made where it is missing.
    ///
    /// Each file is replaced as a whole; those of databases that hold nothing any more go. What other emulators have in
    /// the folder stays, but for the metadata, which names ours alone. Memory: one chunk of text.
    static func write(_ databases: [DatabaseSnapshot], to folder: String) throws(FileError) {
        let data = "\(folder)/\(standardFolder)"
        try Folder.create(data)
        var kept: Set<String> = []
        for database in databases where !database.root.isAbsent {
            // A restored archive may have others, and a file of such a name could be anywhere.
            guard DatabaseName.isName(database.database.name) else { continue }
            let name = database.database.name + suffix
            try writeDatabase(database.root, to: "\(data)/\(name)")
            kept.insert(name)
        }
        for name in try Folder.names(data) where name.hasSuffix(suffix) && !kept.contains(name) {
            guard unlink("\(data)/\(name)") == 0 else {
                throw .system(call: "remove", path: "\(data)/\(name)", code: errno)
            }
        }
        let metadata = try FileDraft("\(folder)/\(metadataName)")
        try metadata.write(metadataText)
        try metadata.commit()
    }

    private static func writeDatabase(_ root: Node, to path: String) throws(FileError) {
        let file = try FileDraft(path)
        var stream = JSONStream(root, .export)
        var chunk: [UInt8] = []
        var isMore = true
        while isMore {
            chunk.removeAll(keepingCapacity: true)
            isMore = stream.next(into: &chunk, atLeast: chunkByteCount)
            try file.write(chunk)
        }
        try file.commit()
    }

    private static var metadataText: [UInt8] {
        let version = Version.text
        return Array(
            """
            {
              "version": "\(version)",
              "database": {
                "version": "\(version)",
                "path": "\(standardFolder)"
              }
            }

            """.utf8
        )
    }
}
