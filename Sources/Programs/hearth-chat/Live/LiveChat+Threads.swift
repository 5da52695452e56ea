import Chat
import ChatScreen
import Dispatch
import Foundation
import ServiceCommand

/// Observers of the open thread, and actions in it.
extension LiveChat {
    func perform(_ request: Request) {
        switch request {
        case .open(let id): open(id)
        case .close:
            for observation in feed { observation.remove() }
            feed = []
            stopTyping()
        case .loadOlder(let id, let entry): loadOlder(id, before: entry)
        case .send(let id, let text, let number, let answered):
            sending.put(
                SendQueue.Item(id: id, text: text, number: number, replyTo: answered, list: list)
            )
        case .edit(let id, let key, let text):
            attempt { try await $0.client.revise(key, in: id, to: text) }
        case .unsend(let id, let key): attempt { try await $0.client.revise(key, in: id, to: nil) }
        case .flag(let id, let key, let isFlagged):
            attempt { try await $0.flag(key, in: id, isFlagged) }
        case .markRead(let id, let entry): markRead(id, entry)
        case .typing(.room(let key), let isTyping), .typing(.direct(let key), let isTyping):
            isTyping ? startTyping(key) : stopTyping()
        // There is no chat yet.
        case .typing(.person, _): break
        case .startChat(let text): attempt { try await $0.startChat(text) }
        case .makeRoom(let name): attempt { try await $0.makeRoom(name) }
        case .joinRoom(let name): attempt { try await $0.joinRoom(name) }
        case .command(let id, let command): attempt { try await $0.run(command, in: id) }
        case .ring, .redraw, .suspend, .quit: break
        }
    }

    /// Runs a slow operation; an error is shown once.
    private func attempt(_ body: @escaping @Sendable (LiveChat) async throws -> Void) {
        Task { [mailbox] in
            do {
                try await body(self)
            } catch {
                mailbox.put(.screen(.notice("\(ProgramFault(error))")))
            }
        }
    }

    // MARK: Feeds

    private func open(_ id: ThreadID) {
        firstCount = 0
        isAttending = false
        let mailbox = mailbox
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.loadingPause) {
            mailbox.put(.screen(.loadingLasts(id)))
        }
        let lose: @Sendable (ServiceError) -> Void = { error in
            let isRefused = if case .refused = error { true } else { false }
            let why = isRefused ? "you are not in this chat any more" : "\(error)"
            mailbox.put(.screen(.lost(id, why: why)))
        }
        switch id {
        case .direct(let key):
            feed = [
                client.chats.observeMessages(
                    forChatKey: key,
                    newest: UInt(Self.pageSize),
                    with: { mailbox.put(.message(key, $0)) },
                    withCancel: lose
                ),
                observeTyping(key, id), observeReadStatus(key, id),
            ]
            attendOpenChat()
        case .room(let key):
            feed = [
                client.rooms.observeEvents(
                    in: key,
                    newest: Self.pageSize,
                    with: { mailbox.put(.event(key, $0)) },
                    withCancel: lose
                ),
                observeTyping(key, id), observeReadStatus(key, id),
            ]
        case .person(let uid):
            attend(uid, id)
            mailbox.put(.screen(.caughtUp(id, isComplete: true)))
        }
    }

    private func observeTyping(_ key: String, _ id: ThreadID) -> Observation {
        client.rooms.observeTyping(
            in: key,
            with: { [mailbox] in mailbox.put(.screen(.typing(id, $0))) },
            // The observer of entries reports the end of access.
            withCancel: { _ in }
        )
    }

    private func observeReadStatus(_ key: String, _ id: ThreadID) -> Observation {
        client.rooms.observeReadStatus(
            in: key,
            with: { [mailbox] listing in
                let readers = listing.records.map { ($0.uid, $0.upTo) }
                mailbox.put(.screen(.read(id, Dictionary(readers) { $1 })))
            },
            // The observer of entries reports the end of access.
            withCancel: { _ in }
        )
    }

    /// Observes whether the other of the open chat is there, once it is known who that is.
    func attendOpenChat() {
        guard !isAttending, case .direct(let key) = screen.openThread else { return }
        let chat = chats?.first { $0.key == key }
        if let other = chat?.member(beside: client.me.uid) { attend(other, .direct(key)) }
    }

    private func attend(_ uid: String, _ id: ThreadID) {
        isAttending = true
        feed.append(
            client.presence.observe(uid) { [mailbox] state in
                let attendance: Attendance =
                    switch state {
                    case .online: .online
                    case .lastOnline(let date): .away(date)
                    case .unknown: .unknown
                    }
                mailbox.put(.screen(.attendance(id, attendance)))
            }
        )
    }

    func takeMessage(_ event: MessageEvent, in key: String) -> [Request] {
        let id = ThreadID.direct(key)
        switch event {
        case .added(let message), .changed(let message):
            if case .added = event { firstCount += 1 }
            if list.people[message.sender.uid] == nil {
                learn([message.sender.uid])
                // The username at that time, until the present one is known.
                mailbox.put(.screen(.names([message.sender.uid: message.sender.username])))
            }
            return screen.apply(.entry(id, Entry(message)))
        case .removed(let key): return screen.apply(.removed(id, key: key))
        case .faulty(let fault):
            firstCount += 1
            return screen.apply(.notice("left out: \(fault)"))
        case .caughtUp:
            return screen.apply(.caughtUp(id, isComplete: firstCount < Self.pageSize))
        }
    }

    func takeEvent(_ change: EventChange, in key: String) -> [Request] {
        let id = ThreadID.room(key)
        switch change {
        case .added(let event), .changed(let event):
            if case .added = change { firstCount += 1 }
            let entry = Entry(event)
            learn(entry.people)
            return screen.apply(.entry(id, entry))
        case .removed(let event): return screen.apply(.removed(id, key: event.key))
        case .faulty(let fault):
            firstCount += 1
            return screen.apply(.notice("left out: \(fault)"))
        case .caughtUp:
            return screen.apply(.caughtUp(id, isComplete: firstCount < Self.pageSize))
        }
    }

    private func loadOlder(_ id: ThreadID, before entry: Entry) {
        Task { [client, mailbox] in
            do {
                let (entries, isComplete) = try await client.page(id, before: entry)
                mailbox.put(.older(id, entries, isComplete: isComplete))
            } catch {
                mailbox.put(.screen(.olderFailed(id)))
                mailbox.put(.screen(.notice("\(ProgramFault(error))")))
            }
        }
    }

    // MARK: Marks

    private func markRead(_ id: ThreadID, _ entry: Entry) {
        switch id {
        case .person: break
        case .direct(let key):
            attempt { try await $0.client.chats.markRead(key, upTo: entry.key) }
        case .room(let key):
            attempt { chat in
                do {
                    try await chat.client.rooms.markRead(key, upTo: entry.key)
                } catch ServiceError.refused {
                    // If the user has left in the meantime, the room itself reports it.
                    return
                }
            }
        }
    }

    private func startTyping(_ thread: String) {
        typingKey += 1
        let key = typingKey
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.typingPause) { [mailbox] in
            mailbox.put(.typingPaused(key))
        }
        guard typingThread != thread else { return }
        stopTyping()
        typingThread = thread
        typing.start(in: thread)
    }

    func stopTyping() {
        guard let thread = typingThread else { return }
        typingThread = nil
        typing.stop(in: thread)
    }
}

extension Client {
    /// A page of older entries, and whether it is the last one.
    fileprivate func page(
        _ id: ThreadID,
        before entry: Entry
    ) async throws -> ([Entry], isComplete: Bool) {
        switch id {
        case .person: return ([], true)
        case .direct(let key):
            let first = Message(
                key: entry.key,
                content: "",
                timestamp: entry.at,
                sentAt: entry.at,
                sender: .init(uid: entry.by, username: "")
            )
            let page = try await chats.olderMessages(
                forChatKey: key,
                before: first,
                count: UInt(LiveChat.pageSize)
            )
            return (page.records.map { Entry($0) }, page.isLastPage(ofSize: LiveChat.pageSize))
        case .room(let key):
            let milliseconds = (entry.at.timeIntervalSince1970 * 1000).rounded()
            let page = try await rooms.olderEvents(
                in: key,
                before: EventPosition(milliseconds: milliseconds, key: entry.key),
                count: LiveChat.pageSize
            )
            return (page.records.map { Entry($0) }, page.isLastPage(ofSize: LiveChat.pageSize))
        }
    }
}

extension Entry {
    init(_ message: Message) {
        self.init(
            key: message.key,
            at: message.sentAt,
            by: message.sender.uid,
            body: message.isDeleted ? .deleted : .said(message.content),
            replyTo: message.replyTo,
            isEdited: message.editedAt != nil,
            attachments: message.attachments
        )
    }

    init(_ event: RoomEvent) {
        var message: RoomEvent.Message?
        if case .message(let said) = event.content { message = said }
        let body: Body =
            switch event.content {
            case .message(let message): .said(message.words)
            case .deletedMessage: .deleted
            case .createdChat: .created
            case .addedUser(let uid): .came(uid)
            case .userLeft(let uid): .went(uid)
            case .renamedChat(let name): .renamed(name)
            }
        self.init(
            key: event.key,
            at: event.at,
            by: event.by,
            body: body,
            replyTo: message?.replyTo,
            isEdited: message?.editedAt != nil,
            attachments: message?.attachments ?? []
        )
    }

    /// The accounts whose names it shows.
    var people: [String] {
        switch body {
        case .said, .deleted, .created, .renamed: [by]
        case .came(let uid), .went(let uid): [by, uid]
        }
    }
}
