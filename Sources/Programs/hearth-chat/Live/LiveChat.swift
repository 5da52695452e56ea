import Chat
import ChatScreen
import Dispatch
import Foundation
import ServiceCommand
import Terminal

/// The chat while it is open on a terminal: it sends events to the screen, and carries out the screen's requests.
actor LiveChat {
    let client: Client
    let mailbox = Mailbox()
    let sending: SendQueue
    let typing: TypingQueue

    var screen: Screen
    var chats: [DirectChat]?
    var rooms: [RoomSummary]?
    var list: ThreadList
    /// Paths of faults already reported.
    var reported: Set<String> = []
    /// Profiles that are observed, by account.
    var profiles: [String: Observation] = [:]
    /// Accounts that the user follows.
    var following: [String] = []
    /// Whether the own list of rooms was brought up to date.
    var isMended = false
    /// Milliseconds that the server's clock is ahead of this machine's.
    var serverOffset = 0.0
    /// Observers of the open thread.
    var feed: [Observation] = []
    /// Whether the presence of the other in the open chat is observed.
    var isAttending = false
    /// Entries of the open thread before it was caught up, and its faults.
    var firstCount = 0
    /// The room or chat in which the user is shown typing, and the number of the last key there.
    var typingThread: String?
    var typingKey = 0

    /// Entries that a thread is opened with, and of an older page.
    static let pageSize = 50
    /// For how long nothing is shown of a thread that has not all come.
    static let loadingPause = DispatchTimeInterval.seconds(1)
    /// How long a user without input is still shown typing.
    static let typingPause = DispatchTimeInterval.seconds(5)
    /// Followed people that the screen offers; others can be typed.
    static let acquaintances = 500
    /// For how long the program waits for the server when it ends.
    private static let goodbye = DispatchTimeInterval.seconds(2)

    init(client: Client, hasBell: Bool) {
        self.client = client
        list = ThreadList(me: client.me, people: [client.me.uid: client.me])
        sending = SendQueue(client, mailbox)
        typing = TypingQueue(client, mailbox)
        screen = Screen(
            uid: client.me.uid,
            username: client.me.username,
            size: Size(columns: 80, rows: 24),
            timeZone: .current,
            hasBell: hasBell
        )
    }

    /// Shows the chat until the user leaves it.
    func run(
        _ features: TerminalFeatures,
        opening first: ThreadChoice?
    ) async throws {
        let presence = client.presence.appear { [mailbox] error in
            mailbox.put(.screen(.notice("\(error)")))
        }
        learn([client.me.uid])
        let observations = observe()
        let terminal = try RawTerminal { [mailbox] in mailbox.put(.terminal($0)) }
        var painter = Painter(hasColors: features.hasColors, hasLinks: features.hasLinks)
        mailbox.put(.terminal(.resized(terminal.size)))
        if let first { start(first) }
        var isOver = false
        for await _ in mailbox.rings where !isOver {
            for happening in mailbox.take() where !isOver {
                for request in take(happening) {
                    switch request {
                    case .redraw: painter.forget()
                    case .ring: terminal.write("\u{7}")
                    case .suspend:
                        terminal.suspend()
                        painter.forget()
                    case .quit: isOver = true
                    case let request: perform(request)
                    }
                }
                if case .terminal(.ended) = happening { isOver = true }
                if case .terminal(.resized) = happening { painter.forget() }
            }
            if isOver { break }
            terminal.write(painter.paint(screen.frame()))
        }
        terminal.restore()
        await finishSending()
        for observation in observations + feed + profiles.values { observation.remove() }
        await leave(presence)
        // Messages reported as unsent now must not be sent at the next start.
        client.session.database.purgeOutstandingWrites()
        try tellUnsent()
    }

    /// Waits, without limit, until the last messages have arrived.
    private func finishSending() async {
        guard !screen.unsent.isEmpty else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.goodbye) { [mailbox] in
            mailbox.put(.waitedEnough)
        }
        for await _ in mailbox.rings {
            for happening in mailbox.take() {
                if case .waitedEnough = happening { return }
                // The screen is closed: its requests are dropped.
                _ = take(happening)
            }
            if screen.unsent.isEmpty { return }
        }
    }

    /// Prints input and messages that may be lost: nothing keeps them when the program has ended.
    private func tellUnsent() throws {
        let unsent = screen.unsent
        guard !unsent.isEmpty else { return }
        for item in unsent {
            Output.warn("not confirmed by the server, to \(item.title): \(item.text)")
        }
        let messages = unsent.count == 1 ? "1 message is" : "\(unsent.count) messages are"
        throw ProgramFault("\(messages) not confirmed by the server")
    }

    /// Says goodbye, for as long as that may take; the server notices by itself otherwise.
    private func leave(_ presence: Presence) async {
        let (ends, continuation) = AsyncStream<Void>.makeStream()
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.goodbye) { continuation.finish() }
        let farewell = Task {
            do {
                try await presence.disappear()
            } catch {
                // The end of the connection says the same.
            }
            continuation.finish()
        }
        for await _ in ends {}
        farewell.cancel()
    }

    private func start(_ thread: ThreadChoice) {
        switch thread {
        case .direct(let chat):
            let row = list.thread(chat)
            mailbox.put(.screen(.start(Self.threadRow(row))))
        case .room(let room): mailbox.put(.screen(.start(Self.threadRow(list.thread(room)))))
        case .person(let person):
            know(person)
            mailbox.put(.screen(.start(Self.personRow(person))))
        }
    }

    // MARK: Events

    private func observe() -> [Observation] {
        let database = client.session.database
        let offset = database.reference(withPath: ".info/serverTimeOffset")
        let connected = database.reference(withPath: ".info/connected")
        let offsetHandle = offset.observe(.value) { [mailbox] snapshot in
            mailbox.put(.serverOffset((snapshot.value as? NSNumber)?.doubleValue ?? 0))
        }
        let connectedHandle = connected.observe(.value) { [mailbox] snapshot in
            let isConnected = snapshot.value as? Bool == true
            mailbox.put(.screen(.connection(isConnected)))
            if isConnected { mailbox.put(.connected) }
        }
        let fail: @Sendable (ServiceError) -> Void = { [mailbox] error in
            mailbox.put(.screen(.notice("\(error)")))
        }
        return [
            Watch(location: offset, handle: offsetHandle),
            Watch(location: connected, handle: connectedHandle),
        ].map(\.observation) + [
            client.people.observeChats(
                with: { [mailbox] in mailbox.put(.chats($0)) },
                withCancel: fail
            ),
            client.rooms.observeRooms(
                with: { [mailbox] in mailbox.put(.rooms($0)) },
                withCancel: fail
            ),
            client.rooms.observeMutes(
                with: { [mailbox] in mailbox.put(.mutes($0)) },
                withCancel: fail
            ),
            client.graph.observeFollowing(
                with: { [mailbox] in mailbox.put(.following($0)) },
                withCancel: fail
            ),
        ]
    }

    /// Passes an event to the screen; returns the screen's requests.
    private func take(_ happening: Happening) -> [Request] {
        switch happening {
        case .terminal(.key(let key)): return screen.apply(.key(key))
        case .terminal(.resized(let size)): return screen.apply(.resized(size))
        case .terminal(.ended): return []
        case .screen(let event): return screen.apply(event)
        case .chats(let listing):
            chats = listing.records
            learn(listing.records.compactMap { $0.member(beside: client.me.uid) })
            attendOpenChat()
            return showList(listing.faults)
        case .rooms(let listing):
            rooms = listing.records
            return showList(listing.faults)
        case .mutes(let mutes):
            list.mutes = mutes
            return showList()
        case .person(let person):
            know(person)
            return showList() + screen.apply(.names([person.uid: person.username]))
                + showAcquaintances()
        case .following(let uids):
            following = Array(uids.prefix(Self.acquaintances))
            learn(following)
            return showAcquaintances()
        case .connected:
            mend()
            return []
        case .message(let key, let event): return takeMessage(event, in: key)
        case .event(let key, let change): return takeEvent(change, in: key)
        case .older(let id, let entries, let isComplete):
            learn(entries.flatMap(\.people))
            return screen.apply(.older(id, entries, isComplete: isComplete))
        case .started(let chat, let person):
            know(person)
            let isOpen = screen.openThread == .person(person.uid)
            return isOpen ? screen.apply(.start(Self.threadRow(list.thread(chat)))) : []
        case .serverOffset(let offset):
            serverOffset = offset
            return showList()
        case .typingPaused(let key):
            if key == typingKey { stopTyping() }
            return []
        case .waitedEnough: return []
        }
    }

    private func showList(_ faults: [RecordFault] = []) -> [Request] {
        var requests: [Request] = []
        for fault in faults where reported.insert(fault.path).inserted {
            requests += screen.apply(.notice("left out: \(fault)"))
        }
        // Both, or the first one to come would look like all there is.
        guard let chats, let rooms else { return requests }
        let rows = list.merge(chats: chats, rooms: rooms).map { Self.threadRow($0) }
        return requests + screen.apply(.threads(rows, now: now))
    }

    /// By the server's clock.
    private var now: Date { Date().addingTimeInterval(serverOffset / 1000) }

    static func threadRow(_ thread: ChatThread) -> ThreadRow {
        let id: ThreadID =
            switch thread.source {
            case .direct(let chat): .direct(chat.key)
            case .room(let room): .room(room.key)
            }
        return ThreadRow(
            id: id,
            title: thread.title,
            lastText: thread.lastText,
            lastAt: thread.time,
            unread: thread.isMuted ? 0 : thread.unread
        )
    }

    /// A person without a chat yet.
    static func personRow(_ person: UserProfile) -> ThreadRow {
        ThreadRow(
            id: .person(person.uid),
            title: DisplayName.of(person),
            lastText: "",
            lastAt: Date(timeIntervalSince1970: 0),
            unread: 0
        )
    }

    // MARK: People

    private func know(_ person: UserProfile) {
        list.people[person.uid] = person
        learn([person.uid])
        mailbox.put(.screen(.names([person.uid: person.username])))
    }

    /// Observes the profiles of people who are not known, which keeps them for a start without a connection.
    func learn(_ uids: [String]) {
        for uid in uids where profiles[uid] == nil {
            let location = client.session.database.reference(withPath: "users").child(uid)
            let handle = location.observe(.value) { [mailbox] snapshot in
                guard snapshot.exists() else { return }
                do throws(RecordFault) {
                    mailbox.put(.person(try snapshot.record(as: UserProfile.self)))
                } catch {
                    mailbox.put(.screen(.notice("left out: \(error)")))
                }
            }
            profiles[uid] = Observation(location, handle)
        }
    }

    /// Shows the people whom the user follows, as far as their profiles are known.
    private func showAcquaintances() -> [Request] {
        let people = following.compactMap { list.people[$0] }
            .map { Acquaintance(username: $0.username, name: DisplayName.of($0)) }
        return screen.apply(
            .acquaintances(people.sorted { $0.username.lowercased() < $1.username.lowercased() })
        )
    }

    /// Brings the own list of rooms up to date, once, when there is a connection.
    private func mend() {
        guard !isMended else { return }
        isMended = true
        Task { [client, mailbox] in
            for notice in await client.mendRooms() { mailbox.put(.screen(.notice(notice))) }
        }
    }
}

/// An observer of a location that no service covers.
private struct Watch {
    let location: DatabaseReference
    let handle: DatabaseHandle

    var observation: Observation { Observation(location, handle) }
}
