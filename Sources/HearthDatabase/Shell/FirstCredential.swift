import SyncCore
import Locks

/// Keeps who is signed in apart as long as the client is being made.
///
/// A source of credentials says so once before `onCredentialChange` returns; the client is to know that before
/// it does anything. Later news takes the way over the queue.
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

    /// Takes no more; gives what was said last, nil if it was that nobody is signed in.
    ///
    /// That says nothing: whoever knows may not be set up yet, and until then the data on disk is left alone.
    func end() -> Input? {
        state.withLock { state in
            state.isOpen = false
            if case .credentialChanged(nil, nil)? = state.input { return nil }
            return state.input
        }
    }
}
