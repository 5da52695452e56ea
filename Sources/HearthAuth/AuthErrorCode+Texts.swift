/// Codes as servers send them, and what to tell people.
extension AuthErrorCode {
    /// The code a server sent, as one of ours; nil for those that the SDK has no name for.
    init?(serverCode: String) {
        let known = Self.signIn[serverCode] ?? Self.tokens[serverCode] ?? Self.codes[serverCode]
        guard let known else { return nil }
        self = known
    }

    private static let signIn: [String: AuthErrorCode] = [
        "EMAIL_EXISTS": .emailAlreadyInUse,
        "INVALID_EMAIL": .invalidEmail,
        "INVALID_IDENTIFIER": .invalidEmail,
        "MISSING_EMAIL": .missingEmail,
        "MISSING_NEW_EMAIL": .missingEmail,
        "MISSING_PASSWORD": .weakPassword,
        "WEAK_PASSWORD": .weakPassword,
        "PASSWORD_DOES_NOT_MEET_REQUIREMENTS": .passwordDoesNotMeetRequirements,
        "EMAIL_NOT_FOUND": .userNotFound,
        "INVALID_PASSWORD": .wrongPassword,
        "INVALID_LOGIN_CREDENTIALS": .invalidCredential,
        "INVALID_IDP_RESPONSE": .invalidCredential,
        "INVALID_CREDENTIAL_OR_PROVIDER_ID": .invalidCredential,
        "USER_DISABLED": .userDisabled,
        "OPERATION_NOT_ALLOWED": .operationNotAllowed,
        "PASSWORD_LOGIN_DISABLED": .operationNotAllowed,
        "ADMIN_ONLY_OPERATION": .adminRestrictedOperation,
        "TOO_MANY_ATTEMPTS_TRY_LATER": .tooManyRequests,
        "QUOTA_EXCEEDED": .quotaExceeded,
        "EMAIL_CHANGE_NEEDS_VERIFICATION": .emailChangeNeedsVerification,
        "FEDERATED_USER_ID_ALREADY_LINKED": .credentialAlreadyInUse,
        "PHONE_NUMBER_EXISTS": .credentialAlreadyInUse,
        "INVALID_PROVIDER_ID": .invalidProviderID,
        "INVALID_REQ_TYPE": .invalidReqType,
        "TENANT_ID_MISMATCH": .tenantIDMismatch,
        "TENANT_NOT_FOUND": .tenantIDMismatch,
    ]

    private static let tokens: [String: AuthErrorCode] = [
        "INVALID_ID_TOKEN": .invalidUserToken,
        "MISSING_ID_TOKEN": .invalidUserToken,
        "INVALID_REFRESH_TOKEN": .invalidUserToken,
        "MISSING_REFRESH_TOKEN": .invalidUserToken,
        "TOKEN_EXPIRED": .userTokenExpired,
        "USER_NOT_FOUND": .userNotFound,
        "CREDENTIAL_TOO_OLD_LOGIN_AGAIN": .requiresRecentLogin,
        "INVALID_CUSTOM_TOKEN": .invalidCustomToken,
        "MISSING_CUSTOM_TOKEN": .invalidCustomToken,
        "MISSING_IDENTIFIER": .invalidCustomToken,
        "CREDENTIAL_MISMATCH": .customTokenMismatch,
        "PROJECT_DISABLED": .appNotAuthorized,
    ]

    private static let codes: [String: AuthErrorCode] = [
        "EXPIRED_OOB_CODE": .expiredActionCode,
        "INVALID_OOB_CODE": .invalidActionCode,
        "MISSING_OOB_CODE": .invalidActionCode,
        "MISSING_CONTINUE_URI": .missingContinueURI,
        "INVALID_CONTINUE_URI": .invalidContinueURI,
        "UNAUTHORIZED_CONTINUE_URI": .unauthorizedDomain,
        "UNAUTHORIZED_DOMAIN": .unauthorizedDomain,
        "INVALID_PHONE_NUMBER": .invalidPhoneNumber,
        "MISSING_PHONE_NUMBER": .missingPhoneNumber,
        "MISSING_CODE": .missingVerificationCode,
        "INVALID_CODE": .invalidVerificationCode,
        "MISSING_SESSION_INFO": .missingVerificationID,
        "INVALID_SESSION_INFO": .invalidVerificationID,
        "SESSION_EXPIRED": .sessionExpired,
    ]

    /// `ERROR_WRONG_PASSWORD`: how the hosted service's SDK spells the name in `userInfo`.
    var name: String {
        if let name = Self.irregularNames[self] { return name }
        let words = "\(self)".map { $0.isUppercase ? "_\($0)" : $0.uppercased() }
        return "ERROR_" + words.joined()
    }

    private static let irregularNames: [AuthErrorCode: String] = [
        .networkError: "ERROR_NETWORK_REQUEST_FAILED",
        .invalidAPIKey: "ERROR_INVALID_API_KEY",
        .missingIosBundleID: "ERROR_MISSING_IOS_BUNDLE_ID",
        .missingAndroidPackageName: "ERROR_MISSING_ANDROID_PKG_NAME",
        .missingVerificationID: "ERROR_MISSING_VERIFICATION_ID",
        .invalidVerificationID: "ERROR_INVALID_VERIFICATION_ID",
        .invalidContinueURI: "ERROR_INVALID_CONTINUE_URI",
        .missingContinueURI: "ERROR_MISSING_CONTINUE_URI",
        .invalidClientID: "ERROR_INVALID_CLIENT_ID",
        .invalidProviderID: "ERROR_INVALID_PROVIDER_ID",
        .tenantIDMismatch: "ERROR_TENANT_ID_MISMATCH",
        .malformedJWT: "ERROR_MALFORMED_JWT",
        .recaptchaSDKNotLinked: "ERROR_RECAPTCHA_SDK_NOT_LINKED",
        .appVerificationUserInteractionFailure: "ERROR_APP_VERIFICATION_FAILED",
        .webSignInUserInteractionFailure: "ERROR_WEB_USER_INTERACTION_FAILURE",
        .blockingCloudFunctionError: "ERROR_BLOCKING_CLOUD_FUNCTION_RETURNED_ERROR",
    ]

    /// What to tell a person, where the server says nothing better.
    var text: String {
        switch self {
        case .invalidCustomToken: "The custom token is not valid, or is expired."
        case .customTokenMismatch: "The custom token is of another server."
        case .invalidCredential:
            "The address or the password is wrong, or the credential is not valid."
        case .userDisabled: "An administrator has disabled this account."
        case .operationNotAllowed: "This server does not offer this; see its --sign-in."
        case .emailAlreadyInUse: "Another account has this e-mail address."
        case .invalidEmail: "This is not a valid e-mail address."
        case .wrongPassword: "The password is wrong, or there is none."
        case .tooManyRequests: "There were too many attempts. Try again later."
        case .userNotFound: "There is no such account."
        case .accountExistsWithDifferentCredential: "The account signs in another way."
        case .requiresRecentLogin: "This takes a new sign-in: reauthenticate and try again."
        case .providerAlreadyLinked: "The account has this way to sign in already."
        case .noSuchProvider: "The account does not have this way to sign in."
        case .invalidUserToken: "The sign-in is not valid here any more. Sign in again."
        case .networkError: "The server cannot be reached."
        case .userTokenExpired: "The sign-in has ended. Sign in again."
        case .invalidAPIKey: "The request had no API key."
        case .userMismatch: "The credential is of another user."
        case .credentialAlreadyInUse: "Another account has this credential."
        case .weakPassword: "The password is too short."
        case .appNotAuthorized: "This app may not use this server."
        case .expiredActionCode: "The code is too old."
        case .invalidActionCode: "The code is not valid, or was used."
        case .missingEmail: "An e-mail address is needed."
        case .unauthorizedDomain: "Links of this server do not lead there; see its --allow-origin."
        case .invalidContinueURI: "The address to go on to is not valid."
        case .missingContinueURI: "An address to go on to is needed."
        case .missingPhoneNumber: "A phone number is needed."
        case .invalidPhoneNumber: "This is not a valid phone number."
        case .missingVerificationCode: "The digits from the message are needed."
        case .invalidVerificationCode: "These are not the digits from the message."
        case .missingVerificationID: "It is not said which phone this is about."
        case .invalidVerificationID: "The phone's session is not valid, or was used."
        case .sessionExpired: "The digits are too old. Ask for new ones."
        case .quotaExceeded: "More was asked for than the server gives."
        case .nullUser: "Nobody is signed in."
        case .invalidProviderID: "There is no such provider."
        case .tenantIDMismatch: "There are no tenants."
        case .adminRestrictedOperation: "Only administrators do this on this server."
        case .emailChangeNeedsVerification: "The new address must be verified first."
        case .passwordDoesNotMeetRequirements: "The password lacks something."
        case .keychainError: "The app's folder on disk cannot be used."
        case .internalError: "The server's answer cannot be understood."
        case .malformedJWT: "The ID token cannot be read."
        case .invalidMessagePayload, .invalidSender, .invalidRecipientEmail, .missingIosBundleID,
            .missingAndroidPackageName, .missingAppCredential, .invalidAppCredential,
            .missingAppToken, .notificationNotForwarded, .appNotVerified, .captchaCheckFailed,
            .webContextAlreadyPresented, .webContextCancelled,
            .appVerificationUserInteractionFailure, .invalidClientID, .webNetworkRequestFailed,
            .webInternalError, .webSignInUserInteractionFailure, .localPlayerNotAuthenticated,
            .unsupportedTenantOperation, .rejectedCredential, .gameKitNotLinked,
            .secondFactorRequired, .missingMultiFactorSession, .missingMultiFactorInfo,
            .invalidMultiFactorSession, .multiFactorInfoNotFound, .unverifiedEmail,
            .secondFactorAlreadyEnrolled, .maximumSecondFactorCountExceeded,
            .unsupportedFirstFactor, .missingClientIdentifier, .missingOrInvalidNonce,
            .blockingCloudFunctionError, .recaptchaNotEnabled, .missingRecaptchaToken,
            .invalidRecaptchaToken, .invalidRecaptchaAction, .missingClientType,
            .missingRecaptchaVersion, .invalidRecaptchaVersion, .invalidReqType,
            .recaptchaSDKNotLinked, .recaptchaSiteKeyMissing, .recaptchaActionCreationFailed,
            .invalidHostingLinkDomain:
            "This is no part of a Hearth server."
        }
    }
}
