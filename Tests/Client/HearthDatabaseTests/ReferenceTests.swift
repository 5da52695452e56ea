import Foundation
import SyncCore
import TestSupport
import Testing

@testable import HearthDatabase

@Suite("a reference")
struct ReferenceTests {
    static let paths: [(text: String, url: String, key: String?, parent: String?)] = [
        ("", "http://localhost:9000", nil, nil),
        ("/", "http://localhost:9000", nil, nil),
        ("a", "http://localhost:9000/a", "a", "http://localhost:9000"),
        ("a/b", "http://localhost:9000/a/b", "b", "http://localhost:9000/a"),
        ("//a//b/", "http://localhost:9000/a/b", "b", "http://localhost:9000/a"),
        ("a b/ü", "http://localhost:9000/a%20b/%C3%BC", "ü", "http://localhost:9000/a%20b"),
        (
            ".info/connected", "http://localhost:9000/.info/connected", "connected",
            "http://localhost:9000/.info"
        ),
    ]

    @Test("has a path, a key and a parent", arguments: paths)
    func path(_ text: String, url: String, key: String?, parent: String?) throws {
        let database = try FakeWorld().database
        let reference = database.reference(withPath: text)
        #expect(reference.url == url)
        #expect(reference.description == url)
        #expect(reference.key == key)
        #expect(reference.parent?.url == parent)
        #expect(reference.root == database.reference())
        #expect(reference.database === database)
        #expect(try database.reference(validating: text) == reference)
    }

    @Test("is equal to another of the same place")
    func equality() throws {
        let root = try FakeWorld().root
        #expect(root.child("a/b") == root.child("a").child("b"))
        #expect(root.child("a/b").hash == root.child("a").child("b").hash)
        #expect(root.child("a") != root.child("b"))
        #expect(root.child("a").isEqual(root.child("a").child("b").parent))
        let query = root.child("a").queryOrderedByKey().queryLimited(toFirst: 2)
        #expect(query == root.child("a").queryLimited(toFirst: 2).queryOrderedByKey())
        #expect(query != root.child("a").queryLimited(toFirst: 3).queryOrderedByKey())
        #expect(query.ref == root.child("a"))
        #expect(try FakeWorld().root != root)
        #expect(Set([root.child("a"), root.child("a"), root]).count == 2)
    }

    static let bad: [(text: String, code: String)] = [
        ("a.b", "INVALID_PATH"), ("a#b", "INVALID_PATH"), ("$a", "INVALID_PATH"),
        ("a[0]", "INVALID_PATH"), ("a/\u{7F}", "INVALID_PATH"), (".priority", "INVALID_PATH"),
        (".infox", "INVALID_PATH"), ("a/.info", "INVALID_PATH"),
        (String(repeating: "k", count: 769), "INVALID_PATH"),
        (String(repeating: "a/", count: 33), "INVALID_PATH"),
    ]

    @Test("to a path that cannot be carries its fault", arguments: bad)
    func badPath(_ text: String, code: String) throws {
        let root = try FakeWorld().root
        let error = #expect(throws: DatabaseError.self) { try root.child(validating: text) }
        #expect(error?.code == code)
        for reference in [root.child(text), root.child(text).child("ok"), root.child(text).ref] {
            #expect(reference.location == .failure(try #require(error)))
            #expect(reference.key == nil)
            #expect(reference.parent == nil)
            #expect(reference.childByAutoId().location == reference.location)
        }
        #expect(root.child(text).root == root)
    }

    @Test("below the deepest place cannot be")
    func depth() throws {
        let deepest = try FakeWorld().root.child(String(repeating: "a/", count: 32))
        #expect(deepest.key == "a")
        #expect(throws: DatabaseError.self) { try deepest.child(validating: "b") }
        #expect(throws: DatabaseError.self) { try deepest.childByAutoId().location.get() }
    }

    @Test("made by id sorts behind the ones before, regardless of who makes it")
    func pushIDs() throws {
        let list = try FakeWorld().root.child("list")
        let keys = (0..<1_000).compactMap { _ in list.childByAutoId().key }
        #expect(keys.count == 1_000)
        #expect(keys == keys.sorted())
        #expect(Set(keys).count == 1_000)
        #expect(keys.allSatisfy { $0.count == 20 })
        let shared = try FakeWorld().root
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<100 { #expect(shared.childByAutoId().key?.count == 20) }
        }
    }

    static let addresses: [(url: String, base: String, name: String)] = [
        ("http://localhost:9000?ns=demo", "http://localhost:9000", "demo"),
        ("http://localhost:9000/?ns=demo", "http://localhost:9000", "demo"),
        ("https://db.example.org?ns=a-b_1", "https://db.example.org", "a-b_1"),
        ("https://db.example.org", "https://db.example.org", "demo"),
        ("http://127.0.0.1:80", "http://127.0.0.1:80", "demo"),
        ("http://[::1]:9000?ns=x", "http://[::1]:9000", "x"),
        ("wss://h:1?ns=x", "https://h:1", "x"),
        ("https://MY-App.firebaseio.com", "https://my-app.firebaseio.com", "my-app"),
        (
            "https://app.europe-west1.firebasedatabase.app",
            "https://app.europe-west1.firebasedatabase.app", "app"
        ),
    ]

    @Test("begins with the address of its database", arguments: addresses)
    func address(_ url: String, base: String, name: String) throws {
        let database = try FakeWorld(url: url).database
        #expect(database.fault == nil)
        #expect(database.reference().url == base)
        #expect(database.address.namespace == name)
        let place = database.reference(withPath: "a b/c")
        #expect(database.reference(fromURL: place.url) == place)
        #expect(database.reference(fromURL: "\(place.url)?ns=\(name)") == place)
    }

    @Test(
        "from an address of another database carries that fault",
        arguments: [
            "http://localhost:9001/a", "http://elsewhere/a", "http://localhost:9000/a?ns=other",
            "http://localhost:9000/a.b", "ftp://localhost:9000/a", "http://",
            "http://u:p@localhost:9000",
        ]
    )
    func foreignAddress(_ url: String) throws {
        let database = try FakeWorld().database
        #expect(throws: DatabaseError.self) { try database.reference(fromURL: url).location.get() }
    }

    @Test(
        "an address with a password is refused without repeating it",
        arguments: [
            "http://ann:secret@h", "ftp://ann:secret@h", "http://ann:secret@",
            "http://ann:secret@h:0",
            "http://ann:secret@h y", "ann:secret@h",
        ]
    )
    func password(url: String) throws {
        let error = #expect(throws: DatabaseError.self) { try DatabaseURL(url) }
        #expect(error.map { !"\($0)".contains("secret") } == true)
    }

    @Test(
        "of a database at no address carries that fault",
        arguments: [
            "", "ftp://x", "http://h:99999", "http://h?ns=a/b", "http://h?ns=", "http://h/a?ns=b",
        ]
    )
    func badAddress(_ url: String) async throws {
        let world = try FakeWorld(url: url)
        for reference in [world.root, world.database.reference(withPath: "a"), world.root.root] {
            let error = await #expect(throws: DatabaseError.self) { try await reference.getData() }
            #expect(error?.code == "INVALID_URL")
        }
        #expect(world.transport.openings.isEmpty)
    }
}

@Suite("an app")
struct DatabaseInstanceTests {
    @Test("has one object for each address")
    func instances() throws {
        let app = try FakeWorld.app()
        #expect(Database.database(app: app) === Database.database(app: app))
        let url = "http://localhost:9000?ns=other"
        #expect(Database.database(app: app, url: url) === Database.database(app: app, url: url))
        #expect(Database.database(app: app, url: url) !== Database.database(app: app))
        let same = "http://LOCALHOST:9000/?ns=demo"
        #expect(Database.database(app: app, url: same) === Database.database(app: app))
        #expect(Database.database(app: app).app === app)
        #expect(Database.database(app: try FakeWorld.app()) !== Database.database(app: app))
        #expect(Database.database(app: app).callbackQueue.label == DispatchQueue.main.label)
    }

    @Test("has the version of the server in the same package")
    func version() throws {
        let file = "\(Checkout.path)/Sources/Server/DatabaseServer/Shell/Version.swift"
        let version = Database.sdkVersion()
        #expect(try String(contentsOfFile: file, encoding: .utf8).contains("\"\(version)\""))
        #expect(FirebaseVersion() == version)
        #expect(version.split(separator: ".").count == 3)
    }

    @Test("that was made from nothing is a placeholder: it fails, and no app is configured by it")
    func placeholders() async throws {
        let reference = DatabaseReference()
        #expect(reference.key == nil && reference.parent == nil)
        let root = try FakeWorld().root
        #expect(reference == DatabaseReference() && reference != root)
        for place in [reference, reference.child("a"), reference.childByAutoId(), reference.root] {
            await #expect(throws: DatabaseError.self) { try await place.setValue(1) }
        }
        await #expect(throws: DatabaseError.self) { try await DatabaseQuery().getData() }
        #expect(!DataSnapshot().exists() && DataSnapshot().key.isEmpty)
        #expect(MutableData().value is NSNull && MutableData().childrenCount == 0)
        #expect(HearthApp.allApps?.keys.contains { $0.contains("NONE") } != true)
    }

    @Test("can use a server of its own for development")
    func emulator() throws {
        let database = try FakeWorld().database
        database.useEmulator(withHost: "127.0.0.1", port: 9_123)
        #expect(database.reference().url == "http://127.0.0.1:9123")
        database.useEmulator(withHost: "::1", port: 9_123)
        #expect(database.reference().url == "http://[::1]:9123")
        #expect(database.address.namespace == "demo")
    }

    @Test("chooses its disk cache before the first use, within limits")
    func persistence() async throws {
        let database = try FakeWorld().database
        #expect(!database.isPersistenceEnabled)
        database.isPersistenceEnabled = true
        #expect(database.isPersistenceEnabled)
        database.isPersistenceEnabled = false
        let byteCount = database.persistenceCacheSizeBytes
        database.persistenceCacheSizeBytes = 1
        #expect(database.persistenceCacheSizeBytes == byteCount)
        database.persistenceCacheSizeBytes = 1 << 21
        #expect(database.persistenceCacheSizeBytes == 1 << 21)
        database.goOffline()
        database.sync.drain()
        database.isPersistenceEnabled = true
        database.useEmulator(withHost: "elsewhere", port: 1)
        #expect(!database.isPersistenceEnabled)
        #expect(database.reference().url == "http://localhost:9000")
    }
}
