/// One value that an app keeps with a person: `profiles/{uid}/meta/{field}`, `private/{uid}/{field}`.
public enum Detail: Hashable, Sendable {
    /// At most 1,000 characters.
    case text(String)
    case number(Double)
    case flag(Bool)

    var value: Any {
        switch self {
        case .text(let text): text
        case .number(let number): number
        case .flag(let flag): flag
        }
    }

    func check(_ field: String) throws(ServiceError) {
        _ = try field.key("field")
        try ServiceError.checkLength(of: field, "field", 1...64)
        switch self {
        case .text(let text): try ServiceError.checkLength(of: text, field, 0...1000)
        case .number(let number):
            guard number.isFinite else { throw .invalid(field: field, why: "it is no number") }
        case .flag: break
        }
    }
}

extension Detail: Decodable {
    /// Reads a text, a number or a truth value.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else {
            self = .text(try container.decode(String.self))
        }
    }
}

/// The public data of a person in a messaging kit: `profiles/{uid}`.
public struct Profile: Hashable, Sendable {
    /// The account.
    public let uid: String
    /// As in `UserProfile`.
    public let username: String
    /// The name as people say it; the username when there is none.
    public let name: String
    /// Address of a picture.
    public let picture: String?
    /// An app's data about the person.
    public let meta: [String: Detail]
}

extension Profile: Record {
    package init(key: String, stored: Fields) throws {
        uid = key
        username = try stored.text("username")
        name = try stored.value("name")
        picture = try stored.optional("picture")
        meta = try stored.optional("meta") ?? [:]
    }
}

/// The details that only the person can read: `private/{uid}`. It has at least an address or a number.
public struct PrivateDetails: Hashable, Sendable {
    /// At most 254 characters.
    public var email: String?
    /// At most 32 characters.
    public var phone: String?
    /// Other data of an app there.
    public var others: [String: Detail]

    /// Details to be saved.
    public init(email: String? = nil, phone: String? = nil, others: [String: Detail] = [:]) {
        self.email = email
        self.phone = phone
        self.others = others
    }

    func check() throws(ServiceError) {
        guard email != nil || phone != nil else {
            throw .invalid(field: "email", why: "neither an address nor a number is there")
        }
        if let email { try ServiceError.checkLength(of: email, "email", 1...254) }
        if let phone { try ServiceError.checkLength(of: phone, "phone", 1...32) }
        for (field, detail) in others.sorted(by: { $0.key < $1.key }) {
            guard field != "email", field != "phone" else {
                throw .invalid(field: field, why: "it has a field of its own")
            }
            try detail.check(field)
        }
    }

    var value: [String: Any] {
        var value = others.mapValues(\.value)
        value["email"] = email
        value["phone"] = phone
        return value
    }

    /// The fields by which searches find a person.
    func texts(in field: SearchField) -> [String] {
        switch field {
        case .name: []
        case .email: email.map { [$0] } ?? []
        case .phone: phone.map { [$0] } ?? []
        }
    }
}

extension PrivateDetails: Record {
    package struct Stored: Decodable {
        let email: String?
        let phone: String?
        let all: [String: Detail]

        private enum Field: String, CodingKey { case email, phone }

        package init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: Field.self)
            email = try fields.decodeIfPresent(String.self, forKey: .email)
            phone = try fields.decodeIfPresent(String.self, forKey: .phone)
            all = try [String: Detail](from: decoder)
        }
    }

    package init(key _: String, stored: Stored) throws {
        let others = stored.all.filter { $0.key != "email" && $0.key != "phone" }
        self.init(email: stored.email, phone: stored.phone, others: others)
    }
}
