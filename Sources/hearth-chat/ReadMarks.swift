import Chat
import Foundation
import Synchronization

/// Up to where direct chats were read on this machine; how far rooms were read is in the database.
///
///     {"CHAT": {"at": MILLISECONDS OF THE SERVER, "key": "MESSAGE"}, ...}
final class ReadMarks: Sendable {
    private struct Mark: Codable {
        let at: Double
        let key: String
    }

    private let path: String
    private let marks: Mutex<[String: Mark]>

    /// Those of a profile; none when there is no file, or one that makes no sense.
    init(folder: String) {
        path = "\(folder)/read-chats.json"
        let bytes = FileManager.default.contents(atPath: path) ?? Data()
        // A mark that is lost only makes more of a chat unread.
        marks = Mutex((try? JSONDecoder().decode([String: Mark].self, from: bytes)) ?? [:])
    }

    /// Marks a chat as read up to a message.
    func set(_ chat: String, upTo key: String, at date: Date) throws {
        let mark = Mark(at: (date.timeIntervalSince1970 * 1000).rounded(), key: key)
        let bytes = try marks.withLock { marks in
            guard marks[chat].map({ $0.at < mark.at }) ?? true else { return nil as Data? }
            marks[chat] = mark
            return try JSONEncoder().encode(marks)
        }
        if let bytes { try bytes.write(to: URL(filePath: path), options: .atomic) }
    }

    /// Whether a chat has something behind its mark.
    func isBehind(_ chat: DirectChat) -> Bool {
        guard let last = last(chat.key) else { return true }
        return last.sentAt < chat.lastMessageAt
    }

    /// The message that was read last, as far as it decides about others.
    func last(_ chat: String) -> Message? {
        marks.withLock { $0[chat] }.map { mark in
            let date = Date(timeIntervalSince1970: mark.at / 1000)
            return Message(
                key: mark.key,
                content: "",
                timestamp: date,
                sentAt: date,
                sender: .init(uid: "", username: ""),
            )
        }
    }
}

extension Client {
    /// Messages of others in a chat that were not read on this machine; at most 100 are counted.
    ///
    /// Whoever has answered has read what was there.
    func unread(in chat: DirectChat, _ marks: ReadMarks) async throws -> Int {
        guard marks.isBehind(chat) else { return 0 }
        let page = try await chats.olderMessages(forChatKey: chat.key, before: nil, count: 100)
        let answer = page.records.last { $0.sender.uid == me.uid }
        let read = [answer, marks.last(chat.key)].compactMap { $0 }.max { $0.precedes($1) }
        return UnreadCount.of(page.records, after: read, for: me.uid)
    }
}
