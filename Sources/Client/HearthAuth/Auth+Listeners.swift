import Dispatch
public import Foundation
import HearthCore

/// Names a listener, to remove it.
///
/// Apps also keep it as `NSObjectProtocol`, its type in the hosted service's SDK. Sendable because it is immutable.
public final class AuthStateDidChangeListenerHandle: NSObject, @unchecked Sendable {
    /// Ends the stream that listens, when the app is deleted.
    let onEnd: (@Sendable () -> Void)?

    init(onEnd: (@Sendable () -> Void)? = nil) { self.onEnd = onEnd }
}

/// Names a listener of tokens, to remove it.
public typealias IDTokenDidChangeListenerHandle = AuthStateDidChangeListenerHandle

extension Auth {
    /// Calls `listener` soon, and at each sign-in and sign-out.
    ///
    /// - Parameter listener: Receives this object and the signed-in user, on `callbackQueue`.
    /// - Returns: The handle that removes it; it listens until then.
    @discardableResult
    public func addStateDidChangeListener(
        _ listener: @escaping (Auth, User?) -> Void
    ) -> AuthStateDidChangeListenerHandle {
        add(listener, receivesTokens: false)
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

    /// Calls `listener` soon, and at each sign-in, sign-out and refresh of the ID token.
    ///
    /// - Parameter listener: Receives this object and the signed-in user, on `callbackQueue`.
    /// - Returns: The handle that removes it; it listens until then, and tokens are refreshed automatically.
    @discardableResult
    public func addIDTokenDidChangeListener(
        _ listener: @escaping (Auth, User?) -> Void
    ) -> IDTokenDidChangeListenerHandle {
        add(listener, receivesTokens: true)
    }

    /// Removes a listener; it is not called again, unless it is being called just now on another thread.
    public func removeIDTokenDidChangeListener(_ handle: any NSObjectProtocol) {
        removeStateDidChangeListener(handle)
    }

    /// The signed-in user: now, and after each sign-in and sign-out.
    ///
    /// A slow reader misses all but the last 64 changes. Ends when the app is deleted.
    public var stateChanges: AsyncStream<User?> { stream(receivesTokens: false) }

    /// The same as `stateChanges`, by the name that the hosted service's SDK has for it.
    public var authStateChanges: AsyncStream<User?> { stateChanges }

    /// The signed-in user: now, and after each sign-in, sign-out and refresh of the ID token.
    public var idTokenChanges: AsyncStream<User?> { stream(receivesTokens: true) }

    private func add(
        _ listener: @escaping (Auth, User?) -> Void,
        receivesTokens: Bool,
    ) -> AuthStateDidChangeListenerHandle {
        let callback = CallbackBox(listener)
        let handle = AuthStateDidChangeListenerHandle()
        listen(handle, receivesTokens: receivesTokens, isStream: false) { [weak self] user in
            if let self { callback.call(self, user) }
        }
        return handle
    }

    private func stream(receivesTokens: Bool) -> AsyncStream<User?> {
        AsyncStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
            let handle = AuthStateDidChangeListenerHandle { continuation.finish() }
            continuation.onTermination = { [weak self] _ in
                self?.removeStateDidChangeListener(handle)
            }
            listen(handle, receivesTokens: receivesTokens, isStream: true) {
                continuation.yield($0)
            }
            // Behind `listen`: an app that is deleted later finds the listener and ends it.
            if state.withLock({ $0.isEnded }) { continuation.finish() }
        }
    }

    private func listen(
        _ handle: AuthStateDidChangeListenerHandle,
        receivesTokens: Bool,
        isStream: Bool,
        call: @escaping @Sendable (User?) -> Void,
    ) {
        changes.withLock { _ in
            let (user, listener, queue) = state.withLock { state in
                let listener = Listener(
                    handle: handle,
                    receivesTokens: receivesTokens,
                    isStream: isStream,
                    call: call,
                    lastNotified: UserState(uid: state.user?.uid, token: state.user?.tokens.id)
                )
                state.listeners.append(listener)
                return (state.user, listener, state.callbackQueue)
            }
            if isStream { return call(user) }
            queue.async { self.call([listener], user) }
        }
    }
}
