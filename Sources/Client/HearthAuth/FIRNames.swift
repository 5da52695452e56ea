// Names from before Swift 3, which the hosted service's SDK had for its types. Compilers offer the new ones.

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "Auth")
public typealias FIRAuth = Auth

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "User")
public typealias FIRUser = User

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "UserInfo")
public typealias FIRUserInfo = UserInfo

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "UserMetadata")
public typealias FIRUserMetadata = UserMetadata

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "UserProfileChangeRequest")
public typealias FIRUserProfileChangeRequest = UserProfileChangeRequest

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "AuthCredential")
public typealias FIRAuthCredential = AuthCredential

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "AuthDataResult")
public typealias FIRAuthDataResult = AuthDataResult

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "AuthErrorCode")
public typealias FIRAuthErrorCode = AuthErrorCode

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "AuthStateDidChangeListenerHandle")
public typealias FIRAuthStateDidChangeListenerHandle = AuthStateDidChangeListenerHandle

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "EmailAuthProvider")
public typealias FIREmailAuthProvider = EmailAuthProvider

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "GoogleAuthProvider")
public typealias FIRGoogleAuthProvider = GoogleAuthProvider

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "PhoneAuthProvider")
public typealias FIRPhoneAuthProvider = PhoneAuthProvider

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "OAuthProvider")
public typealias FIROAuthProvider = OAuthProvider

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "ActionCodeSettings")
public typealias FIRActionCodeSettings = ActionCodeSettings
