public import Foundation

/// A message that an outbox was given, and what has become of it.
public struct OutgoingMessage: Equatable, Identifiable, Sendable {
    /// What has become of a message.
    public enum State: Equatable, Sendable {
        /// It is on its way, or waits for a connection.
        case pending
        /// The server has it.
        case sent
        /// It was not sent, and why; nobody else has seen it.
        case refused(ServiceError)
    }

    /// The key that it has in the chat too.
    public let key: String
    /// The chat.
    public let chatKey: String
    /// What it says.
    public let content: String
    /// Who said it; the username is that of the moment.
    public let sender: Message.Sender
    /// When it was written, by the device's clock; to be shown.
    public let timestamp: Date
    /// The key of the message that it answers.
    public let replyTo: String?
    /// What has become of it.
    public internal(set) var state: State

    /// The key.
    public var id: String { key }
}
