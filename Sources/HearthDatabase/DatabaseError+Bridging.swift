public import Foundation

#if !canImport(ObjectiveC)
    /// Where there is no Objective-C, Foundation makes no `NSError` of an enum in a cast or a pattern. Code for Apple's
    /// systems casts, so this makes one: `catch let error as NSError` and `error as? NSError` match.
    extension DatabaseError: _ObjectiveCBridgeable {
        private static let key = "HearthDatabaseError"

        /// The error with its domain, code and description.
        public func _bridgeToObjectiveC() -> NSError {
            var info = errorUserInfo
            info[Self.key] = self
            return NSError(domain: Self.errorDomain, code: errorCode, userInfo: info)
        }

        /// What was made an `NSError` above; nil of every other one.
        public static func _conditionallyBridgeFromObjectiveC(
            _ source: NSError,
            result: inout DatabaseError?,
        ) -> Bool {
            result = source.userInfo[key] as? DatabaseError
            return result != nil
        }

        /// The same, for a cast that was said to succeed.
        public static func _forceBridgeFromObjectiveC(
            _ source: NSError,
            result: inout DatabaseError?,
        ) {
            if !_conditionallyBridgeFromObjectiveC(source, result: &result) {
                preconditionFailure("\(source) was never a DatabaseError: cast it with as?")
            }
        }

        /// The same; only the compiler calls it, of what it bridged itself.
        public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> DatabaseError
        {
            guard let error = source?.userInfo[key] as? DatabaseError else {
                preconditionFailure("what is cast was never a DatabaseError: cast it with as?")
            }
            return error
        }
    }
#endif
