import HearthCore
import Synchronization
import TestSupport
import Testing

@Suite("who is signed in")
struct CredentialsTests {
    /// A source that knows one token.
    private final class Source: TokenSource {
        func fetchToken(
            forcingRefresh: Bool,
            completion: @escaping @Sendable (Result<String?, any Error>) -> Void,
        ) {
            completion(.success(forcingRefresh ? "new" : "old"))
        }

        func onCredentialChange(_ listener: @escaping @Sendable (String?, String?) -> Void) {
            listener("old", "ann")
        }
    }

    private func answers(
        isSaved: Bool,
        persistsUser: Bool = true,
        _ change: (HearthApp) async -> Void,
    ) async throws -> (before: [String?], after: [String?]) {
        let folder = try TemporaryFolder()
        if isSaved { _ = try folder.file("signed-in-user.json", "{}") }
        var options = HearthOptions()
        options.cacheFolder = folder.path
        options.persistsUser = persistsUser
        let app = try HearthApp.make(
            name: "credentials \(folder.path.suffix(60))",
            options: options
        )
        let answers = Mutex<[String?]>([])
        app.credentials.fetchToken(forcingRefresh: true) { result in
            answers.withLock { $0.append(try? result.get()) }
        }
        let before = answers.withLock { $0 }
        await change(app)
        await app.delete()
        return (before, answers.withLock { $0 })
    }

    @Test("a question waits for a source when a person was signed in as the program ran last")
    func waits() async throws {
        let (before, after) = try await answers(isSaved: true) { $0.tokenSource = Source() }
        #expect(before == [])
        #expect(after == ["new"])
    }

    @Test("a question that waits is answered when there is to be no source, and when the app ends")
    func ends() async throws {
        #expect(try await answers(isSaved: true) { $0.tokenSource = nil }.after == [nil])
        #expect(try await answers(isSaved: true) { _ in }.after == [nil])
    }

    @Test("no one is signed in when no one was, or when it is not kept who was")
    func stranger() async throws {
        #expect(try await answers(isSaved: false) { _ in }.before == [nil])
        #expect(try await answers(isSaved: true, persistsUser: false) { _ in }.before == [nil])
    }
}
