import Accounts
import JSONTree

/// Fields of accounts as administrators send them, checked by the rules of `Accounts`. What is empty is not there,
/// unless it says otherwise.
extension RequestFields {
    /// - Throws: `INVALID_EMAIL`.
    func emailAddress() throws(IdentityError) -> String? {
        guard let text = try text("email"), !text.isEmpty else { return nil }
        guard let email = EmailAddress.normalized(text) else { throw .code(.invalidEmail) }
        return email
    }

    /// - Throws: `INVALID_PHONE_NUMBER`.
    func phoneNumber() throws(IdentityError) -> String? {
        guard let text = try text("phoneNumber"), !text.isEmpty else { return nil }
        guard let number = PhoneNumber.normalized(text) else {
            throw .code(.invalidPhoneNumber, "Invalid format.")
        }
        return number
    }

    /// - Throws: `INVALID_LOCAL_ID`.
    func localID() throws(IdentityError) -> String? {
        guard let text = try text("localId"), !text.isEmpty else { return nil }
        guard UserID.isValid(text) else {
            throw .code(
                .invalidLocalID,
                "A user id has \(UserID.lengths.lowerBound) to \(UserID.lengths.upperBound) characters, none a control."
            )
        }
        return text
    }

    /// A text of a profile, which may be empty.
    ///
    /// - Throws: `INVALID_PROFILE_ATTRIBUTE` for one that is too long.
    func profileText(_ name: String, upTo length: Int) throws(IdentityError) -> String? {
        guard let text = try text(name) else { return nil }
        guard text.unicodeScalars.prefix(length + 1).count <= length else {
            throw .code(
                .invalidProfileAttribute,
                "\(name) has more than \(length) characters."
            )
        }
        return text
    }

    func displayName() throws(IdentityError) -> String? {
        try profileText("displayName", upTo: ProfileLimits.displayNameLength)
    }

    func photoURL() throws(IdentityError) -> String? {
        try profileText("photoUrl", upTo: ProfileLimits.photoURLLength)
    }

    /// Claims as they are stored; an empty text for those of an object without members, which takes them away.
    ///
    /// - Throws: `CLAIMS_TOO_LARGE`, `INVALID_CLAIMS`, `FORBIDDEN_CLAIM`.
    func customAttributes() throws(IdentityError) -> String? {
        guard let text = try text("customAttributes"), !text.isEmpty else { return nil }
        do throws(CustomClaims.Refusal) {
            return try CustomClaims.members(of: text).isEmpty ? "" : text
        } catch {
            switch error {
            case .tooLarge: throw .code(.claimsTooLarge)
            case .notAnObject: throw .code(.invalidClaims)
            case .reserved(let name): throw .code(.forbiddenClaim, name)
            }
        }
    }

    /// Milliseconds since 1970.
    ///
    /// - Throws: `invalidPayload` for a time outside the years 1970 to 9999.
    func time(_ name: String) throws(IdentityError) -> Timestamp? {
        guard let number = try integer(name) else { return nil }
        guard (0...253_402_300_799_999).contains(number) else {
            throw .invalidPayload("Invalid value at '\(name)' (TYPE_INT64).")
        }
        return Timestamp(milliseconds: number)
    }

    /// An identity at another provider.
    ///
    /// - Throws: `MISSING_PROVIDER_ID`, `MISSING_RAW_ID`, and `INVALID_PROVIDER_ID` for `password` and `phone`, which are
    ///   no identities elsewhere.
    func federatedIdentity() throws(IdentityError) -> Account.FederatedIdentity {
        guard let provider = try shortText("providerId") else { throw .code(.missingProviderID) }
        guard let rawID = try shortText("rawId") else { throw .code(.missingRawID) }
        guard provider != "password", provider != "phone" else {
            throw .code(.invalidProviderID, "\(provider) is set by the account itself.")
        }
        var identity = Account.FederatedIdentity(provider: provider, rawID: rawID)
        identity.email = try text("email").flatMap { EmailAddress.normalized($0) }
        identity.phoneNumber = try text("phoneNumber").flatMap { PhoneNumber.normalized($0) }
        identity.displayName = try displayName()
        identity.photoURL = try photoURL()
        identity.screenName = try shortText("screenName")
        return identity
    }

    private func shortText(_ name: String) throws(IdentityError) -> String? {
        guard let text = try text(name), !text.isEmpty else { return nil }
        guard text.utf8.count <= ProfileLimits.federatedByteCount else {
            throw .code(
                .invalidProfileAttribute,
                "\(name) has more than \(ProfileLimits.federatedByteCount) bytes."
            )
        }
        return text
    }

    /// The texts of a list.
    ///
    /// - Throws: `invalidPayload` for a value that is none.
    func texts(_ name: String) throws(IdentityError) -> [String] {
        var texts: [String] = []
        for node in list(name) {
            guard let text = node.string ?? node.integer.map({ "\($0)" }) else {
                throw .invalidPayload("Invalid value at '\(name)' (TYPE_STRING).")
            }
            texts.append(text)
        }
        return texts
    }
}
