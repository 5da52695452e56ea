import SyncCore
import HearthCore

/// Keeps who is signed in apart as long as the client is being made. A source of credentials says so once before
/// `onCredentialChange` returns; the client is to know that before it does anything. Later news takes the way over the
/// queue.
final class FirstCredential: Sendable {
    private struct State: Sendable {
        var isOpen = true
        var input: Input?
    }

    private let state = Mutex(State())

    /// Takes an input; false once `end` was called.
    func take(_ input: Input) -> Bool {
        state.withLock { state in
            if state.isOpen { state.input = input }
            return state.isOpen
        }
    }

    /// Accepts no more; returns the last credential, or nil if no user was signed in. A missing user may only mean that
    /// the source is not set up yet, so the data on disk stays.
    func end() -> Input? {
        state.withLock { state in
            state.isOpen = false
            if case .credentialChanged(nil, nil)? = state.input { return nil }
            return state.input
        }
    }
}
