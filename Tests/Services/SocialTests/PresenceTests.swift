import Foundation
import HearthDatabase
import Social
import ServiceSupport
import Testing

@Suite("presence")
struct PresenceTests {
    private let server: ServiceServer

    init() throws { server = try ServiceServer.shared("social") }

    private func states(of person: Person, seenBy other: Person) -> (
        Recorder<PresenceState>, Observation
    ) {
        let recorder = Recorder<PresenceState>()
        let observation = other.presence.observe(person.uid) { recorder.record($0) }
        return (recorder, observation)
    }

    private func isLastOnline(_ state: PresenceState) -> Bool {
        guard case .lastOnline(let date) = state else { return false }
        return date.timeIntervalSince1970 > 1_600_000_000
    }

    @Test("a person is unknown, then there, then was there, then is there again")
    func lifecycle() async throws {
        let ann = try await server.quickMember("there")
        let bea = try await server.quickMember("watcher")
        let (states, observation) = states(of: ann, seenBy: bea)
        try await states.wait { $0.last == .unknown }
        let presence = ann.presence.appear()
        try await states.wait { $0.last == .online }
        // An entry that is cut off before its answer comes once more, and goes.
        try await ann.isAnswered()
        ann.database.goOffline()
        try await states.wait { $0.last.map(isLastOnline) ?? false }
        ann.database.goOnline()
        try await states.wait { $0.last == .online }
        #expect(try await bea.place("presence/\(ann.uid)").getData().childrenCount == 1)
        try await presence.disappear()
        try await states.wait { $0.last.map(isLastOnline) ?? false }
        #expect(try await bea.value("presence/\(ann.uid)") is NSNull)
        #expect(states.values.count == 5)
        observation.remove()
        // The person who has said goodbye does not come back with the next connection.
        ann.database.goOffline()
        ann.database.goOnline()
        _ = try await ann.place("users/\(ann.uid)").getData()
        #expect(try await bea.value("presence/\(ann.uid)") is NSNull)
    }

    @Test("who has two devices is there until the last of them is gone")
    func devices() async throws {
        let ann = try await server.member("twice")
        let second = try await ann.device(server.url)
        let bea = try await server.quickMember("watcher")
        let (states, observation) = states(of: ann, seenBy: bea)
        defer { observation.remove() }
        let first = ann.presence.appear()
        let sessions = Recorder<UInt>()
        let place = bea.place("presence/\(ann.uid)")
        let handle = place.observe(.value) { sessions.record($0.childrenCount) }
        _ = second.presence.appear()
        try await sessions.wait { $0.last == 2 }
        try await first.disappear()
        try await sessions.wait { $0.last == 1 }
        #expect(states.values.last == .online)
        second.database.goOffline()
        try await states.wait { $0.last.map(isLastOnline) ?? false }
        place.removeObserver(withHandle: handle)
    }

    @Test("what was named goes with each connection, and what was taken back stays")
    func places() async throws {
        let ann = try await server.quickMember("typist")
        let bea = try await server.quickMember("watcher")
        let sessions = Recorder<String>()
        let place = bea.place("presence/\(ann.uid)")
        let handle = place.observe(.childAdded) { sessions.record($0.key) }
        defer { place.removeObserver(withHandle: handle) }
        let presence = ann.presence.appear()
        let mutes = ann.place("mutes/\(ann.uid)")
        presence.removeOnDisconnect(mutes.child("r1"))
        presence.removeOnDisconnect(mutes.child("r2"))
        presence.keepOnDisconnect(mutes.child("r2"))
        for connection in 1...2 {
            try await sessions.wait(count: connection)
            try await mutes.updateChildValues(["r1": true, "r2": true])
            ann.database.goOffline()
            ann.database.goOnline()
            // The server ends a session before it answers the next one of the same client.
            #expect(try await mutes.getData().keys == ["r2"])
        }
        try await sessions.wait(count: 3)
        try await mutes.child("r1").setValue(true)
        try await presence.disappear()
        #expect(try await ann.value("mutes/\(ann.uid)/r1") is NSNull)
        #expect(try await ann.value("mutes/\(ann.uid)/r2") as? Bool == true)
    }

    @Test("a refusal is reported once")
    func refused() async throws {
        let stranger = try server.stranger()
        let errors = Recorder<ServiceError>()
        let service = PresenceService(database: stranger.database, uid: "stranger")
        let presence = service.appear { errors.record($0) }
        try await errors.wait(count: 1)
        try await stranger.isAnswered()
        #expect(errors.values == [.refused("say that you are there")])
        let cancels = Recorder<ServiceError>()
        let observation = service.observe("ann", with: { _ in }, withCancel: { cancels.record($0) })
        try await cancels.wait(count: 1)
        try await stranger.isAnswered()
        #expect(cancels.values == [.refused("see whether ann is there")])
        observation.remove()
        // One more for the entry of one more connection.
        stranger.database.goOffline()
        stranger.database.goOnline()
        try await errors.wait(count: 2)
        try await stranger.isAnswered()
        #expect(errors.values == Array(repeating: .refused("say that you are there"), count: 2))
        #expect(cancels.values.count == 1)
        _ = presence
    }
}
