import HTTPClient
import JSONTree
import Synchronization
import TestSupport

@testable import ObjectStorage

/// A client of a store that answers as a test has prepared, and what happened.
struct ScriptedStore {
    let server: ScriptedServer
    let store: ObjectStore
    let waits: WaitRecorder

    init(
        _ answers: [ScriptedServer.Answer],
        partByteCount: Int64 = ObjectStoreLimits.partByteCount,
        token: String? = nil
    ) throws {
        server = try ScriptedServer(answers)
        waits = WaitRecorder()
        var configuration = try ObjectStoreConfiguration(
            BucketAddress(endpoint: server.url, bucket: "files"),
            credentials: ObjectStoreCredentials(
                accessKeyID: "key",
                secretAccessKey: "secret-secret",
                sessionToken: token
            )
        )
        configuration.partByteCount = partByteCount
        store = try ObjectStore(configuration, clock: waits.clock)
    }

    /// Method and target of each request.
    var lines: [String] { server.requests.map { "\($0.method) \($0.target)" } }

    /// The error that a call ends with.
    func error(_ call: (ObjectStore) throws -> Void) -> ObjectStoreError? {
        do { try call(store) } catch {
            return error as? ObjectStoreError
        }
        return nil
    }
}

/// A clock whose time goes on by its waits alone.
final class WaitRecorder: Sendable {
    private let waits = Mutex<[Duration]>([])

    var milliseconds: [Int] {
        waits.withLock { $0.map { Int($0 / .milliseconds(1)) } }
    }

    var clock: ObjectStoreClock {
        ObjectStoreClock(
            now: { [self] in
                Timestamp(milliseconds: 1_790_812_799_000 + Int64(milliseconds.reduce(0, +)))
            },
            wait: { [self] duration in waits.withLock { $0.append(duration) } }
        )
    }
}

extension ScriptedServer.Answer {
    /// An error as stores answer it.
    static func error(_ status: Int, _ code: String, more: String = "") -> Self {
        .init(
            status,
            text:
                "<?xml version=\"1.0\"?><Error><Code>\(code)</Code><Message>It is \(code).</Message>\(more)</Error>"
        )
    }
}

let blobKey = "ab/cdef"

func key(_ text: String = blobKey) -> ObjectKey {
    guard let key = ObjectKey(text) else { preconditionFailure("'\(text)' is a key") }
    return key
}

/// Reads an object whole.
func bytes(
    of store: ObjectStore,
    _ text: String = blobKey,
    _ range: Range<Int64>? = nil
) throws(ObjectStoreError) -> [UInt8] {
    var bytes: [UInt8] = []
    try store.get(key(text), range) { part in
        bytes += part
        return true
    }
    return bytes
}
