public import Foundation

/// A record in the database that is not what it should be.
///
/// Whoever reads a list leaves such a record out and is told of it; nothing ends because of one.
public struct RecordFault: Error, Equatable, Sendable {
    /// Where the record is, from the root and without a slash in front: `messages/c1/-Nabc`.
    public let path: String
    /// What is wrong with it, as part of a sentence: `sender.uid: nothing is there`.
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
