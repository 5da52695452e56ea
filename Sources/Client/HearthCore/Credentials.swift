import Foundation

/// The signed-in user of an app, independent of the source and of when it was set. Connects the SDK's parts with
/// `HearthApp.tokenSource`: listeners here also follow a source that is set later.
package final class Credentials: TokenSource {
    private struct State {
        var source: (any TokenSource)?
        /// Counts sources, to ignore an earlier one.
        var generation = 0
        var token: String?
        var account: String?
        var listeners: [@Sendable (String?, String?) -> Void] = []
        /// Whether the program has set a source, or chosen to have none.
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

    init(savedUserFile: String?) { self.savedUserFile = savedUserFile }

    var source: (any TokenSource)? { state.withLock { $0.source } }

    /// Whether there are listeners.
    package var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty } }

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

    /// A token of the source; nil when there is no source. If a user was signed in when the program last ran, and it
    /// has not set a source yet, the answer waits until it does: after a nil, the server would refuse that user's
    /// pending writes.
    package func fetchToken(
        forcingRefresh: Bool,
        completion: @escaping @Sendable (Result<String?, any Error>) -> Void,
    ) {
        let (source, isFirst): ((any TokenSource)?, Bool?) = state.withLock { state in
            if state.source != nil || state.isSet || !isUserSaved { return (state.source, nil) }
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
                "a user was signed in when the program ran last: no connection before Auth.auth()"
            )
        }
    }

    private var isUserSaved: Bool {
        savedUserFile.map { FileManager.default.fileExists(atPath: $0) } ?? false
    }

    /// Calls `listener` before it returns and at each change after, one call at a time. Listeners are called under a
    /// lock, so that all receive changes in the same order: they pass the change to a queue and call nothing here.
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
