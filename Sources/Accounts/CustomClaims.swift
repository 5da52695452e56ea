import JSONTree

/// Claims that an administrator gives an account: the JSON text of an object, whose members join every ID token.
package enum CustomClaims {
    /// Unicode scalars of the text. Source: Firebase Admin SDK, "Control access with custom claims".
    package static let lengthLimit = 1000

    /// Names that mean something in a token already. Source: Firebase Admin SDK, the same page; OpenID Connect Core
    /// section 2 and RFC 7519 section 4.1.
    package static let reservedNames: Set<String> = [
        "iss", "aud", "sub", "iat", "exp", "nbf", "jti", "nonce", "azp", "acr", "amr", "cnf",
        "auth_time", "firebase", "at_hash", "c_hash",
    ]

    /// One claim: its name, and its value as JSON text.
    package struct Member: Sendable, Equatable {
        package let name: String
        package let value: [UInt8]
    }

    /// Why a text holds no claims.
    package enum Refusal: Error, Equatable {
        case tooLarge(length: Int)
        case notAnObject
        case reserved(name: String)
    }

    /// The claims of `text` in their order. Of a name that comes twice the last value counts.
    ///
    /// - Throws: `Refusal` when an account may not have them.
    package static func members(of text: String) throws(Refusal) -> [Member] {
        let length = text.unicodeScalars.count
        guard length <= lengthLimit else { throw .tooLarge(length: length) }
        let members: [Member]
        do throws(JSONError) {
            members = try read(Array(text.utf8))
        } catch {
            throw .notAnObject
        }
        for member in members where reservedNames.contains(member.name) {
            throw .reserved(name: member.name)
        }
        return members
    }

    private static func read(_ json: [UInt8]) throws(JSONError) -> [Member] {
        try json.withBytes { (bytes) throws(JSONError) in
            var members: [Member] = []
            var scanner = JSONScanner(bytes)
            try scanner.enterObject()
            while let name = try scanner.nextMember() {
                let place = try scanner.skipValue()
                let member = Member(name: name, value: Array(json[place]))
                members.removeAll { $0.name.utf8.elementsEqual(name.utf8) }
                members.append(member)
            }
            try scanner.expectEnd()
            return members
        }
    }
}
