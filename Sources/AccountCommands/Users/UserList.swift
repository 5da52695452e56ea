package import DataCommands
package import Files
import JSONTree

/// `hearth users list` and `hearth users get`.
package enum UserList {
    /// Accounts of one answer. Source: Identity Toolkit API, `accounts:batchGet`.
    static let pageSize = 1000

    /// Prints accounts in the order of their uids, page by page: a table, or a line of JSON each.
    ///
    /// - Parameters:
    ///   - service: Where they are.
    ///   - limit: At most so many; nil for all.
    ///   - isJSON: Whether as JSON.
    /// - Throws: `CommandError` when the server refuses, or nobody takes the output.
    package static func print(
        _ service: AccountService,
        limit: Int?,
        isJSON: Bool
    ) throws(CommandError) {
        let output = try OutputFile(nil)
        var count = 0
        try visitPages(of: service, limit: limit) { (users) throws(CommandError) in
            if isJSON {
                for json in users {
                    try output.write(try shown(json, service) + [UInt8(ascii: "\n")])
                }
            } else {
                var rows: [[String]] = []
                for json in users { rows.append(UserRecord(try service.tree(json)).row) }
                let text = TextTable.text(UserRecord.head, rows, showsHead: count == 0)
                try output.write(Array((text + "\n").utf8))
            }
            count += users.count
        }
        try output.finish()
        if count == 0, !isJSON { service.database.console.say("there are no accounts") }
    }

    /// Hands on the accounts of the project, `pageSize` at a time, each as the text that the server tells.
    static func visitPages(
        of service: AccountService,
        limit: Int? = nil,
        _ visit: ([[UInt8]]) throws(CommandError) -> Void
    ) throws(CommandError) {
        let project = try service.project()
        var left = limit ?? .max
        var token: String?
        while left > 0 {
            var parameters = [("maxResults", "\(min(left, pageSize))")]
            if let token { parameters.append(("nextPageToken", token)) }
            let body = try service.call("accounts:batchGet", of: project, parameters)
            let (users, next) = try page(body, service)
            if !users.isEmpty { try visit(Array(users.prefix(left))) }
            left -= users.count
            // A server that forgets where it was would be asked for ever.
            guard let next, !users.isEmpty, next != token else { return }
            token = next
        }
    }

    private static func page(
        _ body: [UInt8],
        _ service: AccountService
    ) throws(CommandError) -> (users: [[UInt8]], next: String?) {
        do throws(JSONError) {
            var users: [[UInt8]] = []
            var next: String?
            for (name, value) in try JSONParts.members(of: body) {
                if name == "users" { users = try JSONParts.elements(of: value) }
                if name == "nextPageToken" { next = JSONParts.word(value) }
            }
            return (users, next.flatMap { $0.isEmpty ? nil : $0 })
        } catch {
            throw .failed("what \(service.database.origin) answers is no list of accounts")
        }
    }

    /// What is known of one account.
    package static func show(
        _ selector: UserSelector,
        _ service: AccountService,
        isJSON: Bool
    ) throws(CommandError) -> CommandOutcome {
        let (user, json) = try service.find(selector, in: service.project())
        if isJSON {
            return .done(String(decoding: try shown(json, service), as: UTF8.self))
        }
        return .done(TextTable.text(["", ""], user.lines, showsHead: false))
    }

    private static func shown(
        _ json: [UInt8],
        _ service: AccountService
    ) throws(CommandError) -> [UInt8] {
        do throws(JSONError) {
            return try ShownUser.text(json)
        } catch {
            throw .failed("what \(service.database.origin) answers is no account")
        }
    }
}
