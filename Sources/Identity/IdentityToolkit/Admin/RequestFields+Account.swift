import Accounts
import JSONTree
import Passwords

/// Fields of accounts as administrators send them, checked by the rules of `Accounts`. What is empty is not there,
/// unless it says otherwise.
extension RequestFields {
    /// - Throws: `INVALID_EMAIL`.
    func emailAddress() throws(IdentityError) -> String? {
        guard let text = try givenText("email") else { return nil }
        return try EmailAddress.checked(text)
    }

    /// - Throws: `INVALID_PHONE_NUMBER`.
    func phoneNumber() throws(IdentityError) -> String? {
        guard let text = try givenText("phoneNumber") else { return nil }
        guard let number = PhoneNumber.normalized(text) else {
            throw .code(.invalidPhoneNumber, "Invalid format.")
        }
        return number
    }

    /// - Throws: `INVALID_LOCAL_ID`.
    func localID() throws(IdentityError) -> String? {
        guard let text = try givenText("localId") else { return nil }
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
            throw .code(.invalidProfileAttribute, "\(name) has more than \(length) characters.")
        }
        return text
    }

    func displayName() throws(IdentityError) -> String? {
        try profileText("displayName", upTo: ProfileLimits.displayNameLength)
    }

    func photoURL() throws(IdentityError) -> String? {
        try profileText("photoUrl", upTo: ProfileLimits.photoURLLength)
    }

    /// Claims in their stored form; an empty text for an object without members, which removes them.
    ///
    /// - Throws: `CLAIMS_TOO_LARGE`, `INVALID_CLAIMS`, `FORBIDDEN_CLAIM`.
    func customAttributes() throws(IdentityError) -> String? {
        guard let text = try givenText("customAttributes") else { return nil }
        do throws(CustomClaims.Refusal) {
            return try CustomClaims.names(of: text).isEmpty ? "" : text
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

    /// `deleteAttribute`, each by name or by number. Source: Identity Toolkit API, `UserAttributeName`.
    ///
    /// - Throws: `invalidPayload` for an unknown attribute, 501 for those of providers.
    func deletedAttributes() throws(IdentityError) -> [DeletedAttribute] {
        var all: [DeletedAttribute] = []
        for name in try texts("deleteAttribute") {
            switch name {
            case "USER_ATTRIBUTE_NAME_UNSPECIFIED", "0": break
            case "EMAIL", "1": all.append(.email)
            case "DISPLAY_NAME", "2": all.append(.displayName)
            case "PHOTO_URL", "4": all.append(.photoURL)
            case "PASSWORD", "5": all.append(.password)
            case "PROVIDER", "3", "RAW_USER_INFO", "6":
                throw .notImplemented("Deleting the attribute \(name)")
            default: throw .invalidPayload("Invalid value at 'deleteAttribute' (TYPE_ENUM).")
            }
        }
        return all
    }
}

/// What an update takes away from an account.
enum DeletedAttribute {
    case email, displayName, photoURL, password
}

/// What several requests change of an account.
extension Account {
    /// Sets what an administrator says of a new account.
    mutating func describe(by fields: RequestFields) throws(IdentityError) {
        email = try fields.emailAddress()
        isEmailVerified = try fields.flag("emailVerified") ?? false
        phoneNumber = try fields.phoneNumber()
        displayName = try fields.displayName()
        photoURL = try fields.photoURL()
        isDisabled = try fields.flag("disabled") ?? false
        customAttributes = try fields.customAttributes()
        dropEmptyTexts()
    }

    /// An empty text of a profile is none.
    mutating func dropEmptyTexts() {
        if displayName?.isEmpty == true { displayName = nil }
        if photoURL?.isEmpty == true { photoURL = nil }
        if customAttributes?.isEmpty == true { customAttributes = nil }
    }

    /// Gives it another password.
    mutating func set(_ stored: StoredPassword, at now: Timestamp) {
        password = stored
        passwordUpdatedAt = now
    }

    /// Gives it another address; `isVerified` says whether its user has proved to read it.
    mutating func take(_ newEmail: String, isVerified: Bool) {
        initialEmail = initialEmail ?? email
        email = newEmail
        isEmailVerified = isVerified
    }

    mutating func remove(_ attribute: DeletedAttribute) {
        switch attribute {
        case .email:
            email = nil
            isEmailVerified = false
            hasEmailLinkSignIn = false
        case .displayName: displayName = nil
        case .photoURL: photoURL = nil
        case .password:
            password = nil
            passwordUpdatedAt = nil
        }
    }

    /// Takes away a way to sign in.
    mutating func unlink(_ provider: String) {
        switch provider {
        case "phone": phoneNumber = nil
        case "password":
            remove(.email)
            remove(.password)
        default: federated.removeAll { $0.provider == provider }
        }
    }

    /// Takes away every way to sign in, and ends all sign-ins: who made the account has never proved to own its address.
    mutating func shutOutMaker(at now: Timestamp) {
        remove(.password)
        phoneNumber = nil
        federated = []
        revoke(at: now)
    }
}
