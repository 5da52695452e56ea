import Dispatch
import HearthCore

/// The token requests of an app's database. Listeners are called while the change is made: they pass the news on to a
/// queue and ask nothing here.
final class SignedInTokens: TokenSource {
    private let auth: Auth

    init(auth: Auth) { self.auth = auth }

    func fetchToken(
        forcingRefresh: Bool,
        completion: @escaping @Sendable (Result<String?, any Error>) -> Void,
    ) {
        let user = auth.state.withLock { state in
            state.isNeeded = true
            return state.user
        }
        guard let user else { return completion(.success(nil)) }
        let fetch = user.fetchToken(forcingRefresh: forcingRefresh)
        Task {
            switch await fetch.value {
            case .success(let token): completion(.success(token))
            // A refresh that is refused for good has signed the user out.
            case .failure(let error) where error.endsSignIn: completion(.success(nil))
            case .failure(let error): completion(.failure(error))
            }
        }
    }

    func onCredentialChange(
        _ listener: @escaping @Sendable (_ token: String?, _ account: String?) -> Void
    ) {
        auth.changes.withLock { _ in
            let user = auth.state.withLock { state in
                state.credentialListeners.append(listener)
                return state.user
            }
            listener(user?.tokens.id, user?.uid)
        }
    }
}

extension Auth {
    /// Whether a valid token is always needed.
    private var needsTokens: Bool {
        state.withLock { $0.isNeeded || $0.listeners.contains { $0.receivesTokens } }
            || owner.credentials.hasListeners
    }

    /// Starts to wait for the time at which the token of `state.user` is to be refreshed.
    func scheduleRefresh(_ state: inout State) {
        state.refreshNumber += 1
        guard let user = state.user else { return }
        let time = user.tokens.refreshTime
        let wait = AccountsLimits.retrySeconds.lowerBound
        refreshLater(user, at: time, wait: wait, number: state.refreshNumber)
    }

    /// Refreshes the token of `user` at a time if `number` is still current; `wait` is the seconds to the next try if
    /// the server cannot be reached.
    private func refreshLater(
        _ user: User,
        at time: ContinuousClock.Instant,
        wait: Double,
        number: Int,
    ) {
        let seconds = max(SystemClock.instant.duration(to: time) / .seconds(1), 0)
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self, weak user] in
            guard let self, let user else { return }
            Task { await self.refreshNow(user, wait: wait, number: number) }
        }
    }

    private func refreshNow(_ user: User, wait: Double, number: Int) async {
        guard isCurrent(number), needsTokens else { return }
        let result = await user.startRefresh().value
        guard case .failure(let error) = result, error.isPassing, isCurrent(number) else { return }
        let next = min(wait * 2, AccountsLimits.retrySeconds.upperBound)
        refreshLater(user, at: SystemClock.instant + .seconds(wait), wait: next, number: number)
    }

    private func isCurrent(_ number: Int) -> Bool { state.withLock { $0.refreshNumber == number } }
}
