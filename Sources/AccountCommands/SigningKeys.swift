package import DataCommands
package import Files
import HTTPClient
import JSONTree

/// `hearth keys ...`: the keys that sign ID tokens.
package enum SigningKeys {
    private static let resource = "/.accounts/keys.json"

    /// Lists the keys: a table, or as the server tells them.
    package static func list(
        _ database: RemoteDatabase,
        isJSON: Bool
    ) throws(CommandError) -> CommandOutcome {
        let answer = try AccountService.answer(of: database, .get, resource)
        return try outcome(answer, of: database, isJSON: isJSON)
    }

    /// Has the server sign with a new key from now on; what the ones before signed counts until it expires.
    package static func rotate(
        _ database: RemoteDatabase,
        isJSON: Bool
    ) throws(CommandError) -> CommandOutcome {
        let answer = try AccountService.answer(of: database, .post, resource, json: [])
        return try outcome(answer, of: database, isJSON: isJSON)
    }

    private static func outcome(
        _ answer: [UInt8],
        of database: RemoteDatabase,
        isJSON: Bool
    ) throws(CommandError) -> CommandOutcome {
        if isJSON { return .done(String(decoding: answer, as: UTF8.self)) }
        var rows: [[String]] = []
        try AccountService.tree(answer, of: database).member("keys").visitChildren { _, key in
            rows.append(
                ["kid", "state", "algorithm", "created", "signsFrom", "verifiesUntil"].map {
                    key.member($0).string ?? ""
                }
            )
            return true
        }
        if rows.isEmpty { return .done("\(database.origin) signs no tokens") }
        return .done(
            TextTable.text(
                ["key", "state", "algorithm", "created", "signs from", "checked until"],
                rows
            )
        )
    }
}
