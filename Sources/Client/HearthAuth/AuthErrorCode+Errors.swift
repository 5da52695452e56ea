public import Foundation

/// Names of the contents of account errors.
public enum AuthErrors {
    /// The domain of the errors.
    public static let domain = AuthErrorDomain
    /// Key in `userInfo` of the code's name, `ERROR_WRONG_PASSWORD`.
    public static let userInfoNameKey = AuthError.nameKey
}

/// A code is also an error: `catch AuthErrorCode.wrongPassword` and `error as? AuthErrorCode` match an `AuthError` with
/// that code, and a code is an `NSError` of the same domain and number.
extension AuthErrorCode: CustomNSError, LocalizedError {
    /// The name that older versions of the hosted service's SDK have for the codes themselves.
    public typealias Code = AuthErrorCode

    /// The code itself, which in older versions of the hosted service's SDK an error has.
    public var code: AuthErrorCode { self }

    /// The code of an error of accounts; `internalError` for any other one.
    public init(_nsError error: NSError) {
        self = AuthErrorCode(_bridgedNSError: error) ?? .internalError
    }

    /// The domain of the errors.
    public static var errorDomain: String { AuthErrorDomain }

    /// The number.
    public var errorCode: Int { rawValue }

    /// The code's name and the error text.
    public var errorUserInfo: [String: Any] {
        [NSLocalizedDescriptionKey: text, AuthError.nameKey: name]
    }

    /// The error text for people.
    public var errorDescription: String? { text }
}

extension AuthErrorCode: _ObjectiveCBridgeableError {
    /// The code of an error of accounts; nil of every other one.
    public init?(_bridgedNSError error: NSError) {
        guard error.domain == AuthErrorDomain else { return nil }
        self.init(rawValue: error.code)
    }
}

#if !canImport(ObjectiveC)
    /// Without Objective-C, casts use this protocol, not `_ObjectiveCBridgeableError`.
    extension AuthErrorCode: _ObjectiveCBridgeable {
        /// The error of this code.
        public func _bridgeToObjectiveC() -> AuthError { AuthError(self) }

        /// The code of an error.
        public static func _conditionallyBridgeFromObjectiveC(
            _ source: AuthError,
            result: inout AuthErrorCode?,
        ) -> Bool {
            result = source.errorCode
            return true
        }

        /// The code of an error.
        public static func _forceBridgeFromObjectiveC(
            _ source: AuthError,
            result: inout AuthErrorCode?,
        ) {
            result = source.errorCode
        }

        /// The code of an error; only the compiler calls it, for errors that it bridged.
        public static func _unconditionallyBridgeFromObjectiveC(
            _ source: AuthError?
        ) -> AuthErrorCode {
            source?.errorCode ?? .internalError
        }
    }
#endif
