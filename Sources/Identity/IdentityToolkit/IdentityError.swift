package import JSONTree

/// Why an identity request is not done, in the words that SDKs know.
///
/// Source: Identity Toolkit API; `message` is `CODE` or `CODE : detail`, which every SDK parses.
package struct IdentityError: Error, Sendable, Equatable {
    package let status: Int
    package let message: String
    /// `errors[0].reason`.
    package let reason: String
    /// The member `status`, if there is one.
    package let statusName: String?
    /// For a 405, the HTTP methods that the address accepts.
    package var verbs: [String] = []
    /// Seconds until the same may be tried again, of one that says so.
    package var retryAfter: Int?

    package init(_ status: Int, _ message: String, reason: String, statusName: String? = nil) {
        self.status = status
        self.message = message
        self.reason = reason
        self.statusName = statusName
    }

    /// A valid request that is refused because of its content.
    package static func code(_ code: Code, _ detail: String? = nil) -> IdentityError {
        let message = detail.map { "\(code.rawValue) : \($0)" } ?? code.rawValue
        return IdentityError(400, message, reason: "invalid")
    }

    /// Something that is switched off, or that only others may do.
    package static func notAllowed(_ detail: String) -> IdentityError {
        .code(.operationNotAllowed, detail)
    }

    /// Its body.
    package var body: JSONValue {
        let error: JSONValue = [
            "message": .string(message), "reason": .string(reason), "domain": "global",
        ]
        return [
            "error": [
                "code": .number(status), "message": .string(message), "errors": .list([error]),
                "status": statusName.map { .string($0) },
            ]
        ]
    }

    /// The codes that SDKs know.
    package enum Code: String, Sendable, CaseIterable {
        case adminOnlyOperation = "ADMIN_ONLY_OPERATION"
        case claimsTooLarge = "CLAIMS_TOO_LARGE"
        case credentialMismatch = "CREDENTIAL_MISMATCH"
        case credentialTooOld = "CREDENTIAL_TOO_OLD_LOGIN_AGAIN"
        case duplicateEmail = "DUPLICATE_EMAIL"
        case duplicateLocalID = "DUPLICATE_LOCAL_ID"
        case duplicateRawID = "DUPLICATE_RAW_ID"
        case emailExists = "EMAIL_EXISTS"
        case emailNotFound = "EMAIL_NOT_FOUND"
        case expiredOOBCode = "EXPIRED_OOB_CODE"
        case federatedUserIDAlreadyLinked = "FEDERATED_USER_ID_ALREADY_LINKED"
        case forbiddenClaim = "FORBIDDEN_CLAIM"
        case insufficientPermission = "INSUFFICIENT_PERMISSION"
        case invalidClaims = "INVALID_CLAIMS"
        case invalidCode = "INVALID_CODE"
        case invalidConfig = "INVALID_CONFIG"
        case invalidContinueURI = "INVALID_CONTINUE_URI"
        case invalidCredentialOrProviderID = "INVALID_CREDENTIAL_OR_PROVIDER_ID"
        case invalidCustomToken = "INVALID_CUSTOM_TOKEN"
        case invalidDuration = "INVALID_DURATION"
        case invalidEmail = "INVALID_EMAIL"
        case invalidGrantType = "INVALID_GRANT_TYPE"
        case invalidHashAlgorithm = "INVALID_HASH_ALGORITHM"
        case invalidHostingLinkDomain = "INVALID_HOSTING_LINK_DOMAIN"
        case invalidIDPResponse = "INVALID_IDP_RESPONSE"
        case invalidIdentifier = "INVALID_IDENTIFIER"
        case invalidIDToken = "INVALID_ID_TOKEN"
        case invalidLocalID = "INVALID_LOCAL_ID"
        case invalidLoginCredentials = "INVALID_LOGIN_CREDENTIALS"
        case invalidOOBCode = "INVALID_OOB_CODE"
        case invalidPageSelection = "INVALID_PAGE_SELECTION"
        case invalidPassword = "INVALID_PASSWORD"
        case invalidPhoneNumber = "INVALID_PHONE_NUMBER"
        case invalidProfileAttribute = "INVALID_PROFILE_ATTRIBUTE"
        case invalidRefreshToken = "INVALID_REFRESH_TOKEN"
        case invalidProviderID = "INVALID_PROVIDER_ID"
        case invalidReqType = "INVALID_REQ_TYPE"
        case invalidSessionInfo = "INVALID_SESSION_INFO"
        case localIDListExceedsLimit = "LOCAL_ID_LIST_EXCEEDS_LIMIT"
        case missingCode = "MISSING_CODE"
        case missingContinueURI = "MISSING_CONTINUE_URI"
        case missingCustomToken = "MISSING_CUSTOM_TOKEN"
        case missingEmail = "MISSING_EMAIL"
        case missingGrantType = "MISSING_GRANT_TYPE"
        case missingIDToken = "MISSING_ID_TOKEN"
        case missingIdentifier = "MISSING_IDENTIFIER"
        case missingLocalID = "MISSING_LOCAL_ID"
        case missingNewEmail = "MISSING_NEW_EMAIL"
        case missingOOBCode = "MISSING_OOB_CODE"
        case missingPassword = "MISSING_PASSWORD"
        case missingPhoneNumber = "MISSING_PHONE_NUMBER"
        case missingRefreshToken = "MISSING_REFRESH_TOKEN"
        case missingProviderID = "MISSING_PROVIDER_ID"
        case missingRawID = "MISSING_RAW_ID"
        case missingReqType = "MISSING_REQ_TYPE"
        case missingSessionInfo = "MISSING_SESSION_INFO"
        case missingUserAccount = "MISSING_USER_ACCOUNT"
        case operationNotAllowed = "OPERATION_NOT_ALLOWED"
        case passwordDoesNotMeetRequirements = "PASSWORD_DOES_NOT_MEET_REQUIREMENTS"
        case passwordLoginDisabled = "PASSWORD_LOGIN_DISABLED"
        case phoneNumberExists = "PHONE_NUMBER_EXISTS"
        case sessionExpired = "SESSION_EXPIRED"
        case tenantIDMismatch = "TENANT_ID_MISMATCH"
        case tenantNotFound = "TENANT_NOT_FOUND"
        case tokenExpired = "TOKEN_EXPIRED"
        case tooManyAttempts = "TOO_MANY_ATTEMPTS_TRY_LATER"
        case unauthorizedContinueURI = "UNAUTHORIZED_CONTINUE_URI"
        case unexpectedParameter = "UNEXPECTED_PARAMETER"
        case userDisabled = "USER_DISABLED"
        case userNotFound = "USER_NOT_FOUND"
        case weakPassword = "WEAK_PASSWORD"
    }

    /// A body that is no JSON, or not of the form that it must have.
    package static func invalidPayload(_ detail: String) -> IdentityError {
        let message = "Invalid JSON payload received. \(detail)"
        return IdentityError(400, message, reason: "badRequest", statusName: invalidArgument)
    }

    private static let invalidArgument = "INVALID_ARGUMENT"

    package static let missingKey = forbidden("The request is missing a valid API key.")

    /// An address names a project that is not this server's.
    package static func wrongProject(_ project: String) -> IdentityError {
        forbidden("This server's project is '\(project)' (--project); the address names another.")
    }

    private static func forbidden(_ message: String) -> IdentityError {
        IdentityError(403, message, reason: "forbidden", statusName: "PERMISSION_DENIED")
    }

    package static let missingCredential = unauthenticated(
        "Request is missing required authentication credential.",
        reason: "required"
    )

    package static let badCredential = unauthenticated(
        "Request had invalid authentication credentials.",
        reason: "authError"
    )

    private static func unauthenticated(_ message: String, reason: String) -> IdentityError {
        IdentityError(401, message, reason: reason, statusName: "UNAUTHENTICATED")
    }

    package static let notFound =
        IdentityError(404, "Not Found", reason: "notFound", statusName: "NOT_FOUND")

    /// The address does not accept this HTTP method.
    package static func methodNotAllowed(_ verbs: [String]) -> IdentityError {
        let message = "This address takes \(verbs.joined(separator: ", "))."
        let reason = "httpMethodNotAllowed"
        var error = IdentityError(405, message, reason: reason, statusName: invalidArgument)
        error.verbs = verbs
        return error
    }

    /// The body is larger than the method accepts.
    package static func tooLarge(byteLimit: Int) -> IdentityError {
        let message = "The body may have up to \(byteLimit) bytes."
        return IdentityError(413, message, reason: "uploadTooLarge", statusName: invalidArgument)
    }

    /// The head of the request lacks the length of the body.
    package static let lengthRequired: IdentityError = {
        let message = "The request must have a Content-Length."
        return IdentityError(411, message, reason: "required", statusName: invalidArgument)
    }()

    package static func notImplemented(_ what: String) -> IdentityError {
        let message = "\(what) is not implemented."
        return IdentityError(501, message, reason: "unimplemented", statusName: "NOT_IMPLEMENTED")
    }

    /// There is no room for the request now.
    package static func unavailable(_ detail: String) -> IdentityError {
        IdentityError(503, detail, reason: "backendError", statusName: "UNAVAILABLE")
    }
}
