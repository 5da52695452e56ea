import JSONTree

/// An account as the server tells it.
package struct UserRecord {
    package let uid: String
    package let email: String?
    let isEmailVerified: Bool
    let displayName: String?
    let photoURL: String?
    let phoneNumber: String?
    let isDisabled: Bool
    /// Milliseconds since 1970.
    let createdAt: Int64?
    /// Milliseconds since 1970; nil for one that never signed in.
    let lastLoginAt: Int64?
    /// Seconds since 1970: tokens issued before it do not count.
    let validSince: Int64?
    /// Claims of the administrator's, JSON text.
    let claims: String?
    /// `password`, `phone`, `google.com`, ..., in the server's order.
    let providers: [String]

    init(_ node: Node) {
        uid = node.member("localId").string ?? ""
        email = node.member("email").string
        isEmailVerified = node.member("emailVerified").boolean ?? false
        displayName = node.member("displayName").string
        photoURL = node.member("photoUrl").string
        phoneNumber = node.member("phoneNumber").string
        isDisabled = node.member("disabled").boolean ?? false
        createdAt = Self.number(node, "createdAt")
        lastLoginAt = Self.number(node, "lastLoginAt")
        validSince = Self.number(node, "validSince")
        claims = node.member("customAttributes").string.flatMap { $0 == "{}" ? nil : $0 }
        var providers: [String] = []
        node.member("providerUserInfo").visitChildren { _, entry in
            if let name = entry.member("providerId").string { providers.append(name) }
            return true
        }
        self.providers = providers
    }

    /// Numbers of 64 bits are texts in answers.
    private static func number(_ node: Node, _ name: String) -> Int64? {
        let member = node.member(name)
        return member.integer ?? member.string.flatMap { Int64($0) }
    }

    // MARK: - For people

    /// What names it beside its uid: address, number, or nothing.
    var shown: String { email ?? phoneNumber ?? displayName ?? "without a name" }

    static let head = ["uid", "e-mail", "phone", "name", "sign-in", "created", "last sign-in", ""]

    /// The cells under `head`.
    var row: [String] {
        let marks = [isDisabled ? "disabled" : "", claims == nil ? "" : "claims"]
        return [
            uid, email ?? "", phoneNumber ?? "", displayName ?? "",
            providers.joined(separator: " "), Self.time(createdAt), Self.time(lastLoginAt),
            marks.filter { !$0.isEmpty }.joined(separator: " "),
        ]
    }

    /// A line for each thing that is known.
    var lines: [[String]] {
        var lines = [["uid", uid]]
        if let email {
            lines.append(["e-mail", email + (isEmailVerified ? " (verified)" : " (not verified)")])
        }
        if let phoneNumber { lines.append(["phone", phoneNumber]) }
        if let displayName { lines.append(["name", displayName]) }
        if let photoURL { lines.append(["photo", photoURL]) }
        lines.append(
            [
                "sign-in",
                providers.isEmpty ? "anonymous or custom" : providers.joined(separator: " "),
            ]
        )
        lines.append(["disabled", isDisabled ? "yes" : "no"])
        if let claims { lines.append(["claims", claims]) }
        lines.append(["created", Self.time(createdAt)])
        lines.append(["last sign-in", lastLoginAt == nil ? "never" : Self.time(lastLoginAt)])
        if let validSince { lines.append(["tokens since", Self.time(validSince * 1000)]) }
        return lines
    }

    private static func time(_ milliseconds: Int64?) -> String {
        milliseconds.map { ISO8601.text(of: $0) } ?? ""
    }
}

/// The JSON text of an account that is shown: hashes of passwords are for exports alone.
enum ShownUser {
    /// - Throws: `JSONError` when it is no object.
    static func text(_ json: [UInt8]) throws(JSONError) -> [UInt8] {
        var shown = JSONObjectText()
        for (name, value) in try JSONParts.members(of: json)
        where name != "passwordHash" && name != "salt" {
            shown.add(name, json: value)
        }
        return shown.bytes
    }
}
