public import Foundation

#if !canImport(ObjectiveC)
    /// Without Objective-C, Foundation makes no `NSError` of an enum in a cast or pattern. Code for Apple's systems
    /// uses such casts, so this supports `catch let error as NSError` and `error as? NSError`.
    extension StorageError: _ObjectiveCBridgeable {
        private static let key = "HearthStorageError"

        /// The error with its domain, code and description.
        public func _bridgeToObjectiveC() -> NSError {
            var info = errorUserInfo
            info[Self.key] = self
            return NSError(domain: Self.errorDomain, code: errorCode, userInfo: info)
        }

        /// Converts an `NSError` made above back; nil for every other error.
        public static func _conditionallyBridgeFromObjectiveC(
            _ source: NSError,
            result: inout StorageError?,
        ) -> Bool {
            result = source.userInfo[key] as? StorageError
            return result != nil
        }

        /// The same, for a forced cast.
        public static func _forceBridgeFromObjectiveC(
            _ source: NSError,
            result: inout StorageError?,
        ) {
            if !_conditionallyBridgeFromObjectiveC(source, result: &result) {
                preconditionFailure("\(source) was never a StorageError: cast it with as?")
            }
        }

        /// The same; only the compiler calls it, for errors that it bridged.
        public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> StorageError
        {
            guard let error = source?.userInfo[key] as? StorageError else {
                preconditionFailure("what is cast was never a StorageError: cast it with as?")
            }
            return error
        }
    }
#endif
