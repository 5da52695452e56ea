public import Foundation

/// An invalid record in the database.
///
/// A reader of a list skips such a record and reports it; a fault ends nothing.
public struct RecordFault: Error, Equatable, Sendable {
    /// Where the record is, from the root and without a slash in front: `messages/c1/-Nabc`.
    public let path: String
    /// The reason, as part of a sentence: `sender.uid: nothing is there`.
    public let reason: String

    package init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }
}

extension RecordFault: LocalizedError, CustomStringConvertible {
    /// Path and reason.
    public var description: String { "\(path): \(reason)" }

    /// The same.
    public var errorDescription: String? { description }
}
