import Foundation
import Synchronization
import Testing

@testable import HearthDatabase

/// A use that makes no sense, and the code of the error it ends in.
struct Misuse: CustomTestStringConvertible, Sendable {
    let name: String
    let code: String
    let waiting: @Sendable (DatabaseReference) async throws -> Void
    let calling: @Sendable (DatabaseReference, @escaping ((any Error)?) -> Void) -> Void
    var testDescription: String { name }
}

@Suite("misuse reaches the app as a typed error and the server not at all")
struct MisuseTests {
    static let all: [Misuse] = [
        Misuse(name: "set at a bad path", code: "INVALID_PATH") {
            root async throws in
            try await root.child("a.b").setValue(1)
        } calling: { root, done in
            root.child("a.b").setValue(1) { error, _ in done(error) }
        },
        Misuse(name: "set NaN", code: "INVALID_VALUE") { root async throws in
            try await root.child("a").setValue(Double.nan)
        } calling: { root, done in
            root.child("a").setValue(Double.nan) { error, _ in done(error) }
        },
        Misuse(name: "set a bad key", code: "INVALID_KEY") { root async throws in
            try await root.child("a").setValue(["x/y": 1])
        } calling: { root, done in
            root.child("a").setValue(["x/y": 1]) { error, _ in done(error) }
        },
        Misuse(name: "set too deep", code: "INVALID_VALUE") { root async throws in
            try await root.child(String(repeating: "a/", count: 32)).setValue(["b": 1])
        } calling: { root, done in
            root.child(String(repeating: "a/", count: 32)).setValue(["b": 1]) { error, _ in
                done(error)
            }
        },
        Misuse(name: "a boolean as priority", code: "INVALID_VALUE") {
            root async throws in
            try await root.child("a").setValue(1, andPriority: true)
        } calling: { root, done in
            root.child("a").setPriority(true) { error, _ in done(error) }
        },
        Misuse(name: "write below .info", code: "INVALID_PATH") {
            root async throws in
            try await root.child(".info/connected").setValue(true)
        } calling: { root, done in
            root.child(".info/connected").removeValue { error, _ in done(error) }
        },
        Misuse(name: "update places of which one covers another", code: "INVALID_VALUE") {
            root async throws in
            try await root.updateChildValues(["a": 1, "a/b": 2])
        } calling: { root, done in
            root.updateChildValues(["a": 1, "a/b": 2]) { error, _ in done(error) }
        },
        Misuse(name: "update a bad path", code: "INVALID_PATH") {
            root async throws in
            try await root.updateChildValues(["a$": 1])
        } calling: { root, done in
            root.updateChildValues(["a$": 1]) { error, _ in done(error) }
        },
        Misuse(name: "on disconnect at a bad path", code: "INVALID_PATH") {
            root async throws in
            try await root.child("[").onDisconnectSetValue(1)
        } calling: { root, done in
            root.child("[").onDisconnectRemoveValue { error, _ in done(error) }
        },
        Misuse(name: "on disconnect a date", code: "INVALID_VALUE") {
            root async throws in
            try await root.onDisconnectUpdateChildValues(["a": Date()])
        } calling: { root, done in
            root.onDisconnectUpdateChildValues(["a": Date()]) { error, _ in done(error) }
        },
        Misuse(name: "cancel on disconnect at a bad path", code: "INVALID_PATH") {
            root async throws in
            try await root.child("#").cancelDisconnectOperations()
        } calling: { root, done in
            root.child("#").cancelDisconnectOperations { error, _ in done(error) }
        },
        Misuse(name: "a transaction at a bad path", code: "INVALID_PATH") {
            root async throws in
            try await root.child("a.b").runTransactionBlock { .success(withValue: $0) }
        } calling: { root, done in
            root.child("a.b").runTransactionBlock {
                .success(withValue: $0)
            } andCompletionBlock: { error, _, _ in
                done(error)
            }
        },
        Misuse(name: "read a bad path", code: "INVALID_PATH") { root async throws in
            try await root.child("a.b").getData()
        } calling: { root, done in
            root.child("a.b").getData { error, _ in done(error) }
        },
    ]

    @Test("by all forms", arguments: all)
    func refused(_ misuse: Misuse) async throws {
        let world = try FakeWorld()
        let error = await #expect(throws: DatabaseError.self) {
            try await misuse.waiting(world.root)
        }
        #expect(error?.code == misuse.code)
        let reported: DatabaseError? = await withCheckedContinuation { continuation in
            misuse.calling(world.root) { continuation.resume(returning: $0 as? DatabaseError) }
        }
        #expect(reported?.code == misuse.code)
        world.database.sync.drain()
        #expect(world.transport.openings.isEmpty)
        #expect(world.transport.frames.isEmpty)
    }

    @Test("also where no call receives the error")
    func silent() throws {
        let world = try FakeWorld()
        let bad = world.root.child("a.b")
        bad.setValue(1)
        bad.removeValue()
        bad.setPriority(1)
        bad.updateChildValues(["a": 1])
        bad.onDisconnectSetValue(1)
        bad.onDisconnectRemoveValue()
        bad.cancelDisconnectOperations()
        bad.keepSynced(true)
        bad.runTransactionBlock { .success(withValue: $0) }
        let handle = bad.observe(.value) { _ in Issue.record("it was reported") }
        bad.removeObserver(withHandle: handle)
        bad.removeAllObservers()
        world.root.child("a").setValue(Date())
        world.database.sync.drain()
        #expect(world.transport.openings.isEmpty)
    }

    @Test("as an error that tools for NSError understand")
    func bridged() {
        let denied = DatabaseError.permissionDenied(path: "/a") as NSError
        #expect(denied.domain == "com.firebase")
        #expect(denied.code == 1)
        #expect(denied.localizedDescription == "Permission denied at /a")
        let all: [DatabaseError] = [
            .invalidPath("p", why: "w"), .invalidKey("k", why: "w"),
            .invalidValue(at: "a", why: "w"), .invalidQuery(why: "w"),
            .invalidURL("u", why: "w"), .permissionDenied(path: "/"),
            .refused(code: "unavailable", message: "m"), .refused(code: "x", message: ""),
            .disconnected, .overriddenBySet, .maxRetries, .writeCancelled, .offline,
            .readerTooSlow, .closed,
        ]
        #expect(Set(all.map(\.errorCode)).count == all.count)
        #expect(all.allSatisfy { $0.errorDescription?.isEmpty == false })
        #expect(DatabaseError.overriddenBySet.code == "SET")
        #expect(DatabaseError.maxRetries.code == "MAXRETRY")
        #expect(DatabaseError.refused(code: "too_big", message: "").code == "TOO_BIG")
    }
}
