import Chat
import Foundation
import ServiceCommand

/// A thread as plain lines of a time, optionally a key, and the text: `2026-11-21 20:55  ann: hello`.
struct PlainReader {
    let client: Client
    let hasWholeTimes: Bool
    let hasKeys: Bool
    private let time = LocalTime()

    private static let deleted = "(message deleted)"
    private static let edited = " (edited)"

    init(client: Client, hasWholeTimes: Bool, hasKeys: Bool) {
        self.client = client
        self.hasWholeTimes = hasWholeTimes
        self.hasKeys = hasKeys
    }

    /// Prints the newest messages of a chat, and with `follows` each new one.
    func readChat(_ chat: DirectChat, _ count: Int, follows: Bool) async throws {
        let page = try await client.chats.olderMessages(
            forChatKey: chat.key,
            before: nil,
            count: UInt(count)
        )
        for fault in page.faults { Output.warn("left out: \(fault)") }
        for message in page.records { try printMessage(message) }
        if let last = page.records.last {
            try await client.chats.markRead(chat.key, upTo: last.key)
        }
        guard follows else { return }
        let last = page.records.last
        let (events, continuation) = AsyncThrowingStream<MessageEvent, any Error>.makeStream()
        let observation = client.chats.observeMessages(
            forChatKey: chat.key,
            after: last,
            with: { continuation.yield($0) },
            withCancel: { continuation.finish(throwing: $0) }
        )
        defer { observation.remove() }
        for try await event in events {
            switch event {
            // All messages of the last one's millisecond are reported again.
            case .added(let message):
                guard !page.records.contains(where: { $0.key == message.key }) else { continue }
                try printMessage(message)
                try await client.chats.markRead(chat.key, upTo: message.key)
            case .faulty(let fault): Output.warn("left out: \(fault)")
            case .changed, .removed, .caughtUp: continue
            }
        }
    }

    /// Prints the newest events of a room, and with `follows` each new one.
    func readRoom(_ room: RoomSummary, _ count: Int, follows: Bool) async throws {
        let page = try await client.rooms.olderEvents(in: room.key, before: nil, count: count)
        var names = [client.me.uid: client.me.username]
        for fault in page.faults { Output.warn("left out: \(fault)") }
        for event in page.records { try await printEvent(event, &names) }
        if let last = page.records.last {
            try await client.rooms.markRead(room.key, upTo: last.key)
        }
        guard follows else { return }
        let (events, continuation) = AsyncThrowingStream<EventChange, any Error>.makeStream()
        let observation = client.rooms.observeEvents(
            in: room.key,
            newest: nil,
            after: page.records.last?.position,
            with: { continuation.yield($0) },
            withCancel: { continuation.finish(throwing: $0) }
        )
        defer { observation.remove() }
        for try await event in events {
            switch event {
            case .added(let event):
                try await printEvent(event, &names)
                try await client.rooms.markRead(room.key, upTo: event.key)
            case .faulty(let fault): Output.warn("left out: \(fault)")
            case .changed, .removed, .caughtUp: continue
            }
        }
    }

    private func printMessage(_ message: Message) throws {
        let said = message.isDeleted ? Self.deleted : message.content
        let mark = message.editedAt == nil ? "" : Self.edited
        let files = message.attachments.map { " \($0.link)" }.joined()
        let words = "\(message.sender.username): \(said)\(mark)\(files)"
        try printLine(message.sentAt, message.key, words)
    }

    private func printEvent(_ event: RoomEvent, _ names: inout [String: String]) async throws {
        func name(_ uid: String) async throws -> String {
            if let name = names[uid] { return name }
            let name = try await client.people.show(forUID: uid)?.username ?? uid
            names[uid] = name
            return name
        }
        let by = try await name(event.by)
        let words: String
        switch event.content {
        case .message(let message):
            let files = message.attachments.map { " \($0.link)" }.joined()
            words = "\(by): \(message.words)\(message.editedAt == nil ? "" : Self.edited)\(files)"
        case .deletedMessage: words = "\(by): \(Self.deleted)"
        case .createdChat: words = "* \(by) made the room"
        case .addedUser(let uid):
            words =
                uid == event.by ? "* \(by) came in" : "* \(by) invited \(try await name(uid))"
        case .userLeft(let uid):
            words = uid == event.by ? "* \(by) left" : "* \(by) put \(try await name(uid)) out"
        case .renamedChat(let name): words = "* \(by) called the room \(name)"
        }
        try printLine(event.at, event.key, words)
    }

    private func printLine(_ date: Date, _ key: String, _ words: String) throws {
        let stamp = hasWholeTimes ? time.iso(date) : time.shown(date)
        try Output.print(fields: [stamp] + (hasKeys ? [key] : []) + [words])
    }
}

extension Attachment {
    /// What it is and where: `[lake.png, 12 kB: http://...]`.
    fileprivate var link: String { "[\(title), \(sizeText): \(url.absoluteString)]" }
}

extension RoomEvent.Message {
    /// Its content as text.
    var words: String {
        var parts: [String] = []
        if let text { parts.append(text) }
        if let picture { parts.append("[picture \(picture)]") }
        if let location { parts.append("[place \(location.latitude), \(location.longitude)]") }
        return parts.joined(separator: " ")
    }
}
