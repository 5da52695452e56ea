import Foundation
import Testing

@Suite("the repository's text")
struct TextTests {
    private static func everything() throws -> [Repository.File] {
        // This folder names the words that it forbids.
        let sources = try Repository.files(
            below: "Sources",
            ".swift",
            ".c",
            ".h",
            ".modulemap"
        )
        let tests = try Repository.files(below: "Tests", ".swift", ".py", ".json", ".txt")
            .filter { !$0.path.hasPrefix("Tests/TidyTests/") }
        let pages = try Repository.files(below: "docs", ".md")
        let rules = try Repository.files(below: "rules", ".json")
        let others = [
            "README.md", "CHANGELOG.md", "Makefile", "Dockerfile", "Package.swift", "scripts/setup",
        ]
        return try sources + tests + pages + rules + others.map(Repository.file)
    }

    @Test("of a source or test file has at most 800 lines")
    func fileLength() throws {
        for file in try Self.everything() where !file.path.hasSuffix(".json") {
            #expect(file.lines.count <= 800, "\(file) has \(file.lines.count) lines")
        }
    }

    @Test("leaves nothing for later and names no machine")
    func forbiddenWords() throws {
        let words = [
            "TODO", "FIXME", "HACK", "/work/", "/root/", "/opt/", "/home/", "pypi.org",
            "fatalError(", "try!", "as!", "NSLock", "Thread.sleep", "usleep(",
        ]
        // Services wait before they try again, and are given another wait by their tests.
        let ofTests = ["Task.sleep"]
        for file in try Self.everything() {
            for (index, line) in file.lines.enumerated() {
                let forbidden = file.path.hasPrefix("Tests/") ? words + ofTests : words
                for word in forbidden where line.contains(word) {
                    Issue.record("\(file):\(index + 1) has '\(word)'")
                }
            }
        }
    }

    /// What a comment says that tells why memory may be shared.
    private static let reasons = ["own", "immutable", "as it was"]

    @Test("says who owns the memory wherever the compiler is told to look away")
    func uncheckedIsExplained() throws {
        for file in try Repository.files(below: "Sources", ".swift") {
            var isExplained = false
            for (index, line) in file.lines.enumerated() {
                isExplained =
                    isExplained
                    || line.contains("//") && Self.reasons.contains(where: line.contains)
                if line.contains("@unchecked Sendable") || line.contains("nonisolated(unsafe)") {
                    #expect(
                        isExplained,
                        "\(file):\(index + 1) has no comment before it on the owner"
                    )
                }
            }
        }
    }

    @Test("names no type a manager, handler, helper, utility or implementation")
    func typeNames() throws {
        let pattern = try Regex(
            #"\b(struct|class|enum|actor|protocol)\s+\w*(Manager|Handler|Helper|Utils?|Utility|Impl)\b"#
        )
        for file in try Repository.files(below: "Sources", ".swift") {
            for (index, line) in file.lines.enumerated() where line.contains(pattern) {
                Issue.record("\(file):\(index + 1): \(line)")
            }
        }
    }

    @Test("has no tabs and no spaces at line ends in sources")
    func whiteSpace() throws {
        for file in try Repository.files(below: "Sources", ".swift", ".c", ".h") {
            for (index, line) in file.lines.enumerated() {
                #expect(!line.contains("\t") && !line.hasSuffix(" "), "\(file):\(index + 1)")
            }
        }
    }
}

@Suite("links")
struct LinkTests {
    @Test("between pages resolve")
    func resolve() throws {
        let pattern = try Regex(#"\]\(([^)\s]+)\)"#, as: (Substring, Substring).self)
        let pages =
            try Repository.files(below: "docs", ".md")
            + ["README.md", "CHANGELOG.md"].map(Repository.file)
        for page in pages {
            let folder = page.path.split(separator: "/").dropLast().joined(separator: "/")
            for (index, line) in page.lines.enumerated() {
                for match in line.matches(of: pattern) {
                    let target = match.output.1
                    if target.contains("://") || target.hasPrefix("#")
                        || target.hasPrefix("mailto:")
                    {
                        continue
                    }
                    let path = target.split(separator: "#").first ?? ""
                    let whole = folder.isEmpty ? String(path) : "\(folder)/\(path)"
                    #expect(Repository.exists(whole), "\(page):\(index + 1) links to \(target)")
                }
            }
        }
    }

    @Test("of paths in code marks in the architecture page name files that exist")
    func codeMap() throws {
        let page = "docs/ARCHITECTURE.md"
        guard Repository.exists(page) else { return }
        let pattern = try Regex(
            #"`((?:Sources|Tests|docs|rules|scripts)/[\w+./-]+)`"#,
            as: (Substring, Substring).self
        )
        for (index, line) in try Repository.file(page).lines.enumerated() {
            for match in line.matches(of: pattern) {
                #expect(
                    Repository.exists(String(match.output.1)),
                    "\(page):\(index + 1): \(match.output.1)"
                )
            }
        }
    }
}
