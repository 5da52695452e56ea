import Testing

/// What `docs/internals/ARCHITECTURE.md` says about modules, threads and locks, against the source text.
@Suite("the page on architecture")
struct ArchitectureTests {
    /// The sources of the server's process that start threads or lock.
    private static func sources() throws -> [Repository.File] {
        let modules = [
            "/DatabaseServer/", "/Transport/", "/WriteAheadLog/", "/BlobStore/", "/JetStream/",
        ]
        return try Repository.files(below: "Sources", ".swift").filter { file in
            modules.contains(where: file.path.contains)
        }
    }

    @Test("says of each module of Swift what it is for")
    func modules() throws {
        let page = try Repository.file("docs/internals/ARCHITECTURE.md")
        let graph = try Repository.file("docs/internals/MODULES.md")
        let rows = graph.lines.prefix { !$0.hasPrefix("## What tests") }
            .filter { $0.contains(" | `") }
        let targets = rows.map { $0.split(separator: "`")[1] }
            .filter { !$0.hasPrefix("C") || $0.dropFirst().first?.isLowercase == true }
        #expect(targets.count > 30)
        for target in targets { #expect(page.text.contains("`\(target)`"), "\(target)") }
    }

    @Test("names each file that starts a thread or has a lock")
    func threadsAndLocks() throws {
        let page = try Repository.file("docs/internals/ARCHITECTURE.md")
        let marks = ["WorkThread {", "pthread_create(", "Mutex(", "Mutex<"]
        let files = try Self.sources().filter { file in marks.contains(where: file.text.contains) }
        #expect(files.count > 5)
        for file in files {
            let name = file.path.split(separator: "/").last ?? ""
            #expect(page.text.contains("`\(name)`"), "\(file)")
        }
    }

    @Test("names each kind of worker, and so does the page on metrics")
    func workers() throws {
        let page = try Repository.file("docs/internals/ARCHITECTURE.md")
        let metrics = try Repository.file("docs/operate/METRICS.md")
        let worker = try #require(Self.sources().first { $0.path.hasSuffix("/Worker.swift") })
        let pattern = try Regex(#"let (\w+) = .*Worker\(jobLimit"#, as: (Substring, Substring).self)
        let kinds = worker.text.matches(of: pattern).map(\.output.1)
        #expect(kinds.count == worker.lines(holding: "Worker(jobLimit").count && !kinds.isEmpty)
        for kind in kinds {
            #expect(page.text.contains("| worker `\(kind)` |"), "\(kind)")
            #expect(metrics.text.contains("`\(kind)` ("), "\(kind)")
        }
    }
}
