import Foundation
import HearthCore
import Synchronization
import TestSupport
import Testing

@testable import HearthStorage

@Suite("the credential of requests for files")
struct CredentialTests {
    /// Requests as they came, answered by a function.
    private final class Scripted: StorageTransport {
        private let seen = Mutex<[StorageCall]>([])
        private let answer: @Sendable (StorageCall) -> StorageAnswer

        init(_ answer: @escaping @Sendable (StorageCall) -> StorageAnswer) { self.answer = answer }

        /// The credentials of the requests, in their order.
        var credentials: [String?] {
            seen.withLock { calls in
                calls.map { call in
                    call.request.headers.first { $0.name == "Authorization" }?.value
                }
            }
        }

        func send(_ call: StorageCall) async throws(TransportFault) -> StorageAnswer {
            seen.withLock { $0.append(call) }
            return answer(call)
        }
    }

    private func storage(_ server: Scripted, _ tokens: Tokens) throws -> (TwinFiles, Storage) {
        let files = try TwinFiles(TwinServer(TestSeed.generator(1)), tokens: tokens)
        let service = StorageService(
            files.app,
            origin: "http://localhost:1",
            over: server,
            files.storage.service.clock
        )
        return (files, Storage(service, files.app, bucket: "B"))
    }

    @Test(
        "is the user's token, and a new one once it is refused",
        arguments: [
            ("t1", "t2", ["Firebase t1", "Firebase t2"], nil),
            ("old", "old", ["Firebase old"], .unauthenticated),
            ("old", "older", ["Firebase old", "Firebase older"], .unauthenticated),
            ("old", nil, ["Firebase old"], .unauthenticated), (nil, "t2", [nil], .unauthenticated),
            ("t2", nil, ["Firebase t2"], nil), ("a\r\nX-Evil: 1", nil, [], .unknown),
        ] as [(String?, String?, [String?], StorageErrorCode?)]
    )
    func tokens(first: String?, next: String?, sent: [String?], error: StorageErrorCode?)
        async throws
    {
        let server = Scripted { call in
            let isGood = call.request.headers.contains { $0.value == "Firebase t2" }
            return StorageAnswer(status: isGood ? 200 : 401, body: Data("{}".utf8))
        }
        let (files, storage) = try storage(server, Tokens(first, next))
        let reference = storage.reference(withPath: "a")
        let code = await code { try await reference.getMetadata() }
        #expect(code == error)
        #expect(server.credentials == sent)
        withExtendedLifetime(files) {}
    }

    @Test("goes to the server of the app alone, whatever an upload's answer says")
    func sessions() async throws {
        let server = Scripted { call in
            var answer = StorageAnswer(status: 200, body: Data("{}".utf8))
            answer.headers["x-goog-upload-url"] = "https://evil.example/v0/b/B/o?upload_id=7"
            answer.headers["x-goog-upload-status"] =
                call.request.headers.contains { $0.value == "upload, finalize" }
                ? "final" : "active"
            #expect(call.url.hasPrefix("http://localhost:1/v0/b/B/o?"))
            return answer
        }
        let (files, storage) = try storage(server, Tokens("t1", nil))
        try await storage.reference(withPath: "a").putDataAsync(Data(count: 600_000))
        #expect(server.credentials == ["Firebase t1", nil, nil])
        withExtendedLifetime(files) {}
    }
}

/// Gives the first token until another one is forced.
final class Tokens: TokenSource {
    let first: String?
    let next: String?
    init(_ first: String?, _ next: String?) { (self.first, self.next) = (first, next) }

    func fetchToken(
        forcingRefresh: Bool,
        completion: @escaping @Sendable (Result<String?, any Error>) -> Void,
    ) {
        completion(.success(forcingRefresh ? next : first))
    }

    func onCredentialChange(_ listener: @escaping @Sendable (String?, String?) -> Void) {
        listener(first, "ann")
    }
}
