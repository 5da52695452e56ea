#if !canImport(ObjectiveC)
    public import Foundation

    /// `snapshot.value as? CGFloat` gives a number, as on Apple's systems and as the cast to `Double` does here.
    extension CGFloat: @retroactive _ObjectiveCBridgeable {
        /// The number as an object.
        public func _bridgeToObjectiveC() -> NSNumber { NSNumber(value: Double(self)) }

        /// Any number is one of these.
        public static func _conditionallyBridgeFromObjectiveC(
            _ source: NSNumber,
            result: inout CGFloat?,
        ) -> Bool {
            result = CGFloat(source.doubleValue)
            return true
        }

        /// Any number is one of these.
        public static func _forceBridgeFromObjectiveC(_ source: NSNumber, result: inout CGFloat?) {
            result = CGFloat(source.doubleValue)
        }

        /// Any number is one of these; nothing is 0.
        public static func _unconditionallyBridgeFromObjectiveC(_ source: NSNumber?) -> CGFloat {
            CGFloat(source?.doubleValue ?? 0)
        }
    }
#endif
