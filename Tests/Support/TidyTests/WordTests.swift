import Testing

@Suite("retired words")
struct WordTests {
    /// One line that has a retired word.
    private struct Hit: CustomStringConvertible {
        let path: String
        let number: Int
        let word: RetiredWord

        var description: String {
            "\(path):\(number) has '\(word.pattern)': write \(word.write)"
        }
    }

    /// Everything that people read of this repository; of the changelog, what is not released.
    private static func files() throws -> [Repository.File] {
        let folders = try ["Sources", "Tests", "docs", "rules"].flatMap { folder in
            try Repository.files(
                below: folder,
                ".swift",
                ".c",
                ".h",
                ".modulemap",
                ".html",
                ".js",
                ".css",
                ".py",
                ".txt",
                ".md",
                ".1",
                ".service",
                folder == "docs" ? ".md" : ".json"
            )
        }
        let scripts = try Repository.paths(below: "scripts").filter { !$0.contains("__pycache__") }
            .map(Repository.file)
        let others = [
            "README.md", "CONTRIBUTING.md", "Makefile", "Dockerfile", "Package.swift",
        ]
        return try folders + scripts + others.map(Repository.file) + [unreleased()]
    }

    private static func unreleased() throws -> Repository.File {
        let changes = try Repository.file("CHANGELOG.md")
        let released = try Regex(#"\n## \[?\d"#)
        let end = changes.text.firstRange(of: released)?.lowerBound ?? changes.text.endIndex
        return Repository.File(path: changes.path, text: String(changes.text[..<end]))
    }

    /// The lines of a file that have a retired word and no exemption.
    private static func hits(
        in file: Repository.File,
        _ words: [(word: RetiredWord, pattern: Regex<AnyRegexOutput>)]
    ) -> [Hit] {
        words.flatMap { word, pattern in
            let capitalised = word.part.prefix(1).uppercased() + word.part.dropFirst()
            return [word.part, capitalised].flatMap(file.lines(holding:))
                .filter { _, line in
                    let plain = word.allowed.reduce(line.lowercased()) {
                        $0.replacing($1, with: "")
                    }
                    return plain.contains(pattern)
                        && !WordExemption.all.contains { $0.covers(word, in: file.path, line) }
                }
                .map { Hit(path: file.path, number: $0.number, word: word) }
        }
    }

    private static func words() throws -> [(RetiredWord, Regex<AnyRegexOutput>)] {
        try RetiredWord.all.map { try ($0, Regex($0.pattern)) }
    }

    @Test("stay out of sources, tests, pages, rules and scripts")
    func stayOut() throws {
        let (files, words) = try (Self.files(), Self.words())
        #expect(files.count > 1000)
        for hit in files.flatMap({ Self.hits(in: $0, words) }) { Issue.record("\(hit)") }
    }

    @Test(
        "are found, and their plain senses are not",
        arguments: [
            ("the Judge", 1), ("a listener is told", 1), ("retold", 0), ("heldListens", 1),
            ("a held listen", 1), ("ASCII letters", 0), ("two letters", 1), ("lettering", 0),
            ("case .nobody", 0), ("asked by nobody", 0), ("for nobody", 1),
            ("every turn of the loop", 1),
        ]
    )
    func finding(text: String, count: Int) throws {
        let file = Repository.File(path: "Sources/a.swift", text: text)
        let hits = try Self.hits(in: file, Self.words())
        #expect(hits.count == count, "\(hits)")
    }

    @Test("are exempt only where a line of the kind is there still")
    func noOldExemptions() throws {
        let files = try Self.files()
        for exemption in WordExemption.all {
            let covered = files.filter { $0.path.hasPrefix(exemption.path) }
            let parts = exemption.part.map { [$0] } ?? RetiredWord.all.map(\.part)
            #expect(
                covered.contains { file in
                    parts.flatMap(file.lines(holding:)).contains { _, line in
                        exemption.line.map(line.contains) ?? true
                    }
                },
                "\(exemption.path): \(exemption.reason)"
            )
        }
    }
}
