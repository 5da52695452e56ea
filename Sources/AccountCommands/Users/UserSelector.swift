import DataCommands
import JSONTree

/// Which account is meant.
package enum UserSelector: Equatable, Sendable {
    case uid(String)
    case email(String)
    case phone(String)

    /// What has an `@` in it is an address, `+` and digits are a number, all else is a uid.
    ///
    /// - Parameters:
    ///   - text: What a user types.
    ///   - isUID: Whether it is a uid, whatever it looks like.
    package init(_ text: String, isUID: Bool = false) {
        let digits = text.dropFirst().utf8
        if isUID {
            self = .uid(text)
        } else if text.contains("@") {
            self = .email(text)
        } else if text.hasPrefix("+"), !digits.isEmpty,
            digits.allSatisfy({ (0x30...0x39).contains($0) })
        {
            self = .phone(text)
        } else {
            self = .uid(text)
        }
    }

    /// For people.
    var shown: String {
        switch self {
        case .uid(let uid): "the uid \(uid)"
        case .email(let address): "the e-mail address \(address)"
        case .phone(let number): "the phone number \(number)"
        }
    }

    /// The body that looks it up.
    var lookup: [UInt8] {
        var body = JSONObjectText()
        switch self {
        case .uid(let uid): body.add("localId", [uid])
        case .email(let address): body.add("email", [address])
        case .phone(let number): body.add("phoneNumber", [number])
        }
        return body.bytes
    }
}

extension AccountService {
    /// The account that is meant, and its text as the server tells it.
    ///
    /// - Throws: `CommandError` when there is none.
    func find(
        _ selector: UserSelector,
        in project: String
    ) throws(CommandError) -> (user: UserRecord, json: [UInt8]) {
        let body = try call("accounts:lookup", of: project, json: selector.lookup)
        do throws(JSONError) {
            let users = try JSONParts.members(of: body).first { $0.name == "users" }
            if let json = try users.flatMap({ (users) throws(JSONError) in
                try JSONParts.elements(of: users.value).first
            }) {
                return (UserRecord(try Node.readingAnyJSON(json)), json)
            }
        } catch {
            throw .failed("what \(database.origin) answers is no list of accounts")
        }
        throw .failed("no account of project \(project) has \(selector.shown)")
    }
}
