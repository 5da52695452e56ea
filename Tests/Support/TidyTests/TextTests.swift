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
            .filter { !$0.path.hasPrefix("Tests/Support/TidyTests/") }
        let pages = try Repository.files(below: "docs", ".md")
        let rules = try Repository.files(below: "rules", ".json")
        let others = [
            "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile", "Dockerfile",
            "Package.swift", "scripts/setup",
        ]
        return try sources + tests + pages + rules + others.map(Repository.file)
    }

    @Test("of a source or test file has at most 800 lines")
    func fileLength() throws {
        for file in try Self.everything() where !file.path.hasSuffix(".json") {
            #expect(file.lineCount <= 800, "\(file) has \(file.lineCount) lines")
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
            for word in file.path.hasPrefix("Tests/") ? words + ofTests : words {
                for (number, _) in file.lines(holding: word) {
                    Issue.record("\(file):\(number) has '\(word)'")
                }
            }
        }
    }

    /// What a comment says that tells why memory may be shared.
    private static let reasons = ["own", "immutable", "as it was"]

    @Test("says who owns the memory wherever the compiler's checks are off")
    func uncheckedIsExplained() throws {
        for file in try Repository.files(below: "Sources", ".swift") {
            let unchecked = ["@unchecked Sendable", "nonisolated(unsafe)"]
                .flatMap { file.lines(holding: $0) }
            if unchecked.isEmpty { continue }
            let explained = file.lines(holding: "//").first { _, line in
                Self.reasons.contains(where: line.contains)
            }
            for (number, _) in unchecked {
                #expect(
                    explained.map { $0.number <= number } ?? false,
                    "\(file):\(number) has no comment before it on the owner"
                )
            }
        }
    }

    @Test("names no type a manager, handler, helper, utility or implementation")
    func typeNames() throws {
        let pattern = try Regex(
            #"\b(struct|class|enum|actor|protocol)\s+\w*(Manager|Handler|Helper|Utils?|Utility|Impl)\b"#
        )
        for file in try Repository.files(below: "Sources", ".swift") {
            for word in ["Manager", "Handler", "Helper", "Util", "Impl"] {
                for (number, line) in file.lines(holding: word) where line.contains(pattern) {
                    Issue.record("\(file):\(number): \(line)")
                }
            }
        }
    }

    @Test("has no tabs and no spaces at line ends in sources")
    func whiteSpace() throws {
        for file in try Repository.files(below: "Sources", ".swift", ".c", ".h") {
            for (number, _) in file.lines(holding: "\t") + file.lines(holding: " \n") {
                Issue.record("\(file):\(number) has a tab, or a space at its end")
            }
            #expect(!file.text.hasSuffix(" "), "\(file)")
        }
    }
}

@Suite("links")
struct LinkTests {
    private static func pages() throws -> [Repository.File] {
        try Repository.files(below: "docs", ".md")
            + ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "rules/README.md"]
            .map(Repository.file)
    }

    @Test("between pages resolve")
    func resolve() throws {
        let pattern = try Regex(#"\]\(([^)\s]+)\)"#, as: (Substring, Substring).self)
        for page in try Self.pages() {
            let folder = page.path.split(separator: "/").dropLast().joined(separator: "/")
            for (number, line) in page.lines(holding: "](") {
                for match in line.matches(of: pattern) {
                    let target = match.output.1
                    if target.contains("://") || target.hasPrefix("#")
                        || target.hasPrefix("mailto:")
                    {
                        continue
                    }
                    let path = target.split(separator: "#").first ?? ""
                    let whole = folder.isEmpty ? String(path) : "\(folder)/\(path)"
                    #expect(Repository.exists(whole), "\(page):\(number) links to \(target)")
                }
            }
        }
    }

    @Test("to sections resolve")
    func sections() throws {
        let pattern = try Regex(
            #"\]\(([^)\s#]*)#([^)\s]+)\)"#,
            as: (Substring, Substring, Substring).self
        )
        for page in try Self.pages() {
            let folder = page.path.split(separator: "/").dropLast().joined(separator: "/")
            for (number, line) in page.lines(holding: "](") where !line.contains("://") {
                for match in line.matches(of: pattern) {
                    let (_, path, section) = match.output
                    let whole = folder.isEmpty || path.isEmpty ? String(path) : "\(folder)/\(path)"
                    let target = try path.isEmpty ? page : Repository.file(whole)
                    #expect(
                        target.sections.contains(String(section)),
                        "\(page):\(number) links to \(path)#\(section)"
                    )
                }
            }
        }
    }

    /// `PowerCutTests/seeds` is a function of a suite, `test_crash.py::test_...` one of a file of client tests.
    @Test("of tests in code marks name tests that exist")
    func testNames() throws {
        let pattern = try Regex(
            #"`(\w+Tests/|test_\w+\.py::)([a-z]\w*)`"#,
            as: (Substring, Substring, Substring).self
        )
        let tests = try Repository.files(below: "Tests", ".swift", ".py")
        var count = 0
        for page in try Self.pages() {
            for (number, line) in ["Tests/", ".py::"].flatMap(page.lines(holding:)) {
                for match in line.matches(of: pattern) {
                    let (_, place, name) = match.output
                    let isSwift = place.hasSuffix("/")
                    let parts =
                        isSwift
                        ? ["struct \(place.dropLast()) ", "func \(name)("] : ["def \(name)("]
                    let exists = tests.contains { file in
                        (isSwift || file.path.hasSuffix("/\(place.dropLast(2))"))
                            && parts.allSatisfy(file.holds)
                    }
                    #expect(exists, "\(page):\(number): \(place)\(name)")
                    count += 1
                }
            }
        }
        #expect(count > 100)
    }

    /// A file may stand in another folder tomorrow: the pages on internals name it by the end of its path.
    ///
    /// A facet needs no ending: `Node+Hash`.
    @Test("of file names in code marks of the pages on internals name files that exist")
    func fileNames() throws {
        let pattern = try Regex(
            #"`((?:[\w+.-]+/)*(?:[\w+-]+\.(?:swift|py|c|h)|[A-Z]\w+\+\w+))`"#,
            as: (Substring, Substring).self
        )
        let there = ["Sources", "Tests"].flatMap(Repository.paths(below:)) + ["Package.swift"]
        var ends: Set<Substring> = []
        for path in there {
            var rest = path[...]
            ends.insert(rest)
            while let slash = rest.firstIndex(of: "/") {
                rest = rest[rest.index(after: slash)...]
                ends.insert(rest)
            }
        }
        for page in try Repository.files(below: "docs/internals", ".md") {
            for (number, line) in page.lines(holding: "`") {
                for match in line.matches(of: pattern) {
                    let name = match.output.1
                    let file = name.contains(".") ? name : name + ".swift"
                    #expect(ends.contains(file), "\(page):\(number): \(name)")
                }
            }
        }
    }
}
