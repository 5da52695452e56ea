public import Foundation

/// A time that the server sets: nil is written as the server's time, and read as the stored time.
///
///     struct Message: Codable {
///         var text: String
///         @ServerTimestamp var sentAt: Date?
///     }
@propertyWrapper
public struct ServerTimestamp: Codable, Equatable, Hashable, Sendable {
    /// The time; nil: that of the write.
    public var wrappedValue: Date?

    /// Wraps a time.
    public init(wrappedValue value: Date?) { wrappedValue = value }

    /// Reads milliseconds since 1970.
    public init(from decoder: any Swift.Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            wrappedValue = nil
        } else {
            let milliseconds = try container.decode(Double.self)
            wrappedValue = Date(timeIntervalSince1970: milliseconds / 1_000)
        }
    }

    /// Writes milliseconds since 1970, or the placeholder for the server's time.
    public func encode(to encoder: any Swift.Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue {
            try container.encode(Int64((wrappedValue.timeIntervalSince1970 * 1_000).rounded()))
        } else {
            try container.encode([".sv": "timestamp"])
        }
    }
}
