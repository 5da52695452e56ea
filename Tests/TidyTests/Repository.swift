import Foundation

/// The files of this repository, as the tests of tidiness read them.
enum Repository {
    /// The folder that holds `Package.swift`.
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// One text file.
    struct File: Sendable, CustomStringConvertible {
        /// Relative to the root: `Sources/JSONTree/Node.swift`.
        let path: String
        let lines: [Substring]

        var description: String { path }

        /// The target a source file belongs to.
        var target: String {
            let parts = path.split(separator: "/")
            return parts.count > 2 && parts[0] == "Sources" ? String(parts[1]) : ""
        }
    }

    /// The files below `folder` whose names end in one of `suffixes`, by path.
    static func files(below folder: String, _ suffixes: String...) throws -> [File] {
        let start = root.appending(path: folder)
        guard let walk = FileManager.default.enumerator(atPath: start.path) else { return [] }
        var paths: [String] = []
        for case let path as String in walk where suffixes.contains(where: path.hasSuffix) {
            paths.append("\(folder)/\(path)")
        }
        return try paths.sorted().map(file)
    }

    static func file(_ path: String) throws -> File {
        let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
        return File(
            path: path,
            lines: text.split(separator: "\n", omittingEmptySubsequences: false)
        )
    }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appending(path: path).standardized.path)
    }
}
