import Dispatch
public import Foundation
import HearthCore
import Locks

/// Names a listener, to remove it.
///
/// Apps also keep it as `NSObjectProtocol`, which is what it is called in the hosted service's SDK. Sendable because
/// it is immutable.
public final class AuthStateDidChangeListenerHandle: NSObject, @unchecked Sendable {
    /// Ends the stream that listens, when the app is deleted.
    let onEnd: (@Sendable () -> Void)?

    init(onEnd: (@Sendable () -> Void)? = nil) {
        self.onEnd = onEnd
    }
}

/// Names a listener of tokens, to remove it.
public typealias IDTokenDidChangeListenerHandle = AuthStateDidChangeListenerHandle

extension Auth {
    /// Calls `listener` soon, and whenever somebody signs in or out.
    ///
    /// - Parameter listener: Is given this object and who is signed in, on `callbackQueue`.
    /// - Returns: What removes it again; it listens until then.
    @discardableResult
    public func addStateDidChangeListener(
        _ listener: @escaping (Auth, User?) -> Void
    ) -> AuthStateDidChangeListenerHandle {
        add(listener, hearsTokens: false)
    }

    /// Removes a listener; it is not called again, unless it is being called just now on another thread.
    public func removeStateDidChangeListener(_ handle: any NSObjectProtocol) {
        // Let go of outside the lock: the last that a listener holds may ask here as it goes.
        _ = state.withLock { state in
            let removed = state.listeners.filter { $0.handle === handle }
            state.listeners.removeAll { $0.handle === handle }
            return removed
        }
    }

    /// Calls `listener` soon, and whenever somebody signs in or out or the ID token is refreshed.
    ///
    /// - Parameter listener: Is given this object and who is signed in, on `callbackQueue`.
    /// - Returns: What removes it again; it listens until then, and tokens are refreshed by themselves.
    @discardableResult
    public func addIDTokenDidChangeListener(
        _ listener: @escaping (Auth, User?) -> Void
    ) -> IDTokenDidChangeListenerHandle {
        add(listener, hearsTokens: true)
    }

    /// Removes a listener; it is not called again, unless it is being called just now on another thread.
    public func removeIDTokenDidChangeListener(_ handle: any NSObjectProtocol) {
        removeStateDidChangeListener(handle)
    }

    /// Who is signed in: now, and whenever somebody signs in or out.
    ///
    /// Whoever reads too slowly misses what is older than the last 64 changes. Ends when the app is deleted.
    public var stateChanges: AsyncStream<User?> { stream(hearsTokens: false) }

    /// The same as `stateChanges`, by the name that the hosted service's SDK has for it.
    public var authStateChanges: AsyncStream<User?> { stateChanges }

    /// Who is signed in: now, and whenever somebody signs in or out or the ID token is refreshed.
    public var idTokenChanges: AsyncStream<User?> { stream(hearsTokens: true) }

    private func add(
        _ listener: @escaping (Auth, User?) -> Void,
        hearsTokens: Bool,
    ) -> AuthStateDidChangeListenerHandle {
        let callback = Callback<(Auth, User?)> { listener($0.0, $0.1) }
        let handle = AuthStateDidChangeListenerHandle()
        listen(handle, hearsTokens: hearsTokens, isStream: false) { [weak self] user in
            if let self { callback.call((self, user)) }
        }
        return handle
    }

    private func stream(hearsTokens: Bool) -> AsyncStream<User?> {
        AsyncStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
            let handle = AuthStateDidChangeListenerHandle { continuation.finish() }
            continuation.onTermination = { [weak self] _ in
                self?.removeStateDidChangeListener(handle)
            }
            listen(handle, hearsTokens: hearsTokens, isStream: true) { continuation.yield($0) }
            // Behind `listen`: an app that is deleted later finds the listener and ends it.
            if state.withLock({ $0.isEnded }) { continuation.finish() }
        }
    }

    private func listen(
        _ handle: AuthStateDidChangeListenerHandle,
        hearsTokens: Bool,
        isStream: Bool,
        call: @escaping @Sendable (User?) -> Void,
    ) {
        changes.withLock { _ in
            let (user, listener, queue) = state.withLock { state in
                let listener = Listener(
                    handle: handle,
                    hearsTokens: hearsTokens,
                    isStream: isStream,
                    call: call,
                    told: Told(uid: state.user?.uid, token: state.user?.tokens.id)
                )
                state.listeners.append(listener)
                return (state.user, listener, state.callbackQueue)
            }
            if isStream { return call(user) }
            queue.async { self.call([listener], user) }
        }
    }
}
