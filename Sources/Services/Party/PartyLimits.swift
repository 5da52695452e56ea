import Social

/// The rules' limits of parties, checked here before anything is sent.
///
/// Source: `rules/party.json`.
public enum PartyLimits {
    /// Characters (UTF-16 units) of a description.
    public static let descriptionLength = 1...2000
    /// Characters of a name.
    public static let nameLength = 1...100
    /// Characters of an e-mail address: as many bytes as a key may have, with three for each sign that is encoded.
    public static let emailLength = 1...254
    /// Characters of a picture's address.
    public static let pictureLength = 0...2000
    /// Characters of a photo in base64: 750,000 bytes.
    public static let photoLength = 1_000_000
    /// Characters of a user's id, and of the key of a party or photo.
    public static let keyLength = 1...128
    /// The years that a party may be in.
    public static let years = 1970...9999
}

extension PartyLimits {
    /// Whether a text is the key of a party, photo or message: plain, and not the text that means none.
    static func isKey(_ text: String) -> Bool {
        text != "null" && keyLength ~= text.utf8.count && text.isPlainKey
    }

    /// Whether a text is valid as a user's id in a path.
    static func isUser(_ text: String) -> Bool { keyLength ~= text.utf16.count && text.isKey }

    static func check(user: String) throws(ServiceError) {
        guard isUser(user) else {
            throw .invalid(field: "user", why: "\"\(user)\" is no id of a user")
        }
    }

    static func check(key: String, _ field: String) throws(ServiceError) {
        guard isKey(key) else { throw .invalid(field: field, why: "\"\(key)\" is no key") }
    }
}
