import Chat
import ChatScreen
import ServiceCommand

/// Sends messages one after another, so that they arrive in the order of writing.
///
/// Without a connection it waits. Each outcome is reported once.
final class SendQueue: Sendable {
    /// Something to say in a thread.
    struct Item: Sendable {
        let id: ThreadID
        let text: String
        let number: Int
        /// The key of the message that it answers.
        let replyTo: String?
        /// The people who are known.
        let list: ThreadList
    }

    private let items: AsyncStream<Item>.Continuation

    init(_ client: Client, _ mailbox: Mailbox) {
        let (stream, continuation) = AsyncStream<Item>.makeStream()
        items = continuation
        Task {
            // Chats started by the first text to a person.
            var started: [String: DirectChat] = [:]
            // Event keys of texts not sent to rooms: a repeated text has the same key, so it is there once.
            var keys: [Int: String] = [:]
            for await item in stream {
                do {
                    if let chat = try await Self.send(item, client, &started, &keys) {
                        let other = chat.member(beside: client.me.uid)
                        if let person = other.flatMap({ item.list.people[$0] }) {
                            mailbox.put(.started(chat, with: person))
                        }
                    }
                    keys[item.number] = nil
                    mailbox.put(.screen(.sent(item.id, number: item.number)))
                } catch let fault as NotFollowed {
                    let why = "you do not follow \(fault.username) yet: type /follow, then ^R"
                    mailbox.put(.screen(.refused(item.id, number: item.number, why: why)))
                } catch {
                    let why = "\(ProgramFault(error))"
                    mailbox.put(.screen(.refused(item.id, number: item.number, why: why)))
                }
            }
        }
    }

    func put(_ item: Item) { items.yield(item) }

    /// Sends one.
    ///
    /// - Returns: The chat that it has started.
    private static func send(
        _ item: Item,
        _ client: Client,
        _ started: inout [String: DirectChat],
        _ keys: inout [Int: String]
    ) async throws -> DirectChat? {
        switch item.id {
        case .room(let key):
            let event = try keys[item.number] ?? client.rooms.newEventKey(in: key)
            keys[item.number] = event
            try await naming("send to this room") {
                try await client.rooms.send(
                    text: item.text,
                    replyingTo: item.replyTo,
                    key: event,
                    to: key
                )
            }
        case .direct(let key):
            try await client.chats.sendMessage(
                item.text,
                for: try await client.chat(key),
                replyingTo: item.replyTo
            )
        case .person(let uid):
            if let chat = started[uid] {
                try await client.chats.sendMessage(item.text, for: chat)
                return nil
            }
            guard let person = item.list.people[uid] else {
                throw ServiceError.notFound("person any more")
            }
            let chat = try await client.start(item.text, with: person)
            started[uid] = chat
            return chat
        }
        return nil
    }
}

extension Client {
    /// A direct chat of the user's, by its key.
    func chat(_ key: String) async throws -> DirectChat {
        guard let chat = try await chats.show(forChatKey: key) else {
            throw ServiceError.notFound("chat any more")
        }
        return chat
    }
}
