import Foundation
import Locks

/// Who is signed in to an app, whichever source says so and whenever that one came.
///
/// Stands between the SDK's parts and `HearthApp.tokenSource`: what listens here hears of sources that are set later.
package final class Credentials: TokenSource {
    private struct State {
        var source: (any TokenSource)?
        /// Counts sources: what an earlier one still says does not count.
        var generation = 0
        var token: String?
        var account: String?
        var listeners: [@Sendable (String?, String?) -> Void] = []
        /// Whether the program has said which source there is, or that there is none.
        var isSet = false
        /// Questions that wait for a source.
        var waiting: [Question] = []
    }

    private struct Question {
        let isForcing: Bool
        let completion: @Sendable (Result<String?, any Error>) -> Void
    }

    private let state = Mutex(State())

    /// The file that says who was signed in when the program ran last; nil: none is kept.
    private let savedUserFile: String?

    init(savedUserFile: String?) {
        self.savedUserFile = savedUserFile
    }

    var source: (any TokenSource)? { state.withLock { $0.source } }

    /// Whether anybody listens.
    package var isHeard: Bool { state.withLock { !$0.listeners.isEmpty } }

    func use(_ source: (any TokenSource)?) {
        let (generation, waiting) = state.withLock { state in
            defer { state.waiting = [] }
            state.generation += 1
            state.source = source
            state.isSet = true
            return (state.generation, state.waiting)
        }
        if let source {
            source.onCredentialChange { [weak self] token, account in
                self?.changed(token, account, generation)
            }
        } else {
            changed(nil, nil, generation)
        }
        for question in waiting {
            fetchToken(forcingRefresh: question.isForcing, completion: question.completion)
        }
    }

    func removeAll() {
        let waiting = state.withLock { state in
            defer { state = State(generation: state.generation + 1, isSet: true) }
            return state.waiting
        }
        for question in waiting { question.completion(.success(nil)) }
    }

    /// A token of the source; nil when there is no source.
    ///
    /// When somebody was signed in as the program ran last, and it has not said yet who knows of that, the answer
    /// waits until it does: with a nil the server would refuse what that user has left to be written.
    package func fetchToken(
        forcingRefresh: Bool,
        completion: @escaping @Sendable (Result<String?, any Error>) -> Void,
    ) {
        let (source, isFirst): ((any TokenSource)?, Bool?) = state.withLock { state in
            if state.source != nil || state.isSet || !isSomebodySaved { return (state.source, nil) }
            defer {
                state.waiting.append(Question(isForcing: forcingRefresh, completion: completion))
            }
            return (nil, state.waiting.isEmpty)
        }
        guard let isFirst else {
            guard let source else { return completion(.success(nil)) }
            return source.fetchToken(forcingRefresh: forcingRefresh, completion: completion)
        }
        if isFirst {
            HearthConfiguration.shared.log(
                .notice,
                "somebody was signed in when the program ran last: no connection before Auth.auth()"
            )
        }
    }

    private var isSomebodySaved: Bool {
        savedUserFile.map { FileManager.default.fileExists(atPath: $0) } ?? false
    }

    /// Calls `listener` before it returns and at each change after, one call at a time.
    ///
    /// Listeners are called under a lock, so that all hear of changes in the same order: they pass the news on to a queue
    /// and ask nothing here.
    package func onCredentialChange(_ listener: @escaping @Sendable (String?, String?) -> Void) {
        state.withLock { state in
            state.listeners.append(listener)
            listener(state.token, state.account)
        }
    }

    private func changed(_ token: String?, _ account: String?, _ generation: Int) {
        state.withLock { state in
            guard state.generation == generation else { return }
            state.token = token
            state.account = account
            for listener in state.listeners { listener(token, account) }
        }
    }
}
