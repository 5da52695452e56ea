import Dispatch
import Foundation
import HearthDatabase
import Social
import ServiceSupport
import Testing

@Suite("presence and cuts")
struct PresenceCutTests {
    private let server: ServiceServer

    init() throws { server = try ServiceServer.shared("social") }

    @Test(
        "the person who says goodbye is gone, wherever the connection ends meanwhile",
        arguments: 1...5,
        CuttingProxy.Last.allCases
    )
    func goodbye(frame: Int, last: CuttingProxy.Last) async throws {
        let proxy = try CuttingProxy(to: server.url)
        let ann = try await server.member("bye").device(proxy.url)
        let bea = try await server.guest()
        let states = Recorder<PresenceState>()
        let observation = bea.presence.observe(ann.uid) { states.record($0) }
        defer { observation.remove() }
        let typing = ann.place("mutes/\(ann.uid)/room")
        let presence = ann.presence.appear()
        presence.removeOnDisconnect(typing)
        try await states.wait { $0.last == .online }
        try await typing.setValue(true)
        // No one comes back from the cut: that is what a process does that ends.
        proxy.cut(at: frame, last, isForGood: true)
        let goodbye = Task { try await presence.disappear() }
        // Behind all that it sends, if that is less.
        let ended = Task {
            try await goodbye.value
            for _ in 1...5 { try await typing.setValue(NSNull()) }
        }
        await proxy.ended()
        try await states.wait { reported in
            guard case .lastOnline = reported.last else { return false }
            return true
        }
        proxy.open()
        ann.database.goOffline()
        ann.database.goOnline()
        try await ended.value
        #expect(try await ann.value("mutes/\(ann.uid)/room") is NSNull)
        // Asked by a person who does not listen there: who does is given what they know.
        #expect(try await ann.value("presence/\(ann.uid)") is NSNull)
    }

    @Test("after a goodbye the end of the connection changes nothing any more")
    func laterEnd() async throws {
        let ann = try await server.quickMember("leaver")
        let bea = try await server.guest()
        let typing = ann.place("mutes/\(ann.uid)/room")
        let presence = ann.presence.appear()
        presence.removeOnDisconnect(typing)
        _ = try await ann.place("users/\(ann.uid)").getData()
        try await presence.disappear()
        let time = try await bea.value("lastOnline/\(ann.uid)") as? NSNumber
        try await typing.setValue(true)
        ann.database.goOffline()
        ann.database.goOnline()
        // The server ends a session before it answers the next one of the same client.
        #expect(try await ann.value("mutes/\(ann.uid)/room") as? Bool == true)
        #expect(try await bea.value("lastOnline/\(ann.uid)") as? NSNumber == time)
    }

    @Test(
        "an entry that a cut left unanswered goes with what is sent next, before anybody is asked"
    )
    func unanswered() async throws {
        let proxy = try CuttingProxy(to: server.url)
        let ann = try await server.member("stopped").device(proxy.url)
        let queue = DispatchQueue(label: "suspended")
        ann.database.callbackQueue = queue
        let bea = try await server.guest()
        _ = try await ann.place("users/\(ann.uid)").getData()
        let marker = ann.place("users/\(ann.uid)/bio")
        // Two on-disconnect requests come first; the entry is lost.
        proxy.cut(at: 3, .lost)
        let suspended = Recorder<Bool>()
        let presence = ann.presence.appear()
        let place = ann.place(".info/connected")
        let handle = place.observe(.value) { snapshot in
            guard snapshot.value as? Bool == false, suspended.values.isEmpty else { return }
            // As if the process were stopped: the client goes on, and no one is notified of anything.
            queue.suspend()
            marker.setValue("back") { _, _ in }
            suspended.record(true)
        }
        try await suspended.wait(count: 1)
        let markers = Recorder<Bool>()
        let seen = bea.place("users/\(ann.uid)/bio")
        let seenHandle = seen.observe(.value) { markers.record($0.exists()) }
        try await markers.wait { $0.last == true }
        #expect(proxy.hasCut)
        #expect(try await bea.value("presence/\(ann.uid)") is NSNull)
        queue.resume()
        // What is reported then is a connection, and a new entry of it.
        let sessions = Recorder<UInt>()
        let there = bea.place("presence/\(ann.uid)")
        let thereHandle = there.observe(.value) { sessions.record($0.childrenCount) }
        try await sessions.wait { $0.last == 1 }
        try await presence.disappear()
        // Asked by a person who does not listen there: who does is given what they know.
        #expect(try await ann.value("presence/\(ann.uid)") is NSNull)
        place.removeObserver(withHandle: handle)
        seen.removeObserver(withHandle: seenHandle)
        there.removeObserver(withHandle: thereHandle)
    }
}
