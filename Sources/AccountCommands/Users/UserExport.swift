package import DataCommands
package import Files
import JSONTree

/// `hearth users export`: all accounts in the form of Firebase's `auth:export`, password hashes included.
package enum UserExport {
    /// Members of an account that are exported, in this order, with their names in the file.
    ///
    /// Source: firebase-tools, `auth:export`.
    private static let names = [
        ("localId", "localId"), ("email", "email"), ("emailVerified", "emailVerified"),
        ("passwordHash", "passwordHash"), ("salt", "salt"), ("displayName", "displayName"),
        ("photoUrl", "photoUrl"), ("lastLoginAt", "lastSignedInAt"), ("createdAt", "createdAt"),
        ("phoneNumber", "phoneNumber"), ("disabled", "disabled"),
        ("customAttributes", "customAttributes"),
    ]

    private static let providerNames: Set<String> = [
        "providerId", "rawId", "email", "displayName", "photoUrl",
    ]

    /// Writes the file, which its owner alone may read and which has its name when it is whole.
    ///
    /// - Parameters:
    ///   - service: Where the accounts are.
    ///   - path: The file; `-` for standard output.
    /// - Returns: How many there are, on standard error.
    /// - Throws: `CommandError` when the server refuses, or the file cannot be written.
    package static func write(
        _ service: AccountService,
        to path: String
    ) throws(CommandError) -> CommandOutcome {
        let file = try OutputFile(path, isPrivate: true)
        let console = service.database.console
        var count = 0
        try file.write(Array("{\"users\": [".utf8))
        try UserList.visitPages(of: service) { (users) throws(CommandError) in
            var text: [UInt8] = []
            for user in users {
                text += Array((count == 0 ? "\n" : ",\n").utf8)
                do throws(JSONError) {
                    text += try exported(user)
                } catch {
                    throw .failed("what \(service.database.origin) answers is no account")
                }
                count += 1
            }
            try file.write(text)
            if console.showsProgress { console.showLine("exported \(count) accounts") }
        }
        try file.write(Array("\n]}\n".utf8))
        try file.finish()
        if console.showsProgress, count > 0 { console.showLine("") }
        let words = "exported \(count) accounts\(path == "-" ? "" : " to \(path)")"
        return CommandOutcome(output: "", errors: words, exitCode: 0)
    }

    /// The text of an account in the file.
    ///
    /// - Throws: `JSONError` when it is no account.
    static func exported(_ json: [UInt8]) throws(JSONError) -> [UInt8] {
        var members: [String: [UInt8]] = [:]
        for (name, value) in try JSONParts.members(of: json) { members[name] = value }
        var out = JSONObjectText()
        for (name, nameInFile) in names {
            guard let value = members[name] else { continue }
            if name == "passwordHash" || name == "salt" {
                if let text = JSONParts.word(value) { out.add(nameInFile, Base64Form.plain(text)) }
            } else {
                out.add(nameInFile, json: value)
            }
        }
        var providers: [UInt8] = []
        for entry in try members["providerUserInfo"].map(JSONParts.elements) ?? [] {
            guard let text = try exported(provider: entry) else { continue }
            if !providers.isEmpty { providers.append(UInt8(ascii: ",")) }
            providers += text
        }
        out.add(
            "providerUserInfo",
            json: [UInt8(ascii: "[")] + providers + [UInt8(ascii: "]")]
        )
        return out.bytes
    }

    /// An identity at another provider; nil for what the account itself says: its password and its number.
    private static func exported(provider json: [UInt8]) throws(JSONError) -> [UInt8]? {
        var out = JSONObjectText()
        for (name, value) in try JSONParts.members(of: json) where providerNames.contains(name) {
            if name == "providerId", ["password", "phone"].contains(JSONParts.word(value)) {
                return nil
            }
            out.add(name, json: value)
        }
        return out.bytes
    }
}

/// The two alphabets of base64: files have `+` and `/`, addresses and requests `-` and `_`.
enum Base64Form {
    static func plain(_ text: String) -> String {
        replaced(
            text,
            [UInt8(ascii: "-"): UInt8(ascii: "+"), UInt8(ascii: "_"): UInt8(ascii: "/")]
        )
    }

    static func webSafe(_ text: String) -> String {
        replaced(
            text,
            [UInt8(ascii: "+"): UInt8(ascii: "-"), UInt8(ascii: "/"): UInt8(ascii: "_")]
        )
    }

    /// A hash of Hearth's own, `$argon2id$...`, is no base64 and stays as it is.
    private static func replaced(_ text: String, _ bytes: [UInt8: UInt8]) -> String {
        if text.hasPrefix("$") { return text }
        return String(decoding: text.utf8.map { bytes[$0] ?? $0 }, as: UTF8.self)
    }
}
