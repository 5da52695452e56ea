import JSONTree

/// An account as the server sends it.
struct UserRecord {
    private let node: Node

    init(_ node: Node) {
        self.node = node
    }

    var uid: String { text("localId") ?? "" }
    var email: String? { text("email") }
    private var displayName: String? { text("displayName") }
    private var phoneNumber: String? { text("phoneNumber") }
    /// Claims of the administrator's, JSON text.
    var claims: String? { text("customAttributes").flatMap { $0 == "{}" ? nil : $0 } }
    private var isDisabled: Bool { node.member("disabled").boolean ?? false }

    /// `password phone google.com ...`, in the server's order.
    private var providers: String {
        let entries = node.member("providerUserInfo").elements
        return entries.compactMap { $0.member("providerId").string }.joined(separator: " ")
    }

    private func text(_ name: String) -> String? { node.member(name).string }

    /// Numbers of 64 bits are texts in answers.
    private func number(_ name: String) -> Int64? {
        node.member(name).integer ?? text(name).flatMap { Int64($0) }
    }

    // MARK: - For people

    /// Its name besides its uid: address, number, or none.
    var shown: String { email ?? phoneNumber ?? displayName ?? "without a name" }

    static let head = ["uid", "e-mail", "phone", "name", "sign-in", "created", "last sign-in", ""]

    /// The cells under `head`.
    var row: [String] {
        let marks = [isDisabled ? "disabled" : "", claims == nil ? "" : "claims"]
        return [
            uid, email ?? "", phoneNumber ?? "", displayName ?? "",
            providers, time("createdAt"), time("lastLoginAt"),
            marks.filter { !$0.isEmpty }.joined(separator: " "),
        ]
    }

    /// A line for each thing that is known.
    var lines: [[String]] {
        var lines = [["uid", uid]]
        if let email {
            let isVerified = node.member("emailVerified").boolean ?? false
            lines.append(["e-mail", email + (isVerified ? " (verified)" : " (not verified)")])
        }
        if let phoneNumber { lines.append(["phone", phoneNumber]) }
        if let displayName { lines.append(["name", displayName]) }
        if let photo = text("photoUrl") { lines.append(["photo", photo]) }
        lines.append(["sign-in", providers.isEmpty ? "anonymous or custom" : providers])
        lines.append(["disabled", isDisabled ? "yes" : "no"])
        if let claims { lines.append(["claims", claims]) }
        lines.append(["created", time("createdAt")])
        let isUsed = number("lastLoginAt") != nil
        lines.append(["last sign-in", isUsed ? time("lastLoginAt") : "never"])
        // Seconds: tokens issued before it do not count.
        if let start = number("validSince") {
            lines.append(["tokens since", ISO8601.text(of: start * 1000)])
        }
        return lines
    }

    /// A time that is given in milliseconds since 1970; empty when it is not.
    private func time(_ name: String) -> String {
        number(name).map { ISO8601.text(of: $0) } ?? ""
    }
}

/// The JSON text of an account that is shown: hashes of passwords are for exports alone.
enum ShownUser {
    /// - Throws: `JSONError` if it is not an object.
    static func text(_ json: [UInt8]) throws(JSONError) -> [UInt8] {
        var shown = JSONMembers()
        for (name, value) in try JSONParts.members(of: json)
        where name != "passwordHash" && name != "salt" {
            shown.add(name, .raw(value))
        }
        return shown.value.text
    }
}
