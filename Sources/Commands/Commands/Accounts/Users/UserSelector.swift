import JSONTree

/// The account of a command.
enum UserSelector: Equatable, Sendable {
    case uid(String)
    case email(String)
    case phone(String)

    /// A text with `@` is an address, `+` and digits are a phone number, any other text, or any with `isUID`, is a uid.
    init(_ text: String, isUID: Bool = false) {
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

    var shown: String {
        switch self {
        case .uid(let uid): "the uid \(uid)"
        case .email(let address): "the e-mail address \(address)"
        case .phone(let number): "the phone number \(number)"
        }
    }

    /// The body that looks it up.
    var lookup: JSONValue {
        switch self {
        case .uid(let uid): ["localId": .list([.string(uid)])]
        case .email(let address): ["email": .list([.string(address)])]
        case .phone(let number): ["phoneNumber": .list([.string(number)])]
        }
    }
}

extension AdministeredServer {
    /// The selected account, which must be there, with the server's text.
    func find(
        _ selector: UserSelector,
        in project: String
    ) throws(CommandError) -> (user: UserRecord, json: [UInt8]) {
        let body = try call("accounts:lookup", of: project, selector.lookup)
        guard let json = try page(body).users.first else {
            throw .failed("no account of project \(project) has \(selector.shown)")
        }
        return (UserRecord(try tree(json)), json)
    }
}
