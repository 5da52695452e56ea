import Foundation
import HearthCore
import Synchronization
import TestSupport
import Testing

@testable import HearthDatabase

@Suite("with a real server")
struct ServerTests {
    /// One server for all tests here; each has a database of its own in it.
    private static let server = Mutex<RunningServer?>(nil)

    private static func url() throws -> String {
        try server.withLock { server in
            if let server { return server.url }
            let started = try RunningServer()
            server = started
            // The last thing of this process: the server goes with it.
            atexit { ServerTests.server.withLock { $0?.stop(atOnce: true) } }
            return started.url
        }
    }

    /// A device: an app of its own at a database.
    private func device(_ name: String, cacheFolder: String? = nil) throws -> Database {
        let url = "\(try Self.url())?ns=\(name)"
        var options = HearthOptions(databaseURL: url)
        options.persistsUser = false
        options.cacheFolder = cacheFolder
        let app = try HearthApp.make(name: "device-\(UUID())", options: options)
        let database = Database.database(app: app)
        database.callbackQueue = DispatchQueue(label: "callbacks")
        return database
    }

    @Test("what one device writes another reads")
    func writtenAndRead() async throws {
        let root = try device("read").reference()
        try await root.child("users/ada").setValue(["name": "Ada", "age": 36] as [String: Any])
        let snapshot = try await root.child("users").getData()
        #expect(snapshot.childSnapshot(forPath: "ada/name").value as? String == "Ada")
        try await root.updateChildValues(["users/ada/age": 37, "users/bob": ["name": "Bob"]])
        let other = try device("read").reference()
        let users = try await other.child("users").getData()
        #expect(users.childrenCount == 2)
        #expect(users.childSnapshot(forPath: "ada/age").value as? Int == 37)
        try await root.child("users/bob").removeValue()
        #expect(try await !other.child("users/bob").getData().exists())
        try await root.child("p").setValue("v", andPriority: 2)
        #expect(try await other.child("p").getData().priority as? Int == 2)
        try await root.child("p").setPriority("q")
        #expect(try await other.child("p").getData().priority as? String == "q")
        try await root.child("at").setValue(ServerValue.timestamp())
        #expect(try await other.child("at").getData().value as? Double ?? 0 > 1_600_000_000_000)
    }

    @Test(
        "a query without an index is observed, and not read once: there is no other answer in production"
    )
    func withoutIndex() async throws {
        let root = try device("index").reference()
        try await root.child("scores").setValue(["ann": 1, "bob": 3, "cat": 2])
        let best = root.child("scores").queryOrderedByValue().queryLimited(toLast: 2)
        let (snapshot, _) = await best.observeSingleEventAndPreviousSiblingKey(of: .value)
        #expect(snapshot.value as? [String: Int] == ["bob": 3, "cat": 2])
        do {
            let read = try await best.getData()
            Issue.record("it was read: \(read)")
        } catch let error as DatabaseError {
            #expect(error.localizedDescription.contains(#"add ".indexOn": ".value""#))
        }
        #expect(try await root.child("scores").queryOrderedByKey().getData().childrenCount == 3)
    }

    @Test("what one device writes is reported to another as it happens")
    func reported() async throws {
        let list = try device("reported").reference().child("list")
        let other = try device("reported").reference().child("list")
        var events = other.childEvents().makeAsyncIterator()
        let first = list.childByAutoId()
        try await first.setValue(["n": 1])
        var event = try #require(try await events.next())
        #expect(event.type == .childAdded)
        #expect(event.snapshot.ref.key == first.key)
        #expect(event.previousSiblingKey == nil)
        try await list.childByAutoId().setValue(["n": 2])
        event = try #require(try await events.next())
        #expect(event.type == .childAdded)
        #expect(event.previousSiblingKey == first.key)
        try await first.child("n").setValue(3)
        event = try #require(try await events.next())
        #expect(event.type == .childChanged)
        #expect(event.snapshot.value as? [String: Int] == ["n": 3])
        try await first.removeValue()
        event = try #require(try await events.next())
        #expect(event.type == .childRemoved)
        #expect(event.snapshot.key == first.key)
    }

    @Test("a query is answered in its order")
    func queried() async throws {
        let list = try device("queried").reference().child("list")
        try await list.setValue([
            "a": ["n": 3], "b": ["n": 1], "c": ["n": 2], "d": ["n": 5], "e": ["n": 4],
        ])
        let other = try device("queried").reference().child("list")
        func keys(_ query: DatabaseQuery) async throws -> [String] {
            let snapshot = try await query.observeSingleEvent(of: .value)
            return snapshot.children.allObjects.compactMap { ($0 as? DataSnapshot)?.key }
        }
        let byNumber = other.queryOrdered(byChild: "n")
        #expect(try await keys(byNumber) == ["b", "c", "a", "e", "d"])
        #expect(try await keys(byNumber.queryLimited(toLast: 2)) == ["e", "d"])
        #expect(try await keys(byNumber.queryStarting(afterValue: 3)) == ["e", "d"])
        #expect(try await keys(byNumber.queryEnding(beforeValue: 3)) == ["b", "c"])
        #expect(try await keys(byNumber.queryEqual(toValue: 5)) == ["d"])
        #expect(
            try await keys(other.queryOrderedByKey().queryStarting(afterValue: "c")) == ["d", "e"]
        )
    }

    @Test("two devices that count in transactions lose nothing")
    func transactions() async throws {
        let counters = try (0..<2).map { _ in
            try device("count").reference().child("counter")
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                let counter = counters[number % 2]
                group.addTask {
                    let (isCommitted, snapshot) = try await counter.runTransactionBlock { data in
                        data.value = (data.value as? Int ?? 0) + 1
                        return .success(withValue: data)
                    }
                    #expect(isCommitted)
                    #expect(snapshot.value as? Int ?? 0 > 0)
                }
            }
            try await group.waitForAll()
        }
        #expect(try await counters[0].getData().value as? Int == 20)
        let (isCommitted, snapshot) = try await counters[0].runTransactionBlock { _ in .abort() }
        #expect(!isCommitted)
        #expect(snapshot.ref == counters[0])
        await #expect(throws: DatabaseError.self) {
            try await counters[0].runTransactionBlock { data in
                data.value = Double.nan
                return .success(withValue: data)
            }
        }
    }

    @Test("what is to happen on disconnect happens")
    func onDisconnect() async throws {
        let database = try device("presence")
        let presence = database.reference().child("online/ada")
        try await presence.onDisconnectSetValue("gone")
        try await database.reference().child("kept").onDisconnectSetValue("no")
        try await database.reference().child("kept").cancelDisconnectOperations()
        try await presence.setValue("here")
        var values = try device("presence").reference().child("online/ada").snapshots()
            .makeAsyncIterator()
        #expect(try await values.next()?.value as? String == "here")
        database.goOffline()
        #expect(try await values.next()?.value as? String == "gone")
        database.goOnline()
        #expect(try await !database.reference().child("kept").getData().exists())
    }

    @Test("without a connection writes wait, and are seen at once")
    func offline() async throws {
        let database = try device("offline")
        let note = database.reference().child("note")
        try await note.setValue("first")
        database.goOffline()
        let written = Task { _ = try await note.setValue("second") }
        var values = note.snapshots().makeAsyncIterator()
        var seen: [String] = []
        while seen.last != "second", let value = try await values.next()?.value as? String {
            seen.append(value)
        }
        let other = try device("offline").reference().child("note")
        #expect(try await other.getData().value as? String == "first")
        database.goOnline()
        try await written.value
        #expect(try await other.getData().value as? String == "second")
        database.goOffline()
        let purged = Task { _ = try await note.setValue("third") }
        while try await values.next()?.value as? String != "third" {}
        database.purgeOutstandingWrites()
        await #expect(throws: DatabaseError.writeCancelled) { try await purged.value }
        database.goOnline()
        #expect(try await other.getData().value as? String == "second")
    }

    @Test("what rules refuse is a typed error in all forms")
    func refused() async throws {
        let folder = try TemporaryFolder()
        let rules = try folder.file("rules.json", #"{"rules":{".read":false,".write":false}}"#)
        let closed = try RunningServer(arguments: ["--dev", "--memory", "--rules", rules])
        let app = try HearthApp.make(
            name: "refused",
            options: HearthOptions(databaseURL: "\(closed.url)?ns=closed"),
        )
        let database = Database.database(app: app)
        database.callbackQueue = DispatchQueue(label: "callbacks")
        let place = database.reference().child("a/b")
        let denied = DatabaseError.permissionDenied(path: "/a/b")
        await #expect(throws: denied) { try await place.setValue(1) }
        await #expect(throws: denied) { try await place.getData() }
        await #expect(throws: denied) { try await place.observeSingleEvent(of: .value) }
        await #expect(throws: denied) { for try await _ in place.snapshots() {} }
        await #expect(throws: denied) {
            try await place.runTransactionBlock { data in
                data.value = 1
                return .success(withValue: data)
            }
        }
        let error: NSError? = await withCheckedContinuation { continuation in
            place.observe(.childAdded) { _ in
            } withCancel: {
                continuation.resume(returning: $0 as NSError)
            }
        }
        #expect(error == nil || error?.code == 1)
        #expect(await place.observeSingleEventAndPreviousSiblingKey(of: .value).0.exists() == false)
        await app.delete()
        await #expect(throws: DatabaseError.closed) { try await place.setValue(1) }
    }

    @Test("with a disk cache what was read and written outlives the app")
    func diskCache() async throws {
        let folder = try TemporaryFolder()
        let seed = try device("disk").reference()
        try await seed.child("read").setValue("kept")
        let before = try device("disk", cacheFolder: folder.path)
        before.isPersistenceEnabled = true
        var values = before.reference().child("read").snapshots().makeAsyncIterator()
        #expect(try await values.next()?.value as? String == "kept")
        before.goOffline()
        let lost = Task { _ = try await before.reference().child("written").setValue("later") }
        var written = before.reference().child("written").snapshots().makeAsyncIterator()
        #expect(try await written.next()?.value as? String == "later")
        await before.app?.delete()
        await #expect(throws: DatabaseError.closed) { try await lost.value }
        before.sync.drain()

        let after = try device("disk", cacheFolder: folder.path)
        after.isPersistenceEnabled = true
        after.goOffline()
        let read = try await after.reference().child("read").observeSingleEvent(of: .value)
        #expect(read.value as? String == "kept")
        after.goOnline()
        var others = seed.child("written").snapshots().makeAsyncIterator()
        while try await others.next()?.value as? String != "later" {}
        await after.app?.delete()
        after.sync.drain()
    }

    @Test("an observer goes with the task that reads its stream")
    func cancelledStream() async throws {
        let database = try device("streams")
        let place = database.reference().child("a")
        let task = Task {
            for try await _ in place.snapshots() { withUnsafeCurrentTask { $0?.cancel() } }
        }
        try await task.value
        #expect(database.sync.observerCount(at: place) == 0)
    }

    @Test("what a client knows of itself is below .info")
    func info() async throws {
        let database = try device("info")
        try await database.reference().child("a").setValue(1)
        let connected = try await database.reference(withPath: ".info/connected").getData()
        #expect(connected.value as? Bool == true)
        let offset = try await database.reference(withPath: ".info/serverTimeOffset").getData()
        #expect(abs(offset.value as? Double ?? .infinity) < 60_000)
    }
}
