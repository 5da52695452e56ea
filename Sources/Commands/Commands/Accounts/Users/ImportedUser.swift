import JSONTree

extension ImportedUser {
    /// Why an account of a file is not sent; the text follows its location.
    struct Fault: Error, Equatable {
        let words: String
    }

    /// Members that are sent as they are; others of a file are passed over.
    private static let names: Set<String> = [
        "localId", "email", "emailVerified", "displayName", "photoUrl", "createdAt", "lastLoginAt",
        "phoneNumber", "disabled", "customAttributes", "providerUserInfo", "validSince",
        "initialEmail", "emailLinkSignin", "customAuth", "passwordUpdatedAt",
        // A server that knows no second factors refuses such a user, rather than letting one in by the first alone.
        "mfaInfo",
    ]

    /// One of a JSON file.
    init(object item: UserObjects.Item) throws(Fault) {
        location = item.location
        var body = JSONMembers()
        let members: [(name: String, value: [UInt8])]
        do throws(JSONError) {
            members = try JSONParts.members(of: item.json)
        } catch {
            throw Fault(words: "this is not JSON (byte \(error.offset) of it)")
        }
        var ways = SignInWays()
        for (name, value) in members where value != Array("null".utf8) {
            switch name {
            case "email": ways.hasEmail = value != Self.emptyText
            case "phoneNumber": ways.hasPhoneNumber = value != Self.emptyText
            case "passwordHash": ways.hasPassword = value != Self.emptyText
            case "customAuth": ways.isCustom = value == Array("true".utf8)
            case "providerUserInfo": ways.providers = Self.providers(value)
            default: break
            }
            switch name {
            case "passwordHash", "salt":
                guard let text = JSONParts.word(value) else {
                    throw Fault(words: "'\(name)' is not text")
                }
                body.add(name, try Self.base64(text, name))
            case "lastSignedInAt": body.add("lastLoginAt", .raw(value))
            case _ where Self.names.contains(name): body.add(name, .raw(value))
            default: break
            }
        }
        json = body.value.text
        self.ways = ways
    }

    private static let emptyText = Array("\"\"".utf8)

    /// The names of providers in a list of `providerUserInfo`, but for those that follow from address and number.
    /// Whether the list is one is the server's to say.
    private static func providers(_ json: [UInt8]) -> [String] {
        let names = Node(answer: json)?.elements.compactMap { $0.member("providerId").string }
        return (names ?? []).filter { $0 != "password" && $0 != "phone" }
    }

    /// Where each provider's four cells begin: id, address, name, photo. Source: firebase-tools, `auth:export`.
    private static let providerColumns = [
        ("google.com", 7), ("facebook.com", 11), ("twitter.com", 15), ("github.com", 19),
        ("apple.com", 28), ("microsoft.com", 32), ("gc.apple.com", 36),
        ("playgames.google.com", 40), ("linkedin.com", 44), ("yahoo.com", 48),
    ]

    /// Columns of a row that must be there: up to the first provider's.
    private static let leastCellCount = 7

    /// One of a CSV file.
    init(row: UserRows.Row) throws(Fault) {
        location = row.location
        guard row.cells.count >= Self.leastCellCount else {
            throw Fault(
                words: "\(row.cells.count) cells are too few: 'auth:export' writes 28 or more"
            )
        }
        let cell = { (column: Int) -> String? in
            guard column < row.cells.count else { return nil }
            let text = row.cells[column].trimmingSpaces
            return text.isEmpty ? nil : text
        }
        var body = JSONMembers()
        body.add("localId", cell(0))
        body.add("email", cell(1))
        body.add("emailVerified", .boolean(cell(2) == "true"))
        if let hash = cell(3) { body.add("passwordHash", try Self.base64(hash, "passwordHash")) }
        if let salt = cell(4) { body.add("salt", try Self.base64(salt, "salt")) }
        body.add("displayName", cell(5))
        body.add("photoUrl", cell(6))
        body.add("createdAt", cell(23))
        body.add("lastLoginAt", cell(24))
        body.add("phoneNumber", cell(25))
        if cell(26) == "true" { body.add("disabled", .boolean(true)) }
        body.add("customAttributes", cell(27))
        var ways = SignInWays()
        ways.hasEmail = cell(1) != nil
        ways.hasPassword = cell(3) != nil
        ways.hasPhoneNumber = cell(25) != nil
        var providers: [JSONValue] = []
        for (provider, column) in Self.providerColumns {
            guard let id = cell(column) else { continue }
            ways.providers.append(provider)
            var entry = JSONMembers()
            entry.add("providerId", provider)
            entry.add("rawId", id)
            entry.add("email", cell(column + 1))
            entry.add("displayName", cell(column + 2))
            entry.add("photoUrl", cell(column + 3))
            providers.append(entry.value)
        }
        body.add("providerUserInfo", .list(providers))
        json = body.value.text
        self.ways = ways
    }

    /// Those of both alphabets.
    private static let base64Digits = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_".utf8
    )

    /// A hash or a salt as requests have it; hashes of Hearth's own stay as they are.
    private static func base64(_ text: String, _ name: String) throws(Fault) -> String {
        if text.hasPrefix("$argon2id$") { return text }
        // Firebase keeps bcrypt hashes that were imported there until their user signs in, in base64.
        let isBcrypt = ["JDJhJ", "JDJiJ", "JDJ5J"].contains { text.hasPrefix($0) }
        if text.hasPrefix("$") || name == "passwordHash" && isBcrypt {
            let kind =
                isBcrypt ? "bcrypt" : text.split(separator: "$").first.map { "'$\($0)$'" } ?? "'$'"
            throw Fault(
                words:
                    "'\(name)' is a hash of the kind \(kind), which is not supported; leave it out, and the user sets "
                    + "a password by 'hearth users reset'"
            )
        }
        let digits = text.utf8.filter { $0 != UInt8(ascii: "=") }
        guard digits.count % 4 != 1, digits.allSatisfy(base64Digits.contains) else {
            throw Fault(words: "'\(name)' is not base64")
        }
        return Base64Form.webSafe(text)
    }
}

extension String {
    /// Without white space at its ends.
    fileprivate var trimmingSpaces: String {
        let start = drop { $0.isWhitespace }
        return String(start.reversed().drop { $0.isWhitespace }.reversed())
    }
}
