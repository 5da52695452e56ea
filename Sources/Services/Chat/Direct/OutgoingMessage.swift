public import Foundation

/// A message in an outbox, and its state.
public struct OutgoingMessage: Equatable, Identifiable, Sendable {
    /// The state of a message.
    public enum State: Equatable, Sendable {
        /// It is on its way, or waits for a connection.
        case pending
        /// The server has it.
        case sent
        /// It was refused, and why; no other client has seen it.
        case refused(ServiceError)
    }

    /// The key that it has in the chat too.
    public let key: String
    /// The chat.
    public let chatKey: String
    /// Its text.
    public let content: String
    /// The sender, with the username at the time of writing.
    public let sender: Message.Sender
    /// When it was written, by the device's clock; to be shown.
    public let timestamp: Date
    /// The key of the message that it answers.
    public let replyTo: String?
    /// Its state.
    public internal(set) var state: State

    /// The key.
    public var id: String { key }
}
