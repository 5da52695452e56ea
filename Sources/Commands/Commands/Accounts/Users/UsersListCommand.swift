import ArgumentParser
import Files
import JSONTree

/// `hearth users list`: prints accounts page by page, a table or a line of JSON each.
struct UsersListCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List accounts in the order of their uids.",
        discussion: """
            Examples:
              hearth users list
              hearth users list --json | jq -r .email
              hearth users list --limit 20
            """,
    )

    @Flag(help: "Print a line of JSON for each.")
    var json = false

    @Option(help: .value("number", "At most this many."))
    var limit: Int?

    @OptionGroup
    var options: AccountServiceOptions

    func validate() throws {
        if let limit, limit < 1 {
            throw ValidationError("--limit: must be a number above 0, not \(limit)")
        }
    }

    func outcome() throws(CommandError) -> CommandOutcome {
        let service = try options.service()
        let output = try OutputFile(nil)
        var count = 0
        try service.visitPages(limit: limit) { (users) throws(CommandError) in
            if json {
                for user in users {
                    try output.write(try service.shown(user) + [UInt8(ascii: "\n")])
                }
            } else {
                var rows: [[String]] = []
                for user in users { rows.append(UserRecord(try service.tree(user)).row) }
                let text = TextTable.text(UserRecord.head, rows, showsHead: count == 0)
                try output.write(Array((text + "\n").utf8))
            }
            count += users.count
        }
        try output.finish()
        if count == 0, !json { service.database.console.say("there are no accounts") }
        return .silent
    }
}

struct UsersGetCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Show one account.",
        discussion: """
            Examples:
              hearth users get ann@example.com
              hearth users get +4930123456 --json
            """,
    )

    @OptionGroup
    var user: UserArgument

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup
    var options: AccountServiceOptions

    func outcome() throws(CommandError) -> CommandOutcome {
        let service = try options.service()
        let (record, text) = try service.find(user.selector, in: service.project())
        if json { return .done(String(decoding: try service.shown(text), as: UTF8.self)) }
        return .done(TextTable.text(["", ""], record.lines, showsHead: false))
    }
}

extension AccountService {
    /// Accounts of one answer. Source: Identity Toolkit API, `accounts:batchGet`.
    private static let pageSize = 1000

    /// Visits the accounts of the project, `pageSize` at a time, each as the server's text.
    func visitPages(
        limit: Int? = nil,
        _ visit: ([[UInt8]]) throws(CommandError) -> Void
    ) throws(CommandError) {
        let project = try project()
        var left = limit ?? .max
        var token: String?
        while left > 0 {
            var parameters = [("maxResults", "\(min(left, Self.pageSize))")]
            if let token { parameters.append(("nextPageToken", token)) }
            let body = try call("accounts:batchGet", of: project, parameters: parameters)
            let (users, next) = try page(body)
            if !users.isEmpty { try visit(Array(users.prefix(left))) }
            left -= users.count
            // A server that loses its position would be asked endlessly.
            guard let next, !users.isEmpty, next != token else { return }
            token = next
        }
    }

    /// The accounts of an answer, and the token of the next ones.
    func page(_ body: [UInt8]) throws(CommandError) -> (users: [[UInt8]], next: String?) {
        do throws(JSONError) {
            var users: [[UInt8]] = []
            var next: String?
            for (name, value) in try JSONParts.members(of: body) {
                if name == "users" { users = try JSONParts.elements(of: value) }
                if name == "nextPageToken" { next = JSONParts.word(value) }
            }
            return (users, next.flatMap { $0.isEmpty ? nil : $0 })
        } catch {
            throw .failed("the answer of \(database.origin) is not a list of accounts")
        }
    }

    fileprivate func shown(_ json: [UInt8]) throws(CommandError) -> [UInt8] {
        do throws(JSONError) {
            return try ShownUser.text(json)
        } catch {
            throw .failed("the answer of \(database.origin) is not an account")
        }
    }
}
