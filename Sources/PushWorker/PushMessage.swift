import COpenSSL
import Foundation

/// What the webhook is told.
///
///     {"recipient":UID,"sender":"Ann","sentAt":MILLISECONDS,"text":...,
///      "thread":{"key":...,"kind":"direct"|"room","title":...},"type":"message","unread":2}
///
/// `sender` is there for direct chats, `unread` for rooms. The same message has the same bytes at every try.
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

    /// The body of the request.
    var body: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        } catch {
            preconditionFailure("strings and integers are JSON: \(error)")
        }
    }

    private enum CodingKeys: String, CodingKey {
        case type, recipient, sender, sentAt, text, thread, unread
    }
}

/// The `webhook-id` of a message for a recipient.
enum PushID {
    /// `push_` and a SHA-256 over recipient, thread and message, each behind its length: whoever pushes the message
    /// again, at whatever time, gives it the same id.
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
