import Foundation
import HearthCore

/// Sends the requests of one app to its server of files, with the credential of its user.
final class StorageService: Sendable {
    /// Which requests wait for each other: long ones delay no short ones.
    enum Lane: Sendable { case operation, transfer }

    private struct State {
        /// Scheme, host and port, without a slash at the end; a path is kept.
        var origin: String
        var hasBegun = false
    }

    let clock: StorageClock
    private let app: HearthApp
    private let state: Mutex<State>
    private let operations: any StorageTransport
    private let transfers: any StorageTransport

    init(_ app: HearthApp, origin: String) {
        self.app = app
        clock = .system
        state = Mutex(State(origin: origin))
        #if canImport(Darwin)
            operations = SessionTransport(app.settings, limit: StorageLimits.operationCount)
            transfers = SessionTransport(app.settings, limit: StorageLimits.transferCount)
        #else
            operations = CurlLanes(app.settings, limit: StorageLimits.operationCount)
            transfers = CurlLanes(app.settings, limit: StorageLimits.transferCount)
        #endif
    }

    /// A service over another way, on another clock.
    init(
        _ app: HearthApp,
        origin: String,
        over transport: any StorageTransport,
        _ clock: StorageClock
    ) {
        self.app = app
        self.clock = clock
        state = Mutex(State(origin: origin))
        operations = transport
        transfers = transport
    }

    var origin: String { state.withLock { $0.origin } }

    /// Takes another server, unless requests were sent already: then nothing changes, and it gives false.
    func choose(origin: String) -> Bool {
        state.withLock { state in
            if !state.hasBegun { state.origin = origin }
            return !state.hasBegun
        }
    }

    // MARK: - One attempt

    /// Sends a request once; with a new token once more, when the server does not take the last one.
    func attempt(
        _ request: StorageRequest,
        on lane: Lane,
        source: ByteSource? = nil,
        hasSent: (@Sendable (Int64) -> Void)? = nil,
        receiver: (begin: StorageCall.Beginning, take: StorageCall.Receiver)? = nil,
    ) async throws(TransportFault) -> StorageAnswer {
        if app.isDeleted { throw .lasting("The app was deleted.") }
        let origin = state.withLock { state in
            state.hasBegun = true
            return state.origin
        }
        let transport = lane == .operation ? operations : transfers
        var call = StorageCall(
            url: origin + request.target,
            request: request,
            source: source,
            hasSent: hasSent,
            receiver: receiver
        )
        guard request.isAuthorized, let token = try await token(isForcing: false) else {
            return try await transport.send(call)
        }
        call.request.headers.append(Self.authorization(token))
        let answer = try await transport.send(call)
        guard answer.status == 401, let next = try await self.token(isForcing: true), next != token
        else { return answer }
        call.request.headers = request.headers + [Self.authorization(next)]
        return try await transport.send(call)
    }

    private static func authorization(_ token: String) -> StorageRequest.Header {
        StorageRequest.Header("Authorization", "Firebase \(token)")
    }

    private func token(isForcing: Bool) async throws(TransportFault) -> String? {
        let result: Result<String?, any Error> = await withCheckedContinuation { waiting in
            app.credentials.fetchToken(forcingRefresh: isForcing) { waiting.resume(returning: $0) }
        }
        switch result {
        case .success(let token?):
            // It becomes a line of a head.
            guard token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
                throw .lasting("The user's token has characters that no token has.")
            }
            return token
        case .success(nil): return nil
        case .failure(let error):
            throw .passing("The user has no token: \(error.localizedDescription)")
        }
    }

    // MARK: - Until it succeeds

    /// Sends a short request, and again after failures that pass, for `limit` at most.
    ///
    /// - Returns: An answer of status 200 to 299.
    /// - Throws: The refusal; `retryLimitExceeded`; `cancelled` when the task was cancelled.
    func perform(
        _ request: StorageRequest,
        at path: StoragePath,
        limit: Duration,
    ) async throws(StorageError) -> StorageAnswer {
        var budget = RetryBudget(limit)
        var wasLost = false
        while true {
            do throws(TransportFault) {
                let answer = try await attempt(request, on: .operation)
                if answer.isSuccess { return answer }
                // An earlier attempt has deleted it, and its answer was lost.
                if request.method == .delete, answer.status == 404, wasLost { return answer }
                if !answer.isPassing { throw TransportFault.failed(StorageError(answer, at: path)) }
            } catch {
                try Self.rethrow(error)
            }
            wasLost = true
            try await wait(&budget)
        }
    }

    /// Throws what no later attempt would change.
    static func rethrow(_ fault: TransportFault) throws(StorageError) {
        switch fault {
        case .passing(let words):
            HearthConfiguration.shared.log(.info, "a request was lost: \(words)")
        case .lasting(let words): throw .unknown(message: words, serverError: [:])
        case .stopped: throw .cancelled
        case .failed(let error): throw error
        }
    }

    /// Waits before the next attempt.
    ///
    /// - Throws: `retryLimitExceeded`, or `cancelled` when the task was cancelled.
    func wait(_ budget: inout RetryBudget) async throws(StorageError) {
        let spread = Double.random(in: 0...1)
        guard let delay = budget.delay(now: clock.now(), spread: spread) else {
            throw .retryLimitExceeded
        }
        guard await clock.sleep(delay) else { throw .cancelled }
    }
}
