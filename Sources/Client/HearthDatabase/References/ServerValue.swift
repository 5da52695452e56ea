public import Foundation

/// Values that the server fills in when it writes them.
public final class ServerValue: NSObject, Sendable {
    /// Milliseconds since 1970 by the server's clock at the time of the write.
    public static func timestamp() -> [AnyHashable: Any] { [".sv": "timestamp"] }

    /// The number that is there, or 0, plus `delta`.
    public static func increment(_ delta: NSNumber) -> [AnyHashable: Any] {
        [".sv": ["increment": delta]]
    }
}
