import Foundation
import HearthCore
import Synchronization
import Testing

@testable import HearthDatabase

@Suite("callbacks")
struct CallbackTests {
    /// What callbacks wrote down, in order.
    private final class Notes: Sendable {
        private let notes = Mutex<[String]>([])
        var all: [String] { notes.withLock { $0 } }
        func add(_ note: String) { notes.withLock { $0.append(note) } }
    }

    private static let key = DispatchSpecificKey<String>()

    private static func queue(_ name: String) -> DispatchQueue {
        let queue = DispatchQueue(label: name)
        queue.setSpecific(key: key, value: name)
        return queue
    }

    @Test("come on the chosen queue, once, in the order of the calls")
    func chosenQueue() async throws {
        let world = try FakeWorld()
        world.database.callbackQueue = Self.queue("mine")
        let notes = Notes()
        await withCheckedContinuation { continuation in
            let left = Mutex(3)
            let done: @Sendable (String) -> Void = { note in
                notes.add("\(note) on \(DispatchQueue.getSpecific(key: Self.key) ?? "another")")
                if left.withLock({ left in
                    left -= 1; return left == 0
                }) {
                    continuation.resume()
                }
            }
            world.root.child("a").setValue(1) { error, ref in
                done("set \(ref.key ?? "") \(error == nil)")
            }
            world.root.child("b").updateChildValues(["x": 1]) { error, _ in
                done("update \(error == nil)")
            }
            world.root.child("c").onDisconnectRemoveValue { error, _ in
                done("on disconnect \(error == nil)")
            }
        }
        world.database.sync.drain()
        #expect(
            notes.all.sorted() == [
                "on disconnect true on mine", "set a true on mine", "update true on mine",
            ]
        )
    }

    @Test("of a local write come before the server has answered")
    func localEvents() async throws {
        let world = try FakeWorld(isSilent: true)
        let root = world.root
        let value: Int? = await withCheckedContinuation { continuation in
            root.child("a").observeSingleEvent(of: .value) { snapshot in
                continuation.resume(returning: snapshot.value as? Int)
            }
            root.child("a").put(5)
        }
        #expect(value == 5)
    }

    @Test("of calls from many threads come once each")
    func manyThreads() async throws {
        let world = try FakeWorld()
        let root = world.root
        let counts = Mutex<[String: Int]>([:])
        let (threadCount, callCount) = (4, 100)
        await withCheckedContinuation { continuation in
            let left = Mutex(threadCount * callCount)
            DispatchQueue.concurrentPerform(iterations: threadCount) { thread in
                for number in 0..<callCount {
                    let place = root.child("\(thread)/\(number)")
                    let handle = place.observe(.value) { _ in }
                    place.setValue(number) { _, place in
                        counts.withLock { $0[place.url, default: 0] += 1 }
                        let isLast = left.withLock { left in
                            left -= 1
                            return left == 0
                        }
                        if isLast { continuation.resume() }
                    }
                    place.removeObserver(withHandle: handle)
                }
            }
        }
        #expect(counts.withLock { $0.count } == threadCount * callCount)
        #expect(counts.withLock { counts in counts.values.allSatisfy { $0 == 1 } })
        #expect(world.database.sync.observerCount(at: root.child("0/0")) == 0)
    }

    @Test("of a removed observer come no more, even those on their way")
    func removed() async throws {
        let world = try FakeWorld(isSilent: true)
        let queue = DispatchQueue(label: "held")
        world.database.callbackQueue = queue
        let notes = Notes()
        let reference = world.root.child("a")
        reference.put(1)
        queue.suspend()
        let handle = reference.observe(.value) { _ in notes.add("first") }
        reference.observe(.value) { _ in notes.add("second") }
        let other = world.root.child("b")
        other.put(1)
        other.observe(.value) { _ in notes.add("other") }
        world.database.sync.drain()
        reference.removeObserver(withHandle: handle)
        other.removeAllObservers()
        queue.resume()
        queue.sync {}
        reference.put(2)
        world.database.sync.drain()
        queue.sync {}
        #expect(notes.all == ["second", "second"])
    }

    @Test("are removed by a plain reference for all queries of its path, by a query for itself")
    func whoIsMeant() async throws {
        let world = try FakeWorld(isSilent: true)
        let queue = DispatchQueue(label: "callbacks")
        world.database.callbackQueue = queue
        let list = world.root.child("list")
        list.put(["a": 1, "b": 2])
        let notes = Notes()
        let first = list.queryOrderedByKey().queryLimited(toFirst: 1)
        let last = list.queryOrderedByKey().queryLimited(toLast: 1)
        func watch(_ query: DatabaseQuery, _ name: String) -> DatabaseHandle {
            query.observe(.value) { snapshot in notes.add("\(name) \(snapshot.childrenCount)") }
        }
        _ = watch(list, "list")
        let firstHandle = watch(first, "first")
        _ = watch(last, "last")
        world.root.removeAllObservers()
        last.removeObserver(withHandle: firstHandle)
        list.put(["a": 1, "b": 2, "c": 3])
        world.database.sync.drain()
        queue.sync {}
        #expect(notes.all.contains("list 3"))
        let count = notes.all.count
        list.removeAllObservers()
        list.put(["d": 1])
        world.database.sync.drain()
        queue.sync {}
        #expect(notes.all.count == count)
    }

    @Test("of a deleted app say that it is gone")
    func deleted() async throws {
        let world = try FakeWorld(isSilent: true)
        let reference = world.root.child("a")
        let written = Task { _ = try await reference.setValue(1) }
        let read = Task { for try await _ in reference.child("b").snapshots() {} }
        await world.transport.opens()
        world.database.sync.close()
        await #expect(throws: DatabaseError.closed) { try await written.value }
        await #expect(throws: DatabaseError.closed) { try await read.value }
        await #expect(throws: DatabaseError.closed) { try await reference.setValue(2) }
        await #expect(throws: DatabaseError.closed) { try await reference.getData() }
        let cancelled: DatabaseError? = await withCheckedContinuation { continuation in
            reference.observe(.value) { _ in
            } withCancel: {
                continuation.resume(returning: $0 as? DatabaseError)
            }
        }
        #expect(cancelled == .closed)
    }

    @Test("of observers that are added while the app is deleted say so once")
    func observedAsDeleted() async throws {
        let world = try FakeWorld()
        let queue = Self.queue("mine")
        world.database.callbackQueue = queue
        let notes = Notes()
        let sync = world.database.sync
        // The observer is known when the database is closed, and begins behind that.
        sync.queue.suspend()
        sync.close()
        world.root.child("a").observe(.value) { _ in
            notes.add("value")
        } withCancel: { error in
            notes.add("\(error as? DatabaseError == .closed)")
        }
        sync.queue.resume()
        sync.drain()
        queue.sync {}
        #expect(notes.all == ["true"])
    }

    @Test("may change what belongs to the main actor")
    @MainActor
    func mainActor() async throws {
        let world = try FakeWorld(isSilent: true)
        world.database.callbackQueue = .main
        let screen = Screen()
        world.root.child("a").put(1)
        await withCheckedContinuation { continuation in
            // Neither the closure nor what it changes is `Sendable`.
            world.root.child("a").observe(.value) { snapshot in
                screen.title = "\(snapshot.value as? Int ?? 0)"
                if screen.title == "1" { continuation.resume() }
            }
        }
        #expect(screen.title == "1")
    }

    @MainActor
    private final class Screen {
        var title = ""
    }
}

extension DatabaseReference {
    /// `setValue` that does not wait: in an `async` function the form that waits is taken.
    func put(_ value: Any?) { setValue(value) }
}
