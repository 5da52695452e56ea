import COpenSSL
import Foundation

/// The body for the webhook.
///
///     {"recipient":UID,"sender":"Ann","sentAt":MILLISECONDS,"text":...,
///      "thread":{"key":...,"kind":"direct"|"room","title":...},"type":"message","unread":2}
///
/// Direct chats have a `sender`; `unread` is present if unread messages are counted. All tries of a message have the
/// same bytes.
struct PushMessage: Encodable {
    struct Thread: Encodable {
        let key: String
        let kind: String
        let title: String
    }

    let type = "message"
    let recipient: String
    let sender: String?
    let sentAt: Int64
    let text: String
    let thread: Thread
    let unread: Int?

    init(_ news: ThreadNews, in thread: PushThread) {
        recipient = thread.recipient
        sender = news.sender
        sentAt = news.at
        text = news.text
        self.thread = Thread(key: thread.key, kind: news.kind.rawValue, title: news.title)
        unread = news.unread
    }

    var body: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        } catch {
            preconditionFailure("strings and integers are JSON: \(error)")
        }
    }
}

/// The `webhook-id` of a message for a recipient.
enum PushID {
    /// `push_` and a SHA-256 over recipient, thread and message, each after its length: every push of the message has
    /// the same id.
    static func of(_ thread: PushThread, _ messageKey: String) -> String {
        let parts = [thread.recipient, thread.key, messageKey]
        let text = Array(parts.map { "\($0.utf8.count):\($0)" }.joined().utf8)
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        SHA256(text, text.count, &digest)
        let digits = Array("0123456789abcdef".utf8)
        let hex = digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return "push_" + String(decoding: hex, as: UTF8.self)
    }
}
