import Chat
import Foundation
import HearthAuth
import HearthDatabase
import ServiceSupport
import Social
import Testing
import Webhooks

@testable import PushWorker

/// Real services, real accounts, a real webhook; only the worker's clock is the test's.
@Suite("PushWorker", .timeLimit(.minutes(15)))
struct PushWorkerTests {
    private static let secret = [UInt8]("an operator's secret of some bytes.".utf8)

    /// A person with a profile, whom Ann follows if she is given.
    private struct Member {
        let person: Person
        let profile: UserProfile

        init(_ name: String, _ server: ServiceServer, followedBy ann: Member? = nil) async throws {
            person = try await server.person(name)
            profile = try await UserService(database: person.database, uid: person.uid)
                .create(username: name)
            guard let ann else { return }
            try await FollowGraph(database: ann.person.database, uid: ann.person.uid)
                .follow(person.uid)
        }

        var chats: ChatService { ChatService(database: person.database, me: profile) }

        /// Was there, and is gone.
        func leave() async throws {
            let presence = PresenceService(database: person.database, uid: person.uid).appear()
            _ = try await person.place(".info/connected").first { $0.value as? Bool == true }
            // Behind what `appear` writes.
            try await person.place("lastOnline/\(person.uid)").setValue(ServerValue.timestamp())
            try await presence.disappear()
        }
    }

    /// An account to which the operator has given the claim.
    private func account(_ server: ServiceServer) async throws -> Person {
        let person = try Person(server.url)
        try await person.signUp(email: "push@example.com")
        let port = try #require(server.url.split(separator: ":").last.flatMap { UInt16($0) })
        let json = #"{"localId":"\#(person.uid)","customAttributes":"{\"pushWorker\":true}"}"#
        let path = "/identitytoolkit.googleapis.com/v1/projects/hearth/accounts:update"
        let status = try TestWebhook.post(json, to: path, port: port)
        try #require(status.hasSuffix("200 OK"))
        // The claim is in the next token.
        _ = try await person.auth.currentUser?.getIDToken(forcingRefresh: true)
        return person
    }

    private func worker(
        _ account: Person,
        _ webhook: TestWebhook,
        _ clock: PushClock,
    ) throws -> PushWorker {
        let secret = try WebhookSecret(Self.secret)
        let webhook = try PushWebhook(url: webhook.url, secret: secret)
        return PushWorker(database: account.database, webhook: webhook, clock: clock) { _ in }
    }

    private struct PushedBody: Decodable {
        let recipient: String
        let text: String
    }

    private func reported(_ request: TestWebhook.Request?) throws -> PushedBody {
        let request = try #require(request)
        let id = try #require(request.headers["webhook-id"])
        let time = try #require(request.headers["webhook-timestamp"].flatMap { Int64($0) })
        let expected = try WebhookSecret(Self.secret)
            .signature(id: id, time: time, body: Array(request.body.utf8))
        #expect(request.headers["webhook-signature"] == expected)
        return try JSONDecoder().decode(PushedBody.self, from: Data(request.body.utf8))
    }

    @Test("after ten minutes the absent are notified, and no one else, also by the next worker")
    func tenMinutes() async throws {
        let server = try ServiceServer(rules: "social")
        let ann = try await Member("ann", server)
        let others = try await ["bea", "cid", "dan", "eve"].asyncMap {
            try await Member($0, server, followedBy: ann)
        }
        let (bea, cid, dan, eve) = (others[0], others[1], others[2], others[3])
        let account = try await account(server)
        let webhook = try TestWebhook()
        var requests = webhook.requests.makeAsyncIterator()
        let clock = TestClock()

        for member in [bea, dan, eve] { try await member.leave() }
        let presence = PresenceService(database: cid.person.database, uid: cid.person.uid).appear()
        _ = try await cid.person.place("presence/\(cid.person.uid)").first { $0.exists() }

        let worker = try worker(account, webhook, clock.clock)
        let work = Task { try await worker.run() }
        let chat = try await ann.chats.create(from: "hi Dan", with: dan.profile)
        try await dan.person.place("mutes/\(dan.person.uid)/\(chat.key)").setValue(true)
        try await ann.chats.create(from: "hi Cid", with: cid.profile)
        try await ann.chats.create(from: "hi Bea", with: bea.profile)
        // Whatever of this it has heard by then, Bea has been away for ten minutes.
        clock.advance(minutes: 11)
        #expect(try reported(await requests.next()).text == "hi Bea")
        try await ann.chats.create(from: "hi Eve", with: eve.profile)
        #expect(try reported(await requests.next()).recipient == eve.person.uid)
        work.cancel()
        try await work.value

        // What is said while there is no worker, to one who was notified and to one who was not.
        try await ann.chats.create(from: "still there?", with: bea.profile)
        let gus = try await Member("gus", server, followedBy: ann)
        try await gus.leave()
        try await ann.chats.create(from: "hi Gus", with: gus.profile)
        let next = try self.worker(account, webhook, clock.clock)
        let again = Task { try await next.run() }
        #expect(try reported(await requests.next()).recipient == gus.person.uid)

        // Without a connection nothing is reported; with the next one what is still so.
        account.database.goOffline()
        let hal = try await Member("hal", server, followedBy: ann)
        try await hal.leave()
        try await ann.chats.create(from: "hi Hal", with: hal.profile)
        account.database.goOnline()
        #expect(try reported(await requests.next()).recipient == hal.person.uid)
        again.cancel()
        try await again.value
        try await presence.disappear()
    }

    @Test("an account without the claim learns what it lacks")
    func noClaim() async throws {
        let server = try ServiceServer(rules: "social")
        let account = try await server.person("ann")
        let webhook = try TestWebhook()
        let worker = try worker(account, webhook, .system)
        await #expect(throws: PushFault.self) { try await worker.run() }
    }

    @Test("the claim opens what a worker needs, and nothing else")
    func allowed() async throws {
        let server = try ServiceServer(rules: "social")
        let ann = try await Member("ann", server)
        let bea = try await Member("bea", server, followedBy: ann)
        let chat = try await ann.chats.create(from: "hi", with: bea.profile)
        let room = try await RoomService(database: ann.person.database, me: ann.profile)
            .create(name: "Tea", type: .private, inviting: [bea.profile.uid])
        let worker = try await account(server)
        let needed = ["chats", "userRooms", "mutes", "presence", "lastOnline", "pushed"]
        for path in needed {
            #expect(try await canRead(worker, path), "\(path)")
            #expect(try await !canRead(bea.person, path), "\(path)")
        }
        let others = [
            "messages/\(chat.key)", "roomEvents/\(room)", "rooms/\(room)",
            "private/\(bea.person.uid)", "blocks/\(bea.person.uid)", "users", "rooms", "messages",
            "private", "searchIndex",
        ]
        for path in others { #expect(try await !canRead(worker, path), "\(path)") }

        let push: [String: Any] = [
            "id": "push_1", "at": 1, "claimedAt": ServerValue.timestamp(), "state": "sending",
            "body": "{}",
        ]
        let place = "pushed/\(bea.person.uid)/\(chat.key)"
        for person in [ann.person, bea.person] {
            #expect(try await !canWrite(person, [place: push]))
        }
        let bad: [(String, Any)] = [
            ("state", "lost"), ("claimedAt", 1), ("at", "now"), ("more", true), ("id", ""),
        ]
        for (field, value) in bad {
            var wrong = push
            wrong[field] = value
            #expect(try await !canWrite(worker, [place: wrong]), "\(field)")
        }
        #expect(try await !canWrite(worker, ["pushed/\(bea.person.uid)/no-chat": push]))
        #expect(try await canWrite(worker, [place: push]))
        #expect(try await !canRead(bea.person, place))
        #expect(try await !canWrite(bea.person, [place: NSNull()]))
        // What it may read it may not write.
        for path in ["mutes/\(bea.person.uid)/\(chat.key)", "blocks/\(bea.person.uid)/x"] {
            #expect(try await !canWrite(worker, [path: true]), "\(path)")
        }
        let unread = "userRooms/\(bea.person.uid)/\(room)/unread"
        #expect(try await !canWrite(worker, [unread: 0]))
        #expect(
            try await !canWrite(worker, ["lastOnline/\(bea.person.uid)": ServerValue.timestamp()])
        )
    }

    private func isAllowed(_ operation: () async throws -> Void) async throws -> Bool {
        do {
            try await operation()
            return true
        } catch DatabaseError.permissionDenied {
            return false
        }
    }

    private func canRead(_ person: Person, _ path: String) async throws -> Bool {
        try await isAllowed { _ = try await person.place(path).getData() }
    }

    private func canWrite(_ person: Person, _ update: [String: Any]) async throws -> Bool {
        try await isAllowed { try await person.database.reference().updateChildValues(update) }
    }
}

extension DatabaseReference {
    /// The first state of this place that is as it should be.
    fileprivate func first(_ isSo: (DataSnapshot) -> Bool) async throws -> DataSnapshot? {
        for try await snapshot in snapshots() where isSo(snapshot) { return snapshot }
        return nil
    }
}

extension Array {
    fileprivate func asyncMap<Other>(
        _ transform: (Element) async throws -> Other
    ) async rethrows -> [Other] {
        var others: [Other] = []
        for element in self { others.append(try await transform(element)) }
        return others
    }
}
