import ArgumentParser
import Chat
import Foundation
import HearthDatabase
import ServiceCommand
import Synchronization

/// The services of the signed-in user.
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

    /// Connects as the signed-in user.
    static func open(_ options: ConnectionOptions) async throws -> Client {
        Client(try await SocialMember.open(options))
    }

    /// Runs a command as the signed-in user, then closes the connection.
    ///
    /// With `isKept` seen data is stored on disk, and the command also runs without a connection.
    static func run(
        _ options: ConnectionOptions,
        isKept: Bool = false,
        _ body: (Client) async throws -> Void
    ) async throws {
        try await SocialMember.run(options, isKept: isKept) { try await body(Client($0)) }
    }
}

/// A command of the signed-in user.
protocol ClientCommand: AsyncParsableCommand {
    var connection: ConnectionOptions { get }

    /// Does the work of the command.
    func perform(as client: Client) async throws
}

extension ClientCommand {
    func run() async throws { try await Client.run(connection) { try await perform(as: $0) } }
}

// MARK: People and threads by their names

extension Client {
    /// The person for an input: a username, with or without `@` in front, or an email address.
    func person(_ text: String) async throws -> UserProfile { try await member.person(text) }

    /// The thread for an input: a username or an address, the name of a room, with or without `#` in front, or a key.
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
            // Without a connection, by the first title of the chat: both usernames.
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

    /// One of the user's rooms, by key or name, ignoring case.
    func myRoom(_ text: String) async throws -> RoomSummary {
        let name = text.hasPrefix("#") ? String(text.dropFirst()) : text
        guard let room = try Self.room(name, in: try await myRooms()) else {
            throw ServiceError.notFound("room called \(name) that you are in")
        }
        return room
    }

    /// A public room, by key or name, ignoring case.
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
        let listing = try await first { receive, fail in
            people.observeChats(with: receive, withCancel: fail)
        }
        for fault in listing.faults { Output.warn("left out: \(fault)") }
        return listing.records
    }

    /// The rooms that the user is in, the one with the latest event first.
    func myRooms() async throws -> [RoomSummary] {
        let listing = try await first { receive, fail in
            rooms.observeRooms(with: receive, withCancel: fail)
        }
        for fault in listing.faults { Output.warn("left out: \(fault)") }
        return listing.records
    }

    /// Invites a person to a room; harmless if they are a member already.
    func invite(_ person: UserProfile, to room: String, named name: String) async throws {
        do {
            try await naming("invite \(person.username) to \(name)") {
                try await rooms.invite(person.uid, to: room)
            }
        } catch ServiceError.taken {
            // Their role in it is unchanged.
        }
    }

    /// Brings the own list of rooms up to date, before it is shown or observed.
    ///
    /// - Returns: Messages for the user: what could not be repaired, and why.
    func mendRooms() async -> [String] {
        do {
            // The list itself reports its own faults.
            let faults = try await rooms.mend().filter { !$0.path.hasPrefix("userRooms/") }
            return faults.map { "left as it is: \($0)" }
        } catch {
            return ["the list of rooms may be behind: \(ProgramFault(error))"]
        }
    }

    /// The first event of an observer.
    private func first<Value: Sendable>(
        _ observe: (
            _ receive: @escaping @Sendable (Value) -> Void,
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

/// A direct chat, a room, or a person without a chat yet.
enum ThreadChoice: Sendable {
    case direct(DirectChat)
    case room(RoomSummary)
    case person(UserProfile)
}
