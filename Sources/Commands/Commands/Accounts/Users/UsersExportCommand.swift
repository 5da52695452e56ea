import ArgumentParser
import Files
import JSONTree

struct UsersExportCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write all accounts to a file, in the form of 'firebase auth:export'.",
        discussion: """
            The file holds the hashes of passwords: only its owner can read it, and no one else should. 'hearth users import' takes it in \
            on another server, where the users go on with their passwords. It has its name when it is whole.

            Examples:
              hearth users export users.json
              hearth users export - | gzip > users.json.gz
            """,
    )

    @Argument(help: "The file; '-' writes to standard output.", completion: .file())
    var file: String

    @OptionGroup
    var options: AccountServiceOptions

    func outcome() throws(CommandError) -> CommandOutcome {
        let service = try options.service()
        let file = try OutputFile(self.file, isPrivate: true)
        let console = service.database.console
        var count = 0
        try file.write(Array("{\"users\": [".utf8))
        try service.visitPages { (users) throws(CommandError) in
            var text: [UInt8] = []
            for user in users {
                text += Array((count == 0 ? "\n" : ",\n").utf8)
                do throws(JSONError) {
                    text += try UserExport.exported(user)
                } catch {
                    throw .failed("the answer of \(service.database.origin) has no account")
                }
                count += 1
            }
            try file.write(text)
            if console.showsProgress { console.showLine("exported \(count) accounts") }
        }
        try file.write(Array("\n]}\n".utf8))
        try file.finish()
        if console.showsProgress, count > 0 { console.showLine("") }
        let words = "exported \(count) accounts\(self.file == "-" ? "" : " to \(self.file)")"
        return .done("", errors: words)
    }
}

/// Accounts in the form of Firebase's `auth:export`, password hashes included.
enum UserExport {
    /// Members of an account that are exported, in this order. Source: firebase-tools, `auth:export`.
    private static let names = [
        "localId", "email", "emailVerified", "passwordHash", "salt", "displayName", "photoUrl",
        "lastLoginAt", "createdAt", "phoneNumber", "disabled", "customAttributes",
    ]

    private static let providerNames: Set<String> = [
        "providerId", "rawId", "email", "displayName", "photoUrl",
    ]

    /// The text of an account in the file.
    static func exported(_ json: [UInt8]) throws(JSONError) -> [UInt8] {
        var members: [String: [UInt8]] = [:]
        for (name, value) in try JSONParts.members(of: json) { members[name] = value }
        var out = JSONMembers()
        for name in names {
            guard let value = members[name] else { continue }
            switch name {
            case "passwordHash", "salt":
                out.add(name, JSONParts.word(value).map(Base64Form.plain))
            case "lastLoginAt": out.add("lastSignedInAt", .raw(value))
            default: out.add(name, .raw(value))
            }
        }
        var providers: [JSONValue] = []
        for entry in try members["providerUserInfo"].map(JSONParts.elements) ?? [] {
            if let text = try exported(provider: entry) { providers.append(text) }
        }
        out.add("providerUserInfo", .list(providers))
        return out.value.text
    }

    /// An identity at another provider; nil for the account's own: its password and its number.
    private static func exported(provider json: [UInt8]) throws(JSONError) -> JSONValue? {
        var out = JSONMembers()
        for (name, value) in try JSONParts.members(of: json) where providerNames.contains(name) {
            if name == "providerId", ["password", "phone"].contains(JSONParts.word(value)) {
                return nil
            }
            out.add(name, .raw(value))
        }
        return out.value
    }
}

/// The two alphabets of base64: files have `+` and `/`, addresses and requests `-` and `_`.
enum Base64Form {
    static func plain(_ text: String) -> String { replaced(text, ["-": "+", "_": "/"]) }

    static func webSafe(_ text: String) -> String { replaced(text, ["+": "-", "/": "_"]) }

    /// Hearth's own hash, `$argon2id$...`, is not base64 and stays unchanged.
    private static func replaced(
        _ text: String,
        _ others: [Unicode.Scalar: Unicode.Scalar]
    ) -> String {
        if text.hasPrefix("$") { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { others[$0] ?? $0 }))
    }
}
