import ArgumentParser
import Files
import JSONTree

/// `hearth users list`: prints accounts page by page, a table or a line of JSON each.
struct UsersListCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List accounts in the order of their uids.",
        discussion: """
            --search lists at most 500: those of which the address, the phone number, the uid, or a word of the name begins with the \
            text. Of names, the first 100,000 accounts are looked at.

            Examples:
              hearth users list
              hearth users list --json | jq -r .email
              hearth users list --limit 20
              hearth users list --search ann
            """,
    )

    @Flag(help: "Print a line of JSON for each.")
    var json = false

    @Option(help: .value("number", "At most this many."))
    var limit: Int?

    @Option(help: .value("text", "Those whose address, number, uid or name begins with it."))
    var search: String?

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
        let show = { (users: [[UInt8]]) throws(CommandError) in
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
        if let search {
            try service.visit(search, limit: limit, show)
        } else {
            try service.visitPages(limit: limit, show)
        }
        try output.finish()
        if count == 0, !json {
            let words = search == nil ? "there are no accounts" : "no account fits"
            service.database.console.say(words)
        }
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

extension AdministeredServer {
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

    /// Visits the accounts that a search finds, and says when there may be more.
    func visit(
        _ search: String,
        limit: Int?,
        _ visit: ([[UInt8]]) throws(CommandError) -> Void
    ) throws(CommandError) {
        var body = JSONMembers()
        body.add("search", search)
        if let limit { body.add("limit", count: limit) }
        let answer = try call("accounts:query", of: project(), body.value)
        let users = try page(answer, in: "userInfo").users
        if !users.isEmpty { try visit(users) }
        if try tree(answer).member("isCut").boolean == true {
            database.console.say("there may be more: search for a longer text")
        }
    }

    /// The accounts of an answer, and the token of the next ones.
    func page(
        _ body: [UInt8],
        in list: String = "users"
    ) throws(CommandError) -> (users: [[UInt8]], next: String?) {
        do throws(JSONError) {
            var users: [[UInt8]] = []
            var next: String?
            for (name, value) in try JSONParts.members(of: body) {
                if name == list { users = try JSONParts.elements(of: value) }
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
