/// Account errors, with the names and numbers of the hosted service's SDK.
///
/// Codes from `invalidMessagePayload` on are for features that a Hearth server does not have (games, notifications,
/// second factors, reCAPTCHA); they exist for code that checks for them.
public enum AuthErrorCode: Int, Error, Sendable, CaseIterable {
    /// The custom token is none, is expired, or is not signed.
    case invalidCustomToken = 17000
    /// The custom token is of a service account of another server.
    case customTokenMismatch = 17002
    /// The address or the password is wrong, without saying which, or the provider's credential is refused.
    case invalidCredential = 17004
    /// An administrator has disabled the account.
    case userDisabled = 17005
    /// The server does not let people sign in this way, or does not send codes.
    case operationNotAllowed = 17006
    /// Another account has this e-mail address.
    case emailAlreadyInUse = 17007
    /// The text is not an email address.
    case invalidEmail = 17008
    /// The password is wrong.
    case wrongPassword = 17009
    /// Too many attempts, or too much to do for the server: try later.
    case tooManyRequests = 17010
    /// The account does not exist, or was deleted.
    case userNotFound = 17011
    /// The address belongs to an account that signs in another way.
    case accountExistsWithDifferentCredential = 17012
    /// The sign-in is too long ago for this: reauthenticate first.
    case requiresRecentLogin = 17014
    /// The account has this way to sign in already.
    case providerAlreadyLinked = 17015
    /// The account does not have this way to sign in.
    case noSuchProvider = 17016
    /// The user's token is not from this server: sign in again.
    case invalidUserToken = 17017
    /// The server cannot be reached, or did not answer in time.
    case networkError = 17020
    /// The user's sign-in was ended, by a new password or an administrator: sign in again.
    case userTokenExpired = 17021
    /// The request had no `key`.
    case invalidAPIKey = 17023
    /// The credential is of another user than the one who is signed in.
    case userMismatch = 17024
    /// The credential belongs to another account.
    case credentialAlreadyInUse = 17025
    /// The password is too short.
    case weakPassword = 17026
    /// The app may not use this server.
    case appNotAuthorized = 17028
    /// The code is too old.
    case expiredActionCode = 17029
    /// The code is none, was used, or is for something else.
    case invalidActionCode = 17030
    /// No e-mail address was given.
    case missingEmail = 17034
    /// Links of this server do not lead there.
    case unauthorizedDomain = 17038
    /// The address to go on to is none.
    case invalidContinueURI = 17039
    /// The continue address is missing.
    case missingContinueURI = 17040
    /// No phone number was given.
    case missingPhoneNumber = 17041
    /// The text is not a phone number.
    case invalidPhoneNumber = 17042
    /// No digits were given.
    case missingVerificationCode = 17043
    /// These are not the digits that the phone was sent.
    case invalidVerificationCode = 17044
    /// The ID of the phone verification is missing.
    case missingVerificationID = 17045
    /// The session of a phone is none, or was used.
    case invalidVerificationID = 17046
    /// The digits are too old.
    case sessionExpired = 17051
    /// More was asked for than the server gives.
    case quotaExceeded = 17052
    /// No user is signed in.
    case nullUser = 17067
    /// The provider is unknown.
    case invalidProviderID = 17071
    /// Tenants are not supported.
    case tenantIDMismatch = 17072
    /// Only administrators do this here.
    case adminRestrictedOperation = 17085
    /// The new address must be verified first.
    case emailChangeNeedsVerification = 17090
    /// The password lacks something that the server asks for.
    case passwordDoesNotMeetRequirements = 17211
    /// Who is signed in cannot be kept on disk, or not be removed from there.
    case keychainError = 17995
    /// The server's answer cannot be understood.
    case internalError = 17999
    /// The ID token cannot be read.
    case malformedJWT = 18000

    /// An email template is not valid.
    case invalidMessagePayload = 17031
    /// The sender of emails is not valid.
    case invalidSender = 17032
    /// The recipient of an email is not valid.
    case invalidRecipientEmail = 17033
    /// The bundle of an app is needed.
    case missingIosBundleID = 17036
    /// The package of an app is needed.
    case missingAndroidPackageName = 17037
    /// The app has not proved its identity.
    case missingAppCredential = 17047
    /// The app's proof of identity is not valid.
    case invalidAppCredential = 17048
    /// The app has no token for notifications.
    case missingAppToken = 17053
    /// A notification did not get to the SDK.
    case notificationNotForwarded = 17054
    /// The app could not be verified.
    case appNotVerified = 17055
    /// The person did not pass a check.
    case captchaCheckFailed = 17056
    /// A page for signing in is open already.
    case webContextAlreadyPresented = 17057
    /// The person has closed a page for signing in.
    case webContextCancelled = 17058
    /// A page for verifying the app has failed.
    case appVerificationUserInteractionFailure = 17059
    /// The client of a provider is not valid.
    case invalidClientID = 17060
    /// A page for signing in could not be loaded.
    case webNetworkRequestFailed = 17061
    /// A page for signing in has failed.
    case webInternalError = 17062
    /// A page for signing in has failed, and says why.
    case webSignInUserInteractionFailure = 17063
    /// The player of a game is not known.
    case localPlayerNotAuthenticated = 17066
    /// Tenants do not do this.
    case unsupportedTenantOperation = 17073
    /// A credential is malformed.
    case rejectedCredential = 17075
    /// The library for players of games is not there.
    case gameKitNotLinked = 17076
    /// A second factor is needed.
    case secondFactorRequired = 17078
    /// The session of a second factor is needed.
    case missingMultiFactorSession = 17081
    /// The ID of the second factor is missing.
    case missingMultiFactorInfo = 17082
    /// The session of a second factor is not valid.
    case invalidMultiFactorSession = 17083
    /// The user does not have this second factor.
    case multiFactorInfoNotFound = 17084
    /// The address must be verified for this.
    case unverifiedEmail = 17086
    /// The user has this second factor already.
    case secondFactorAlreadyEnrolled = 17087
    /// The user has as many second factors as can be.
    case maximumSecondFactorCountExceeded = 17088
    /// A second factor does not go with this way to sign in.
    case unsupportedFirstFactor = 17089
    /// A request has nothing that names the app.
    case missingClientIdentifier = 17093
    /// A provider's token goes with another nonce.
    case missingOrInvalidNonce = 17094
    /// A function of the service has refused.
    case blockingCloudFunctionError = 17105
    /// reCAPTCHA is not enabled.
    case recaptchaNotEnabled = 17200
    /// The outcome of a check for robots is needed.
    case missingRecaptchaToken = 17201
    /// The outcome of a check for robots is not valid.
    case invalidRecaptchaToken = 17202
    /// A check for robots was for something else.
    case invalidRecaptchaAction = 17203
    /// A request does not name the type of its app.
    case missingClientType = 17204
    /// A request does not say which check for robots it means.
    case missingRecaptchaVersion = 17205
    /// The reCAPTCHA version is unknown.
    case invalidRecaptchaVersion = 17206
    /// A request is of no known kind.
    case invalidReqType = 17207
    /// The library for checks for robots is not there.
    case recaptchaSDKNotLinked = 17208
    /// The key for checks for robots is missing.
    case recaptchaSiteKeyMissing = 17209
    /// A check for robots could not begin.
    case recaptchaActionCreationFailed = 17210
    /// Links cannot have this domain.
    case invalidHostingLinkDomain = 17214
}
