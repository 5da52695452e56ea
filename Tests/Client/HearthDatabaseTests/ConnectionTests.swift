import Foundation
import HearthCore
import Synchronization
import Testing

@testable import HearthDatabase

/// A person who signs in and out when a test says so.
private final class FakeTokens: TokenSource {
    private let listeners = Mutex<[@Sendable (String?, String?) -> Void]>([])
    private let token = Mutex<(token: String, account: String)?>(nil)

    func fetchToken(
        forcingRefresh: Bool,
        completion: @escaping @Sendable (Result<String?, any Error>) -> Void,
    ) {
        completion(.success(token.withLock { $0?.token }))
    }

    func onCredentialChange(_ listener: @escaping @Sendable (String?, String?) -> Void) {
        let now = token.withLock { $0 }
        listeners.withLock { $0.append(listener) }
        listener(now?.token, now?.account)
    }

    func sign(in account: String?, token new: String?) {
        token.withLock { token in
            if let account, let new { token = (new, account) } else { token = nil }
        }
        for listener in listeners.withLock({ $0 }) { listener(new, account) }
    }
}

@Suite("the connection of a database")
struct ConnectionTests {
    @Test("begins with the first call that needs it, at the server of the address")
    func begins() async throws {
        let world = try FakeWorld(url: "https://db.example.org:8443?ns=shop")
        let list = world.root.child("list").queryOrderedByKey().queryLimited(toLast: 3)
        world.database.sync.drain()
        #expect(world.transport.openings.isEmpty)
        list.keepSynced(true)
        await world.transport.sends(#""a":"q""#)
        let opening = try #require(world.transport.openings.first)
        #expect(opening.hasPrefix("wss://db.example.org:8443/.ws?"))
        #expect(opening.contains("ns=shop"))
        let listen = try #require(world.transport.frames.first { $0.contains(#""a":"q""#) })
        #expect(listen.contains(#""p":"/list""#))
        #expect(listen.contains(#"{"i":".key","l":3,"vf":"r"}"#))
        list.keepSynced(false)
        await world.transport.sends(#""a":"n""#)
    }

    @Test("says who is signed in, then and later")
    func signedIn() async throws {
        let world = try FakeWorld()
        let tokens = FakeTokens()
        tokens.sign(in: "ada", token: "token-of-ada")
        world.database.app?.tokenSource = tokens
        try await world.root.child("a").setValue(1)
        #expect(world.transport.frames.contains { $0.contains("token-of-ada") })
        tokens.sign(in: "bob", token: "token-of-bob")
        await world.transport.sends("token-of-bob")
        tokens.sign(in: nil, token: nil)
        await world.transport.sends(#""a":"unauth""#)
    }

    @Test("is given up for all databases by one call")
    func offlineForAll() async throws {
        let app = try FakeWorld.app()
        let database = Database.database(app: app)
        #expect(Database.all.contains { $0 === database })
        await app.delete()
        #expect(!Database.all.contains { $0 === database })
    }

    @Test("writes in the order of the calls")
    func order() async throws {
        let world = try FakeWorld()
        for number in 0..<50 { world.root.child("n").put(number) }
        try await world.root.child("n").setValue("end")
        let puts = world.transport.frames.filter { $0.contains(#""a":"p""#) }
        #expect(puts.count == 51)
        for (number, put) in puts.dropLast().enumerated() {
            #expect(put.contains(#""d":\#(number)"#), "\(put)")
        }
    }
}
