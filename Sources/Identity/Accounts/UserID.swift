/// Identifies an account. Ids made here have 28 ASCII letters and digits; administrators and custom tokens may choose others.
package enum UserID {
    /// Unicode scalars. Source: Firebase Admin SDK, "Create a user".
    package static let lengths = 1...128

    /// Whether `text` may be one: in length, without control characters, and in NFC, so that no two look the same.
    package static func isValid(_ text: String) -> Bool {
        // Nearly all of them.
        if text.utf8.allSatisfy({ $0 >= 32 && $0 < 127 }) {
            return lengths.contains(text.utf8.count)
        }
        guard lengths.contains(text.unicodeScalars.count),
            text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else { return false }
        return UnicodeText.composed(text).utf8.elementsEqual(text.utf8)
    }
}

/// Texts of a profile.
package enum ProfileLimits {
    /// Unicode scalars of a display name. Source: Identity Toolkit API, `accounts.update`.
    package static let displayNameLength = 256
    /// Unicode scalars of a photo's address. Source: Identity Toolkit API, `accounts.update`.
    package static let photoURLLength = 2048
    /// Identities at other providers of one account; each provider once. Hearth's own.
    package static let federatedCount = 32
    /// Bytes of an identity's name at its provider, the name of a provider and each text from it: a key of the tree at
    /// most, also when every byte of it is escaped. Hearth's own.
    package static let federatedByteCount = 256
}
