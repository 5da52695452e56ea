import Foundation
import Glibc
import TestSupport

/// The files of this repository, as the tests of tidiness read them.
enum Repository {
    /// The folder that holds `Package.swift`.
    static let root = URL(filePath: Checkout.path)

    /// One text file.
    struct File: Sendable, CustomStringConvertible {
        /// Relative to the root: `Sources/Data/JSONTree/Node.swift`.
        let path: String
        let text: String

        var description: String { path }

        var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

        /// How many lines it has, one more than ends of them.
        var lineCount: Int { lines(holding: "\n").count + 1 }

        /// The lines that hold a text, numbered from 1.
        ///
        /// The C library looks for it: sources are megabytes, and tests are not optimised.
        func lines(holding part: String) -> [(number: Int, line: String)] {
            text.withCString { start in
                var found: [(Int, String)] = []
                var (line, number) = (start, 1)
                while let hit = strstr(line, part) {
                    while let end = strchr(line, 10), UnsafePointer(end) < hit {
                        line = UnsafePointer(end + 1)
                        number += 1
                    }
                    let end = strchr(hit, 10) ?? hit + strlen(hit)
                    let bytes = UnsafeRawBufferPointer(
                        start: line,
                        count: UnsafePointer(end) - line
                    )
                    found.append((number, String(decoding: bytes, as: UTF8.self)))
                    if end.pointee == 0 { break }
                    line = UnsafePointer(end + 1)
                    number += 1
                }
                return found
            }
        }

        func holds(_ part: String) -> Bool { !lines(holding: part).isEmpty }

        /// The sections of a page as links name them: `## Long work` is `long-work`.
        var sections: Set<String> {
            var (sections, isCode) = (Set<String>(), false)
            for line in lines {
                if line.hasPrefix("```") { isCode.toggle() }
                guard !isCode, line.hasPrefix("#"), let space = line.firstIndex(of: " ") else {
                    continue
                }
                let name = line[line.index(after: space)...].lowercased()
                    .filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
                sections.insert(name.replacing(" ", with: "-"))
            }
            return sections
        }

        /// The target a source file belongs to.
        var target: String {
            let parts = path.split(separator: "/")
            return parts.count > 3 && parts[0] == "Sources" ? String(parts[2]) : ""
        }
    }

    /// The paths below `folder`, sorted.
    static func paths(below folder: String) -> [String] {
        let start = root.appending(path: folder)
        guard let walk = FileManager.default.enumerator(atPath: start.path) else { return [] }
        return walk.compactMap { ($0 as? String).map { "\(folder)/\($0)" } }.sorted()
    }

    /// The files below `folder` whose names end in one of `suffixes`, by path.
    static func files(below folder: String, _ suffixes: String...) throws -> [File] {
        try paths(below: folder)
            .filter { path in suffixes.contains(where: path.hasSuffix) }
            .map(file)
    }

    static func file(_ path: String) throws -> File {
        File(
            path: path,
            text: try String(contentsOf: root.appending(path: path), encoding: .utf8)
        )
    }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appending(path: path).standardized.path)
    }
}
