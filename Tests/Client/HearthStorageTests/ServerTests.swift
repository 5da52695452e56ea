import Foundation
import HearthAuth
import HearthCore
import Synchronization
import TestSupport
import Testing

@testable import HearthStorage

/// A real server and the files of an app of its own.
private final class RealFiles: Sendable {
    let app: HearthApp
    let storage: Storage
    /// Sendable, since nothing but its end is asked of it.
    private nonisolated(unsafe) let server: RunningServer
    private static let count = Atomic(0)

    init(_ server: RunningServer, isOther: Bool = false) throws {
        self.server = server
        let number = Self.count.add(1, ordering: .relaxed).newValue
        var options = HearthOptions(databaseURL: isOther ? "http://localhost:1" : server.url)
        options.persistsUser = false
        app = try HearthApp.make(name: "files \(number)", options: options)
        storage = Storage.storage(app: app)
        storage.callbackQueue = DispatchQueue(label: "files \(number)")
        if isOther { storage.useEmulator(withHost: "127.0.0.1", port: server.port) }
    }

    deinit { app.delete { _ in } }

    func reference(_ name: String) -> StorageReference { storage.reference(withPath: name) }
}

/// Development mode, with passwords that are hashed fast.
private func development(_ more: [String] = []) throws -> RunningServer {
    let passwords = ["--password-memory", "8MiB", "--password-passes", "1"]
    return try RunningServer(arguments: ["--dev", "--memory"] + passwords + more)
}

@Suite("files of a real server")
struct ServerTests {
    @Test(
        "come back as they were sent",
        arguments: [0, 1, 5_000, 262_144, 262_145, 1_048_576, 5_000_000]
    )
    func roundTrip(byteCount: Int) async throws {
        let files = try RealFiles(try development())
        var random = TestSeed.generator(UInt64(byteCount))
        let bytes = randomBytes(byteCount, &random)
        let reference = files.reference("photos/ä %2F +&=.bin")
        let metadata = StorageMetadata()
        metadata.contentType = "image/x-test"
        metadata.customMetadata = ["by": "ann"]
        let stored = try await reference.putDataAsync(bytes, metadata: metadata)
        #expect(stored.size == Int64(byteCount))
        #expect(stored.path == "photos/ä %2F +&=.bin")
        #expect(stored.contentType == "image/x-test")
        #expect(stored.customMetadata == ["by": "ann"])
        #expect(stored.bucket == reference.bucket)
        #expect(try await reference.data(maxSize: 5_000_000) == bytes)
        if byteCount > 1 {
            #expect(
                await code { try await reference.data(maxSize: Int64(byteCount - 1)) }
                    == .downloadSizeExceeded
            )
        }
        let folder = try TemporaryFolder()
        let (source, target) = (
            URL(fileURLWithPath: "\(folder.path)/up.png"),
            URL(fileURLWithPath: "\(folder.path)/down")
        )
        try bytes.write(to: source)
        let copy = files.reference("copy")
        #expect(try await copy.putFileAsync(from: source).contentType == "image/png")
        try Data("earlier".utf8).write(to: target)
        #expect(try await copy.writeAsync(toFile: target) == target)
        #expect(try Data(contentsOf: target) == bytes)
        #expect(folder.names() == ["down", "up.png"])
    }

    @Test("have metadata that can be changed, and an address for everybody")
    func metadata() async throws {
        let files = try RealFiles(try development(), isOther: true)
        let reference = files.reference("a.txt")
        try await reference.putDataAsync(Data("hello".utf8))
        let metadata = try await reference.getMetadata()
        #expect(metadata.contentType == "application/octet-stream")
        #expect(metadata.md5Hash == "XUFAKrxLKna5cZ2REBfFkg==")
        #expect(metadata.timeCreated != nil)
        metadata.contentType = "text/plain"
        metadata.contentLanguage = "de"
        metadata.customMetadata = ["k": "v", "l": "w"]
        var changed = try await reference.updateMetadata(metadata)
        #expect(changed.metageneration == 2)
        #expect(changed.contentLanguage == "de")
        changed.contentLanguage = nil
        changed.customMetadata = ["l": "w"]
        changed = try await reference.updateMetadata(changed)
        #expect(changed.contentType == "text/plain")
        #expect(changed.contentLanguage == nil)
        #expect(changed.customMetadata == ["l": "w"])
        let url = try await reference.downloadURL()
        #expect(url.absoluteString.contains("/v0/b/hearth.appspot.com/o/a.txt?alt=media&token="))
        #expect(try files.storage.reference(for: url) == reference)
    }

    @Test("are listed by folders and pages, and deleted")
    func lists() async throws {
        let files = try RealFiles(try development())
        let names = ["a", "b/1", "b/2", "b/c/3", "d/4", "e"]
        for name in names { try await files.reference(name).putDataAsync(Data([1])) }
        let root = files.storage.reference()
        let all = try await root.listAll()
        #expect(all.items.map(\.fullPath) == ["a", "e"])
        #expect(all.prefixes.map(\.fullPath) == ["b", "d"])
        let folder = try await root.child("b").listAll()
        #expect(folder.items.map(\.name) == ["1", "2"])
        #expect(folder.prefixes.map(\.fullPath) == ["b/c"])
        var (seen, token): ([String], String?) = ([], nil)
        repeat {
            let page =
                if let token {
                    try await root.list(maxResults: 1, pageToken: token)
                } else {
                    try await root.list(maxResults: 1)
                }
            #expect(page.items.count + page.prefixes.count <= 1)
            seen += (page.items + page.prefixes).map(\.fullPath)
            token = page.pageToken
        } while token != nil && seen.count < 10
        #expect(seen == ["a", "b", "d", "e"])
        #expect(await code { try await root.list(maxResults: 0) } == .invalidArgument)
        #expect(await code { try await root.list(maxResults: 1_001) } == .invalidArgument)
        try await all.items[0].delete()
        #expect(await code { try await all.items[0].delete() } == .objectNotFound)
        #expect(await code { try await all.items[0].getMetadata() } == .objectNotFound)
        #expect(await code { try await all.items[0].data(maxSize: 9) } == .objectNotFound)
        #expect(await code { try await root.getMetadata() } == .invalidArgument)
    }

    @Test("go with the user's credential, and rules decide")
    func rules() async throws {
        let folder = try TemporaryFolder()
        let rules = try folder.file(
            "storage.rules",
            """
            rules_version = '2';
            service firebase.storage {
              match /b/{bucket}/o {
                match /users/{uid}/{name} {
                  allow read, write: if request.auth.uid == uid;
                }
              }
            }
            """
        )
        let server = try development(["--files-rules", rules])
        let files = try RealFiles(server)
        let auth = Auth.auth(app: files.app)
        auth.callbackQueue = files.storage.callbackQueue
        let stranger = files.reference("users/ann/x")
        for size in [5, 600_000] {
            #expect(
                await code { try await stranger.putDataAsync(Data(count: size)) } == .unauthorized
            )
        }
        let uid = try await auth.signInAnonymously().user.uid
        let own = files.reference("users/\(uid)/x")
        for size in [5, 600_000] {
            #expect(try await own.putDataAsync(Data(count: size)).size == Int64(size))
            #expect(
                await code { try await stranger.putDataAsync(Data(count: size)) } == .unauthorized
            )
        }
        #expect(try await own.data(maxSize: 600_000).count == 600_000)
        #expect(await code { try await stranger.getMetadata() } == .unauthorized)
        try auth.signOut()
        #expect(await code { try await own.getMetadata() } == .unauthorized)
    }

    @Test("are uploaded with progress, broken off and gone on with, in order on the queue")
    func tasks() async throws {
        let files = try RealFiles(try development())
        var random = TestSeed.generator(3)
        let bytes = randomBytes(4_000_000, &random)
        let events = Mutex<[StorageTaskStatus]>([])
        let metadata: StorageMetadata? = await withCheckedContinuation { waiting in
            let task = files.reference("a").putData(bytes)
            let hasPaused = Mutex(false)
            for status in [StorageTaskStatus.pause, .resume, .progress] {
                task.observe(status) { snapshot in
                    events.withLock { $0.append(snapshot.status) }
                    #expect(snapshot.progress?.totalUnitCount == 4_000_000)
                    guard status == .progress, snapshot.progress?.completedUnitCount ?? 0 > 0,
                        !hasPaused.withLock({ flag in
                            defer { flag = true }
                            return flag
                        })
                    else { return }
                    task.pause()
                    task.resume()
                }
            }
            task.observe(.success) { waiting.resume(returning: $0.metadata) }
            task.observe(.failure) { _ in waiting.resume(returning: nil) }
        }
        #expect(metadata?.size == 4_000_000)
        #expect(try await files.reference("a").data(maxSize: 4_000_000) == bytes)
        let seen = events.withLock { $0 }
        let pause = try #require(seen.firstIndex(of: .pause))
        #expect(seen[pause...].contains(.resume))
    }

    @Test("whose upload or download is cancelled are not there")
    func cancelled() async throws {
        let files = try RealFiles(try development())
        let reference = files.reference("a")
        let error: (any Error)? = await withCheckedContinuation { waiting in
            let task = reference.putData(Data(count: 3_000_000))
            task.observe(.failure) { waiting.resume(returning: $0.error) }
            task.cancel()
            task.cancel()
            task.resume()
        }
        #expect((error as NSError?)?.code == StorageErrorCode.cancelled.rawValue)
        #expect(await code { try await reference.getMetadata() } == .objectNotFound)
        try await reference.putDataAsync(Data(count: 3_000_000))
        let folder = try TemporaryFolder()
        let target = URL(fileURLWithPath: "\(folder.path)/down")
        let waiting = Task { try await reference.writeAsync(toFile: target) }
        waiting.cancel()
        #expect(await code { try await waiting.value } == .cancelled)
        #expect(!folder.names().contains("down"))
    }

    @Test("report what cannot be, and send nothing")
    func faults() async throws {
        let files = try RealFiles(try development())
        let other = Storage.storage(app: files.app, url: "no address")
        #expect(
            await code { try await other.reference(withPath: "a").getMetadata() }
                == .invalidArgument
        )
        #expect(await code { try await other.reference().child("a").listAll() } == .invalidArgument)
        let foreign = files.storage.reference(forURL: "gs://other/a")
        #expect(await code { try await foreign.delete() } == .bucketMismatch)
        let none = files.storage.reference(forURL: "none")
        #expect(await code { try await none.data(maxSize: 1) } == .pathError)
        let missing = URL(fileURLWithPath: "/no/such/file")
        #expect(
            await code { try await files.reference("a").putFileAsync(from: missing) } == .unknown
        )
        #expect(
            await code { try await files.reference("").putDataAsync(Data()) } == .invalidArgument
        )
        let folder = URL(fileURLWithPath: "/tmp")
        #expect(
            await code { try await files.reference("a").putFileAsync(from: folder) } == .unknown
        )
        let metadata = StorageMetadata()
        metadata.contentType = "a/b\r\nX-Evil: 1"
        #expect(
            await code { try await files.reference("a").putDataAsync(Data(), metadata: metadata) }
                == .invalidArgument
        )
        #expect(await code { try await files.reference("a").getMetadata() } == .objectNotFound)
        try await files.reference("a").putDataAsync(Data([1]))
        let bad = URL(fileURLWithPath: "/no/such/folder/file")
        #expect(await code { try await files.reference("a").writeAsync(toFile: bad) } == .unknown)
        await files.app.delete()
        #expect(await code { try await files.reference("a").getMetadata() } == .unknown)
    }

    @Test("are there for completions, too")
    func completions() async throws {
        let files = try RealFiles(try development())
        let reference = files.reference("a")
        let stored: StorageMetadata? = await withCheckedContinuation { waiting in
            reference.putData(Data("hello".utf8), metadata: nil) { metadata, _ in
                waiting.resume(returning: metadata)
            }
        }
        #expect(stored?.size == 5)
        let data: Data? = await withCheckedContinuation { waiting in
            reference.getData(maxSize: 5) { data, _ in waiting.resume(returning: data) }
        }
        #expect(data == Data("hello".utf8))
        let result: Result<URL, any Error> = await withCheckedContinuation { waiting in
            reference.downloadURL { waiting.resume(returning: $0) }
        }
        #expect(try result.get().path.hasSuffix("/o/a"))
        let error: (any Error)? = await withCheckedContinuation { waiting in
            files.reference("none").getMetadata { _, error in waiting.resume(returning: error) }
        }
        #expect((error as NSError?)?.code == StorageErrorCode.objectNotFound.rawValue)
        let gone: (any Error)? = await withCheckedContinuation { waiting in
            reference.delete { waiting.resume(returning: $0) }
        }
        #expect(gone == nil)
    }

    @Test("arrive whole when the server is killed meanwhile and comes again")
    func killed() async throws {
        let data = try TemporaryFolder()
        let arguments = [
            "--dev", "--data-dir", data.path, "--password-memory", "8MiB", "--password-passes", "1",
        ]
        let first = try RunningServer(arguments: arguments)
        let servers = Mutex<[Kept]>([Kept(first)])
        let files = try RealFiles(first)
        let port = first.port
        var random = TestSeed.generator(11)
        let bytes = randomBytes(9_000_000, &random)
        let reference = files.reference("a")
        let metadata: Result<StorageMetadata?, StorageError> = await withCheckedContinuation {
            waiting in
            let task = reference.putData(bytes)
            task.observe(.progress) { snapshot in
                guard snapshot.progress?.completedUnitCount ?? 0 > 1_000_000 else { return }
                servers.withLock { servers in
                    guard servers.count == 1 else { return }
                    servers[0].server.stop(atOnce: true)
                    do {
                        servers.append(Kept(try RunningServer(arguments: arguments, port: port)))
                    } catch {
                        Issue.record(error)
                    }
                }
            }
            task.onEnd { waiting.resume(returning: $0) }
        }
        #expect(try metadata.get()?.size == 9_000_000)
        #expect(servers.withLock { $0.count } == 2)
        #expect(try await reference.data(maxSize: 9_000_000) == bytes)
    }
}

/// Passed from one thread to another under a lock.
private struct Kept: @unchecked Sendable {
    let server: RunningServer
    init(_ server: RunningServer) { self.server = server }
}
