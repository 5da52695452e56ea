import Foundation
import HearthDatabase
import Testing

@Suite("tutorials about presence and async code")
@MainActor
struct PresenceTests {
    let friend = World.friend

    @Test("show that a friend is online while connected, and since when not")
    func presence() async throws {
        let screen = Screen()
        let service = PresenceService(uid: "p-bob")
        service.onChange = screen.changed
        let cell = FriendCell(friendUID: "p-bob")
        cell.setNeedsDisplay = screen.changed
        cell.bind()
        service.start()
        try await screen.shows { service.isConnected && service.serverTimeOffset != nil }
        try await screen.shows { cell.isOnline }
        #expect(abs(service.estimatedServerTimeMs / 1_000 - Date().timeIntervalSince1970) < 60)

        let isGone: Error? = await outcome { done in service.signOut { done($0) } }
        #expect(isGone == nil)
        try await screen.shows { !cell.isOnline && cell.lastSeen != nil }
        cell.prepareForReuse()
        try await friend.child("presence/p-bob").becomes {
            ($0.value as? [String: Any])?.keys.sorted() == ["lastOnline"]
        }
    }

    @Test("write what was promised when another device goes offline")
    func disconnect() async throws {
        let device = World.device("phone of eve")
        let ref = device.child("presence/p-eve")
        try await ref.child("connections/phone").onDisconnectRemoveValue()
        try await ref.child("connections/phone").setValue(true)
        let screen = Screen()
        let cell = FriendCell(friendUID: "p-eve")
        cell.setNeedsDisplay = screen.changed
        cell.bind()
        try await screen.shows { cell.isOnline }
        device.database.goOffline()
        try await screen.shows { !cell.isOnline }
        cell.prepareForReuse()
    }

    @Test("keep notes with async and await")
    func notes() async throws {
        let store = NotesStore(uid: "n-ann")
        let first = try await store.add("Buy tea")
        let second = try await store.add("Boil water")
        #expect(try await store.text(of: first) == "Buy tea")
        #expect(try await store.all() == ["Buy tea", "Boil water"])
        try await store.finish(second)
        let stored = try await friend.child("notes/n-ann").child(second).stored() as? [String: Any]
        #expect(stored?["done"] as? Bool == true)
        #expect((stored?["finishedAt"] as? Double ?? 0) > 1_600_000_000_000)
        try await store.delete(first)
        #expect(try await store.all() == ["Boil water"])
        await #expect(throws: NotesStore.NotesError.self) { try await store.text(of: first) }

        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 1...5 { group.addTask { try await store.countUp() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts.count == 5)
        #expect(try await friend.child("notes/n-ann/counter").stored() as? Int == 5)
    }
}
