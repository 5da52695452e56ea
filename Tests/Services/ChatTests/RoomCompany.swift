import Chat
import Foundation
import HearthDatabase
import ServiceSupport
import Synchronization
import Testing

/// A person who is signed in, and the rooms that they are in.
struct RoomGuest: Sendable {
    let person: Person
    let rooms: RoomService

    var uid: String { person.uid }

    /// What the server has at a path that this person sees.
    func value(_ path: String) async throws -> Any { try await person.value(path) }

    /// What the own list says is unread in a room; nil when it is not in the list.
    func unread(_ room: String) async throws -> Int? {
        try await value("userRooms/\(uid)/\(room)/unread") as? Int
    }

    /// Waits until this person's estimate of the server's time is past an event: what they send stands behind it also
    /// before the server has dated it.
    func isPast(_ event: RoomEvent) async throws {
        let offset = try await person.place(".info/serverTimeOffset").observeSingleEvent(of: .value)
        let ahead = try #require(offset.value as? Double)
        while Date().timeIntervalSince1970 * 1000 + ahead <= event.position.milliseconds {
            await Task.yield()
        }
    }

    /// Whether this and nothing else happened in a room.
    ///
    /// In any order: of one millisecond it is the keys that decide, and those are of several clients.
    func saw(_ expected: [RoomEvent.Content], in room: String) async throws -> Bool {
        func counts(_ contents: [RoomEvent.Content]) -> [RoomEvent.Content: Int] {
            contents.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        return try await counts(contents(room)) == counts(expected)
    }

    /// What happened in a room, oldest first.
    func contents(_ room: String) async throws -> [RoomEvent.Content] {
        try await rooms.olderEvents(in: room, before: nil, count: 1000).records.map(\.content)
    }
}

/// People of whom no two in this process have the same username.
enum RoomCompany {
    private static let count = Atomic(0)

    /// A server that all tests of rooms share.
    static func server() throws -> ServiceServer { try ServiceServer.shared("social") }

    /// A new person.
    static func guest(_ name: String = "Guest") async throws -> RoomGuest {
        let number = count.add(1, ordering: .relaxed).newValue
        let person = try await server().quickMember("\(name)-r\(number)")
        return guest(person)
    }

    /// So many people, signed in beside one another.
    static func guests(_ count: Int) async throws -> [RoomGuest] {
        try await Array(0..<count).mapInParallel { _ in try await guest() }
    }

    /// The rooms of a person who is signed in.
    static func guest(_ person: Person) -> RoomGuest {
        let me = UserProfile(uid: person.uid, username: person.username)
        return RoomGuest(person: person, rooms: RoomService(database: person.database, me: me))
    }

    /// What became of an operation: nil if it succeeded.
    static func failure(_ operation: () async throws -> Void) async -> ServiceError? {
        do {
            try await operation()
            return nil
        } catch {
            return ServiceError(error, purpose: "do this")
        }
    }
}

extension ServiceError {
    /// Whether the rules have refused it.
    var isRefusal: Bool {
        if case .refused = self { true } else { false }
    }
}
