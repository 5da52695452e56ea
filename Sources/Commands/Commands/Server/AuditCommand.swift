import ArgumentParser
import DatabaseServer
import Files
import HTTPClient
import JSONTree

struct AuditCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Show what administrators have changed: who, when, from where, and what.",
        discussion: """
            The newest stands last. With --data-dir it is read from the folder, whether or not a server runs.

            Examples:
              hearth audit
              hearth audit --follow --text rules.json
              hearth audit --data-dir hearth-data --json
            """,
    )

    @Option(help: .value("number", "At most this many, the newest ones (default: 100)."))
    var limit = 100

    @Option(help: "Only entries with this text in them.")
    var text: String?

    @Flag(help: "Print JSON, a line for each entry.")
    var json = false

    @Flag(name: .shortAndLong, help: "Go on with each new one, until Ctrl-C.")
    var follow = false

    @Option(help: "Read this data folder, and ask no server.")
    var dataDir: String?

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func validate() throws {
        try checkNumber("--limit", limit, in: 1...1_000)
        if dataDir != nil, follow {
            throw ValidationError("--follow asks a server; leave out --data-dir")
        }
    }

    private static let address = DatabasePath("/.inspect/audit")

    func outcome() throws(CommandError) -> CommandOutcome {
        if let dataDir { return try read(dataDir) }
        let database = try server.database()
        if follow {
            try follow(database)
            return .silent
        }
        let entries = try list(
            database.perform(database.request(.get, Self.address, parameters())).body,
            database
        )
        return .done(lines(entries))
    }

    /// The text of entries; on a terminal nothing in it steers that.
    private func lines(_ entries: [Node]) -> String {
        let text = entries.map(shown).joined(separator: "\n")
        return Descriptor.standardOutput.isTerminal ? TerminalText.shown(text) : text
    }

    private func read(_ folder: String) throws(CommandError) -> CommandOutcome {
        do throws(FileError) {
            let found = try AuditCommands.newest(limit, inDataFolder: folder, text: text)
            return .done(
                lines(found.lines.compactMap { Node(answer: $0) }),
                errors: found.damage.map { "warning: \($0)" } ?? ""
            )
        } catch {
            throw .failed("\(error)")
        }
    }

    /// Prints the newest entries, then each new one, until a signal stops it (exit code 0).
    private func follow(_ database: RemoteDatabase) throws(CommandError) {
        var last: Int64?
        try database.follow(Self.address) { () in
            last.map { parameters(after: $0) } ?? parameters()
        } lost: {
        } take: { (body) throws(CommandError) in
            let entries = try list(body, database)
            last = entries.last?.member("number").integer ?? last ?? 0
            return (entries.map { shown($0) + "\n" }.joined(), false)
        }
    }

    private func parameters(after: Int64? = nil) -> Parameters {
        Parameters([
            ("limit", after == nil ? "\(limit)" : "1000"), ("text", text),
            ("after", after.map { "\($0)" }),
        ])
    }

    /// The entries of an answer, the oldest first.
    private func list(_ body: [UInt8], _ database: RemoteDatabase) throws(CommandError) -> [Node] {
        guard let entries = Node(answer: body)?.member("entries") else {
            throw .failed("\(database.location) has no audit log: is it an older server?")
        }
        return entries.elements.reversed()
    }

    // MARK: - Shown

    /// An entry as a line: JSON, or for people.
    ///
    ///     2026-01-31T23:59:59.999Z u1 (account, admin) 203.0.113.7 console: the rules are replaced database=default version=7
    private func shown(_ entry: Node) -> String {
        guard !json else {
            var text: [UInt8] = []
            entry.appendJSON(to: &text, .value, .compact)
            return String(decoding: text, as: UTF8.self)
        }
        func text(_ name: String) -> String? { entry.member(name).string }
        let time = ISO8601.text(of: entry.member("time").integer ?? 0)
        let how = [text("with"), text("role")].compactMap(\.self).joined(separator: ", ")
        var line =
            "\(time) \(text("by") ?? "-") (\(how)) \(text("from") ?? "-") \(text("door") ?? "-"):"
        line += " \(text("what") ?? "-")"
        for name in ["database", "path"] {
            if let value = text(name) { line += " \(name)=\(value)" }
        }
        entry.member("details").visitChildren { key, value in
            line += " \(Key(key).string)=\(value.string ?? "")"
            return true
        }
        return line
    }
}
