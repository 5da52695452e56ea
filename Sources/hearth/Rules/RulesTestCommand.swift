import ArgumentParser
import Files
import RulesCommands

/// `hearth rules test`.
struct RulesTestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Run files of cases against rules; exit code 1 when a case fails.",
        discussion: """
            A case is a request with the verdict that it must get. X.cases.json is judged by X.json beside it,
            unless the file brings 'rules' or --rules names others. A failure shows why it was decided so. Exit code 1 also
            for a file that cannot be read or holds no cases, 2 when no rules are found.

            Examples:
              hearth rules test rules/chat.cases.json
              hearth rules test rules/*.cases.json --verbose
              hearth rules test cases.json --rules database.rules.json --filter 'a stranger'
              hearth rules test rules/chat.cases.json --coverage-html coverage.html
              hearth rules test rules/*.cases.json --format junit > results.xml

            A file of cases:
              {"data": {"rooms": {"r1": {"owner": "ann"}}},
               "cases": [
                 {"name": "the owner renames the room", "op": "write", "path": "/rooms/r1/title", "value": "Tea",
                  "auth": {"uid": "ann"}, "expect": "allow"},
                 {"name": "nobody else does", "op": "write", "path": "/rooms/r1/title", "value": "Tea",
                  "auth": {"uid": "bob"}, "expect": "deny"}]}
            """,
    )

    @Argument(help: "Files of cases.", completion: .file(extensions: ["json"]))
    var files: [String] = []

    @Option(
        help: ArgumentHelp("Rules for all cases that bring none.", valueName: "file"),
        completion: .file()
    )
    var rules: String?

    @Option(help: ArgumentHelp("Only cases with this in their name.", valueName: "text"))
    var filter: String?

    @Flag(name: .shortAndLong, help: "List the cases that pass, too.")
    var verbose = false

    @Option(
        help: ArgumentHelp("How the outcome is written: text, json or junit.", valueName: "format")
    )
    var format = RulesTest.Format.text

    @Option(
        help: ArgumentHelp(
            "Write a page that shows what was evaluated, how often, and to which values.",
            valueName: "file"
        ),
        completion: .file()
    )
    var coverageHtml: String?

    func validate() throws {
        guard files.isEmpty else { return }
        let found = try Self.casesNearby()
        let example = found.isEmpty ? "" : "; here is '\(found[0])'"
        throw ValidationError("no files of cases are given\(example)")
    }

    /// Files of cases in the folder and in `rules/`.
    private static func casesNearby() throws -> [String] {
        var found: [String] = []
        for (folder, prefix) in [(".", ""), ("rules", "rules/")] where Folder.exists(folder) {
            let names = try Folder.names(folder).filter { $0.hasSuffix(".cases.json") }
            found += names.map { prefix + $0 }
        }
        return found
    }

    func run() throws {
        var test = RulesTest(files: files)
        test.rules = rules
        test.filter = filter
        test.isVerbose = verbose
        test.format = format
        test.coveragePage = coverageHtml
        try test.run().report()
    }
}

extension RulesTest.Format: ExpressibleByArgument {}
