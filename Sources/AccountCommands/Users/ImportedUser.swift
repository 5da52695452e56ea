import JSONTree

extension ImportedUser {
    /// Why an account of a file is not sent; the words follow its place.
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
    init(_ item: UserObjects.Item) throws(Fault) {
        place = "users[\(item.index)] (line \(item.line))"
        var body = JSONObjectText()
        let members: [(name: String, value: [UInt8])]
        do throws(JSONError) {
            members = try JSONParts.members(of: item.json)
        } catch {
            throw Fault(words: "this is no JSON (byte \(error.offset) of it)")
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
                    throw Fault(words: "'\(name)' is no text")
                }
                body.add(name, try Self.base64(text, name))
            case "lastSignedInAt": body.add("lastLoginAt", json: value)
            case _ where Self.names.contains(name): body.add(name, json: value)
            default: break
            }
        }
        json = body.bytes
        self.ways = ways
    }

    private static let emptyText = Array("\"\"".utf8)

    /// The names of providers in a list of `providerUserInfo`, but for those that follow from address and number.
    /// Whether the list is one is the server's to say.
    private static func providers(_ json: [UInt8]) -> [String] {
        let list: Node
        do throws(JSONError) { list = try Node.readingAnyJSON(json) } catch { return [] }
        var names: [String] = []
        list.visitChildren { _, entry in
            if let name = entry.member("providerId").string, name != "password", name != "phone" {
                names.append(name)
            }
            return true
        }
        return names
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
    init(_ row: UserRows.Row) throws(Fault) {
        place = "line \(row.line)"
        guard row.cells.count >= Self.leastCellCount else {
            throw Fault(
                words: "\(row.cells.count) cells are none of 'auth:export', which writes 28 or more"
            )
        }
        let cell = { (column: Int) -> String? in
            guard column < row.cells.count else { return nil }
            let text = row.cells[column].trimmingSpaces
            return text.isEmpty ? nil : text
        }
        var body = JSONObjectText()
        body.add("localId", cell(0))
        body.add("email", cell(1))
        body.add("emailVerified", cell(2) == "true")
        if let hash = cell(3) { body.add("passwordHash", try Self.base64(hash, "passwordHash")) }
        if let salt = cell(4) { body.add("salt", try Self.base64(salt, "salt")) }
        body.add("displayName", cell(5))
        body.add("photoUrl", cell(6))
        body.add("createdAt", cell(23))
        body.add("lastLoginAt", cell(24))
        body.add("phoneNumber", cell(25))
        if cell(26) == "true" { body.add("disabled", true) }
        body.add("customAttributes", cell(27))
        var ways = SignInWays()
        ways.hasEmail = cell(1) != nil
        ways.hasPassword = cell(3) != nil
        ways.hasPhoneNumber = cell(25) != nil
        var providers: [UInt8] = []
        for (provider, column) in Self.providerColumns {
            guard let id = cell(column) else { continue }
            ways.providers.append(provider)
            var entry = JSONObjectText()
            entry.add("providerId", provider)
            entry.add("rawId", id)
            entry.add("email", cell(column + 1))
            entry.add("displayName", cell(column + 2))
            entry.add("photoUrl", cell(column + 3))
            if !providers.isEmpty { providers.append(UInt8(ascii: ",")) }
            providers += entry.bytes
        }
        body.add(
            "providerUserInfo",
            json: [UInt8(ascii: "[")] + providers + [UInt8(ascii: "]")]
        )
        json = body.bytes
        self.ways = ways
    }

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
        let isBase64 =
            digits.count % 4 != 1
            && digits.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"),
                    UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
        guard isBase64 else { throw Fault(words: "'\(name)' is no base64") }
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
