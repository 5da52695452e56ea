import Chat
import Foundation
import HearthDatabase
import ServiceCommand
import SocialCommand
import Synchronization

/// The services as whoever is signed in.
struct Client: Sendable {
    let session: Session
    let me: UserProfile
    let people: UserService
    let chats: ChatService
    let rooms: RoomService
    let graph: FollowGraph
    let blocks: BlockService
    let presence: PresenceService
    let search: SearchService
    private let member: SocialMember

    private init(_ member: SocialMember) {
        let session = member.session
        self.member = member
        self.session = session
        me = member.me
        people = member.people
        search = member.search
        chats = ChatService(database: session.database, me: member.me)
        rooms = RoomService(database: session.database, me: member.me)
        graph = FollowGraph(database: session.database, uid: session.uid)
        blocks = BlockService(database: session.database, uid: session.uid)
        presence = PresenceService(database: session.database, uid: session.uid)
    }

    /// Connects, as whoever is signed in.
    static func open(_ options: ConnectionOptions) async throws -> Client {
        Client(try await SocialMember.open(options))
    }

    /// Runs a command as whoever is signed in, and closes the connection behind it.
    ///
    /// - Parameters:
    ///   - options: Which server and profile.
    ///   - isKept: Whether what was seen is kept on disk, and the command runs without a connection too.
    ///   - body: The command.
    /// - Throws: `ProgramFault`, and what the command throws.
    static func run(
        _ options: ConnectionOptions,
        isKept: Bool = false,
        _ body: (Client) async throws -> Void
    ) async throws {
        try await SocialMember.run(options, isKept: isKept) { try await body(Client($0)) }
    }
}

// MARK: Who and what people mean

extension Client {
    /// The person that somebody has typed: a username, with `@` in front or not, or an e-mail address.
    func person(_ text: String) async throws -> UserProfile { try await member.person(text) }

    /// The thread that somebody has typed: a username or an address, the name of a room, `#` in front or not, or a key.
    func thread(_ text: String) async throws -> ThreadChoice {
        let rooms = try await myRooms()
        if text.hasPrefix("#") {
            guard let room = try Self.room(String(text.dropFirst()), in: rooms) else {
                throw ServiceError.notFound("room called \(text) that you are in")
            }
            return .room(room)
        }
        let chats = try await myChats()
        if let chat = chats.first(where: { $0.key == text }) { return .direct(chat) }
        let person: UserProfile?
        do {
            person = try await self.person(text)
        } catch ServiceError.notFound {
            person = nil
        } catch ServiceError.database(.offline) {
            // Without a connection by what the chat was called at first: both usernames.
            let name = text.hasPrefix("@") ? String(text.dropFirst()) : text
            let chat = chats.first { $0.title.components(separatedBy: ", ").contains(name) }
            if let chat { return .direct(chat) }
            person = nil
        }
        let room = text.hasPrefix("@") ? nil : try Self.room(text, in: rooms)
        switch (person, room) {
        case (let person?, nil):
            let chat = chats.first { $0.member(beside: me.uid) == person.uid }
            return chat.map { .direct($0) } ?? .person(person)
        case (nil, let room?): return .room(room)
        case (.some, .some):
            throw ProgramFault("\(text) is a person and a room: write @\(text) or #\(text)")
        case (nil, nil): throw ServiceError.notFound("person or room called \(text)")
        }
    }

    /// A room that the user is in, by key or name in whatever letter case.
    func myRoom(_ text: String) async throws -> RoomSummary {
        let name = text.hasPrefix("#") ? String(text.dropFirst()) : text
        guard let room = try Self.room(name, in: try await myRooms()) else {
            throw ServiceError.notFound("room called \(name) that you are in")
        }
        return room
    }

    /// A public room, by key or name in whatever letter case.
    func publicRoom(_ text: String) async throws -> PublicRoom {
        let name = text.hasPrefix("#") ? String(text.dropFirst()) : text
        let rooms = try await rooms.publicRooms(count: 1000).records
        let found = rooms.filter { $0.key == name || $0.name.lowercased() == name.lowercased() }
        guard let room = found.first else {
            throw ServiceError.notFound("public room called \(name)")
        }
        guard found.count == 1 else { throw Self.ambiguous(name, found.map(\.key)) }
        return room
    }

    private static func room(_ text: String, in rooms: [RoomSummary]) throws -> RoomSummary? {
        let found = rooms.filter { $0.key == text || $0.name.lowercased() == text.lowercased() }
        guard found.count <= 1 else { throw ambiguous(text, found.map(\.key)) }
        return found.first
    }

    private static func ambiguous(_ name: String, _ keys: [String]) -> ProgramFault {
        ProgramFault(
            "\(keys.count) rooms are called \(name); say which: \(keys.joined(separator: ", "))"
        )
    }

    /// The direct chats, newest first.
    func myChats() async throws -> [DirectChat] {
        let listing = try await first { tell, fail in
            people.observeChats(with: tell, withCancel: fail)
        }
        for fault in listing.faults { Output.warn("left out: \(fault)") }
        return listing.records
    }

    /// The rooms that the user is in, the one with the latest event first.
    func myRooms() async throws -> [RoomSummary] {
        let listing = try await first { tell, fail in
            rooms.observeRooms(with: tell, withCancel: fail)
        }
        for fault in listing.faults { Output.warn("left out: \(fault)") }
        return listing.records
    }

    /// Invites somebody to a room; harmless when they are there already.
    func invite(_ person: UserProfile, to room: String, named name: String) async throws {
        do {
            try await naming("invite \(person.username) to \(name)") {
                try await rooms.invite(person.uid, to: room)
            }
        } catch ServiceError.taken {
            // Their place in it is theirs.
        }
    }

    /// Brings the own list of rooms up to date, before it is shown or observed.
    ///
    /// - Returns: What is to be told: what of it, or why all of it, may be as it was.
    func mendRooms() async -> [String] {
        do {
            // Of faults in the list itself the list tells.
            let faults = try await rooms.mend().filter { !$0.path.hasPrefix("userRooms/") }
            return faults.map { "left as it is: \($0)" }
        } catch {
            return ["the list of rooms may be behind: \(ProgramFault(error))"]
        }
    }

    /// What an observer is told first.
    private func first<Value: Sendable>(
        _ observe: (
            _ tell: @escaping @Sendable (Value) -> Void,
            _ fail: @escaping @Sendable (ServiceError) -> Void
        ) -> Observation
    ) async throws -> Value {
        let (stream, continuation) = AsyncThrowingStream<Value, any Error>.makeStream(
            bufferingPolicy: .bufferingOldest(1)
        )
        let observation = observe(
            { continuation.yield($0) },
            { continuation.finish(throwing: $0) }
        )
        defer { observation.remove() }
        for try await value in stream { return value }
        throw ProgramFault("the connection was closed")
    }
}

/// A direct chat, a room, or somebody with whom there is no chat yet.
enum ThreadChoice: Sendable {
    case direct(DirectChat)
    case room(RoomSummary)
    case person(UserProfile)
}
