import ArgumentParser
import Files
import HTTPClient
import JSONTree

/// `hearth search`: prints a line for each key and value that has a text, as the server finds them.
struct SearchCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Find a text in the keys and values below a path, as administrator.",
        discussion: """
            Upper and lower case are the same. A number, true or false also finds values that are equal to it. A line \
            is the path and what is there; of a long text what stands around the first match, of a map the count of \
            its children.

            Examples:
              hearth search tea
              hearth search ann@example.com /users --in values
              hearth search 42 /orders --limit 10 --json
            """,
    )

    @Argument(help: "What to look for.")
    var text: String

    @Argument(help: "Look below this path.")
    var path = "/"

    @Option(
        name: .customLong("in"),
        help: .value("keys|values|both", "Where to look (default: both).")
    )
    var part: String?

    @Option(help: .value("number", "End after so many (default: 1000)."))
    var limit: Int?

    @Flag(help: "Print the server's lines of JSON, with how far it is.")
    var json = false

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func validate() throws {
        if text.isEmpty { throw ValidationError("The text to look for is empty.") }
        if let limit { try checkNumber("--limit", limit, in: 1...10_000) }
        if let part, !["keys", "values", "both"].contains(part) {
            throw ValidationError("--in: \(part) is not keys, values or both")
        }
    }

    private var parameters: Parameters {
        Parameters([
            ("text", text), ("path", path), ("in", part), ("limit", limit.map { "\($0)" }),
        ])
    }

    func outcome() throws(CommandError) -> CommandOutcome {
        let database = try server.database()
        let output = Descriptor.standardOutput
        var lines = SearchLines(isJSON: json, isShown: output.isTerminal)
        let showsProgress = database.console.showsProgress && !output.isTerminal
        let address = database.address
        let url = address.url(resource: "/.inspect/search", parameters)
        try database.perform(HTTPRequest(.get, url, headers: address.headers)) { bytes in
            let text = try lines.take(bytes)
            if !text.isEmpty { try output.write(text) }
            if showsProgress { database.console.showLine(lines.progress) }
        }
        if showsProgress { database.console.showLine("") }
        guard let end = lines.end else { throw .failed("the search broke off: \(lines.progress)") }
        if end != "all" {
            database.console.say("ended after \(lines.progress): \(SearchLines.words(of: end))")
        }
        return .silent
    }
}

/// The answer of a search, line by line.
struct SearchLines {
    let isJSON: Bool
    /// Whether the lines go to a terminal, which they must not drive.
    let isShown: Bool
    private var rest: [UInt8] = []
    /// How far the search is.
    private(set) var progress = "0 looked at"
    /// Why it has ended; nil before.
    private(set) var end: String?

    init(isJSON: Bool, isShown: Bool) {
        self.isJSON = isJSON
        self.isShown = isShown
    }

    /// Takes some bytes of the answer, and gives what is to be printed of them.
    mutating func take(_ bytes: some Sequence<UInt8>) throws(CommandError) -> [UInt8] {
        rest += bytes
        var output: [UInt8] = []
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            output += try shown(Array(rest[..<end]))
            rest.removeSubrange(...end)
        }
        return isShown ? TerminalText.shown(output) : output
    }

    private mutating func shown(_ line: [UInt8]) throws(CommandError) -> [UInt8] {
        let members: Node
        do throws(JSONError) { members = try .readingAnyJSON(line) } catch {
            throw .failed("the server sends something else than a search: is it an older one?")
        }
        if let path = members.member("path").string {
            if isJSON { return line + [UInt8(ascii: "\n")] }
            return Array("\(path)\t".utf8) + members.member("value").json() + [UInt8(ascii: "\n")]
        }
        let (looked, found) = (members.member("looked").integer, members.member("found").integer)
        progress = "\(looked ?? 0) looked at, \(found ?? 0) found"
        end = members.member("end").string
        return isJSON ? line + [UInt8(ascii: "\n")] : []
    }

    /// Why a search has ended before it was through.
    static func words(of end: String) -> String {
        switch end {
        case "hits": "there may be more; --limit takes up to 10000"
        case "bytes": "the lines are too many bytes; look further below"
        default: "it has taken too long; look further below"
        }
    }
}
