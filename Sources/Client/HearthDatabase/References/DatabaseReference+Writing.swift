import Foundation
import HearthCore
import JSONTree
import SyncCore
import WireProtocol

extension DatabaseReference {
    // MARK: Setting

    /// Replaces the value at this location; nil and `NSNull` remove it.
    ///
    /// Observers of this client see it at once; it is sent as soon as there is a connection.
    public func setValue(_ value: Any?) { write(.set(value), nil) }

    /// Replaces the value at this location; reports when the server has stored or refused it.
    public func setValue(
        _ value: Any?,
        withCompletionBlock block: @escaping ((any Error)?, DatabaseReference) -> Void,
    ) {
        write(.set(value), block)
    }

    /// Replaces the value at this location, with a priority.
    public func setValue(_ value: Any?, andPriority priority: Any?) {
        write(.setWithPriority(value, priority), nil)
    }

    /// Replaces the value at this location, with a priority; reports the outcome.
    public func setValue(
        _ value: Any?,
        andPriority priority: Any?,
        withCompletionBlock block: @escaping ((any Error)?, DatabaseReference) -> Void,
    ) {
        write(.setWithPriority(value, priority), block)
    }

    /// Removes the value at this location.
    public func removeValue() { setValue(nil) }

    /// Removes the value at this location; reports the outcome.
    public func removeValue(
        completionBlock block: @escaping ((any Error)?, DatabaseReference) -> Void
    ) {
        setValue(nil, withCompletionBlock: block)
    }

    /// Changes the priority of the value at this location; without a value, changes nothing.
    public func setPriority(_ priority: Any?) { write(.setPriority(priority), nil) }

    /// Changes the priority of the value at this location; reports the outcome.
    public func setPriority(
        _ priority: Any?,
        withCompletionBlock block: @escaping ((any Error)?, DatabaseReference) -> Void,
    ) {
        write(.setPriority(priority), block)
    }

    // MARK: Updating

    /// Replaces the values at several locations below this one, all or none; keys are paths.
    public func updateChildValues(_ values: [AnyHashable: Any]) { write(.update(values), nil) }

    /// Replaces the values at several locations below this one; reports the outcome.
    public func updateChildValues(
        _ values: [AnyHashable: Any],
        withCompletionBlock block: @escaping ((any Error)?, DatabaseReference) -> Void,
    ) {
        write(.update(values), block)
    }
}

/// A write as the app asks for it.
enum AppWrite {
    case set(Any?)
    case setWithPriority(Any?, Any?)
    case setPriority(Any?)
    case update([AnyHashable: Any])
    case cancelOnDisconnect

    /// Checks the write for a location; returns the call of the core that makes it, now or when the connection is lost.
    func call(
        at path: Path,
        onDisconnect: Bool,
    ) throws(DatabaseError) -> @Sendable (CallID?) -> Call {
        let target: WriteTarget
        let draft: Draft
        switch self {
        case .set(let value):
            target = WriteTarget(path: path)
            draft = try Draft(app: value)
            try draft.check(for: target)
        case .setWithPriority(let value, let priority):
            target = WriteTarget(path: path)
            draft = try Draft(app: value, priority: priority)
            try draft.check(for: target)
        case .setPriority(let priority):
            target = WriteTarget(path: path, isPriority: true)
            draft = try Draft(priority: priority)
        case .update(let values):
            let entries = try MergeEntry.reading(values, base: path)
            return {
                onDisconnect ? .onDisconnectUpdate(path, entries, $0) : .update(path, entries, $0)
            }
        case .cancelOnDisconnect: return { .onDisconnectCancel(path, $0) }
        }
        return { onDisconnect ? .onDisconnectSet(target, draft, $0) : .set(target, draft, $0) }
    }
}

extension DatabaseReference {
    /// Makes a write, and reports the outcome on the callback queue.
    func write(
        _ write: AppWrite,
        onDisconnect: Bool = false,
        _ completion: (((any Error)?, DatabaseReference) -> Void)?,
    ) {
        let box = completion.map { CallbackBox($0) }
        let call: @Sendable (CallID?) -> Call
        do throws(DatabaseError) {
            let path = try location.get().path.writable()
            call = try write.call(at: path, onDisconnect: onDisconnect)
        } catch {
            owner.warn("a write was not made: \(error.localizedDescription)")
            guard let box else { return }
            return owner.sync.callApp { box.call(error, self) }
        }
        guard let box else { return owner.sync.call(call(nil)) }
        let pending = PendingCall(route: .callbackQueue, path: pathText) { result in
            switch result {
            case .success: box.call(nil, self)
            case .failure(let error): box.call(error, self)
            }
        }
        owner.sync.call(pending) { call($0) }
    }

    /// Makes a write, and waits for the outcome.
    func write(
        _ write: AppWrite,
        onDisconnect: Bool = false,
    ) async throws(DatabaseError) -> DatabaseReference {
        let path = try location.get().path.writable()
        let call = try write.call(at: path, onDisconnect: onDisconnect)
        let text = pathText
        let result = await withCheckedContinuation { continuation in
            let pending = PendingCall(route: .direct, path: text) {
                continuation.resume(returning: $0)
            }
            owner.sync.call(pending) { call($0) }
        }
        _ = try result.get()
        return self
    }
}
