import Dispatch
import Foundation
import HearthAuth
import HearthCore
import Synchronization
import Testing
import TestSupport

/// An app of its own with its accounts, for one test; gone with it.
final class TestApp: Sendable {
    let app: HearthApp
    let auth: Auth
    /// Where completions and listeners are called.
    let queue: DispatchQueue

    private static let count = Atomic(0)

    /// An app of the server at `url`, that keeps who is signed in in `folder`; nil: nowhere.
    init(_ url: String, folder: String? = nil) throws {
        let number = Self.count.add(1, ordering: .relaxed).newValue
        var options = HearthOptions(databaseURL: url)
        options.cacheFolder = folder
        options.persistsUser = folder != nil
        app = try HearthApp.make(name: "test \(number)", options: options)
        queue = DispatchQueue(label: "test \(number)")
        auth = Auth.auth(app: app)
        auth.callbackQueue = queue
    }

    deinit { app.delete { _ in } }
}

/// The code of the error that `body` throws; nil when it throws none.
func refusal<Value: Sendable>(
    _ body: () async throws -> Value
) async -> AuthErrorCode? {
    do {
        _ = try await body()
        return nil
    } catch let error as AuthError {
        return error.errorCode
    } catch {
        Issue.record(error, "it is no AuthError")
        return nil
    }
}

/// What is reported from other threads, in its order; the person who waits gets it once it is there.
final class Record<Value: Sendable>: Sendable {
    private let stream: AsyncStream<Value>
    private let continuation: AsyncStream<Value>.Continuation
    private let reported = Mutex<[Value]>([])

    init() {
        (stream, continuation) = AsyncStream.makeStream()
        // Ends a test that would hang; no test waits for it. Long, since hundreds of tests share the processors.
        DispatchQueue.global().asyncAfter(deadline: .now() + 900) { [continuation] in
            continuation.finish()
        }
    }

    var values: [Value] { reported.withLock { $0 } }

    func add(_ value: Value) {
        reported.withLock { $0.append(value) }
        continuation.yield(value)
    }

    /// The first `count` values; fewer when they do not come within a quarter of an hour of its making.
    func first(_ count: Int) async -> [Value] {
        var values: [Value] = []
        for await value in stream {
            values.append(value)
            if values.count == count { break }
        }
        return values
    }
}

extension RunningServer {
    /// Development mode, with passwords that are hashed fast.
    static func development() throws -> RunningServer {
        try RunningServer(
            arguments: ["--dev", "--memory", "--password-memory", "8MiB", "--password-passes", "1"]
        )
    }

    /// The codes that emails would have, oldest first.
    func emails() async throws -> [[String: String]] {
        struct Codes: Decodable {
            let oobCodes: [[String: String]]
        }
        let bytes = try await get("/emulator/v1/projects/any/oobCodes")
        return try JSONDecoder().decode(Codes.self, from: bytes).oobCodes
    }

    /// The digits that phones would have been sent, oldest first.
    func digits() async throws -> [[String: String]] {
        struct Codes: Decodable {
            let verificationCodes: [[String: String]]
        }
        let bytes = try await get("/emulator/v1/projects/any/verificationCodes")
        return try JSONDecoder().decode(Codes.self, from: bytes).verificationCodes
    }

    /// Does something as the administrator.
    func administer(_ method: String, _ body: String) async throws {
        let path = "/identitytoolkit.googleapis.com/v1/projects/hearth/\(method)"
        _ = try await RawRequest.send("POST", path, body: body, port: port, administers: true)
    }

    private func get(_ path: String) async throws -> Data {
        try await RawRequest.send("GET", path, body: "", port: port)
    }
}
