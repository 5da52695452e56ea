import JSONTree

/// Who has done something as an administrator.
struct AuditAuthor: Equatable, Sendable {
    /// How they have shown that they may.
    enum Credential: String, Sendable {
        case secret
        case serviceAccount = "service account"
        /// An account that has signed in to the console.
        case account
        /// A token of another kind that makes its holder an administrator.
        case token
        /// In development, nothing but being there.
        case development
    }

    /// A uid, the address of a service account, the subject of a token, else `admin` or `owner`.
    let name: String
    let credential: Credential
    /// In the console.
    var role: ConsoleSessions.Role?
}

/// What an administrator has done.
struct AuditDeed: Equatable, Sendable {
    var what: String
    /// nil for who has sent the request.
    var author: AuditAuthor?
    var database: String?
    var path: String?
    /// Names and values of what else there is to say; never data, passwords or keys.
    var details: [String: String] = [:]
}

/// One entry of the audit log: who has done what, when, and from where.
///
///     {"number":7,"time":1767225600000,"what":"the rules are replaced","by":"u1","with":"account","role":"admin",
///      "from":"203.0.113.7","door":"console","request":"PUT /.settings/rules.json","database":"default",
///      "details":{"before":"6","version":"7"}}
///
/// A line has at most `byteLimit` bytes: each text is cut to `textByteLimit`.
struct AuditEntry: Equatable, Sendable {
    /// Bytes of each text; a longer one ends with an ellipsis.
    static let textByteLimit = 512
    /// Details of one entry.
    static let detailLimit = 16
    /// Bytes of a line with its newline: 25 texts, each byte of them at most six when it is escaped, and the names.
    static let byteLimit = 128 * 1024

    let time: Timestamp
    let author: AuditAuthor
    /// The client's numeric address.
    let peer: String
    /// `console`, `/.ws`, `/.events`, `/.lp`; `request` for a request of its own.
    let door: String
    /// The method and the row of the table of routes.
    var request: String?
    let deed: AuditDeed

    /// The entry as a line.
    func line(number: Int) -> [UInt8] {
        let names = deed.details.keys.sorted().prefix(Self.detailLimit)
        let details = names.map { name in
            JSONValue.Member(name, .string(Self.cut(deed.details[name] ?? "")))
        }
        func text(_ value: String?) -> JSONValue? { value.map { .string(Self.cut($0)) } }
        let object: JSONValue = [
            "number": .number(number), "time": .integer(time.milliseconds),
            "what": text(deed.what), "by": text(author.name),
            "with": .string(author.credential.rawValue), "role": text(author.role?.rawValue),
            "from": text(peer), "door": text(door), "request": text(request),
            "database": text(deed.database), "path": text(deed.path),
            "details": details.isEmpty ? nil : .object(Array(details)),
        ]
        return object.text + [UInt8(ascii: "\n")]
    }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > textByteLimit else { return text }
        var shown = text.prefix(textByteLimit)
        while shown.utf8.count > textByteLimit - 3 { shown.removeLast() }
        return shown + "…"
    }
}
