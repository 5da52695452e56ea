import Foundation
import JSONTree
import SyncCore
import WireProtocol

extension DatabaseReference {
    // MARK: Setting

    /// Replaces what is at this place; nil and `NSNull` remove it.
    ///
    /// Observers of this client see it at once; it is sent as soon as there is a connection.
    public func setValue(_ value: Any?) {
        write(nil) { path throws(DatabaseError) in try .setting(value, at: path) }
    }

    /// Replaces what is at this place, and tells when the server has it or has refused it.
    public func setValue(
        _ value: Any?,
        withCompletionBlock block: @escaping ((any Error)?, DatabaseReference) -> Void,
    ) {
        write(block) { path throws(DatabaseError) in try .setting(value, at: path) }
    }

    /// Replaces what is at this place, with a priority.
    public func setValue(_ value: Any?, andPriority priority: Any?) {
        write(nil) { path throws(DatabaseError) in
            try .setting(value, priority: priority, at: path)
        }
    }

    /// Replaces what is at this place, with a priority, and tells when that is done.
    public func setValue(
        _ value: Any?,
        andPriority priority: Any?,
        withCompletionBlock block: @escaping ((any Error)?, DatabaseReference) -> Void,
    ) {
        write(block) { path throws(DatabaseError) in
            try .setting(value, priority: priority, at: path)
        }
    }

    /// Removes what is at this place.
    public func removeValue() { setValue(nil) }

    /// Removes what is at this place, and tells when that is done.
    public func removeValue(
        completionBlock block: @escaping ((any Error)?, DatabaseReference) -> Void
    ) {
        setValue(nil, withCompletionBlock: block)
    }

    /// Changes the priority of what is at this place; nothing if nothing is there.
    public func setPriority(_ priority: Any?) {
        write(nil) { path throws(DatabaseError) in try .settingPriority(priority, at: path) }
    }

    /// Changes the priority of what is at this place, and tells when that is done.
    public func setPriority(
        _ priority: Any?,
        withCompletionBlock block: @escaping ((any Error)?, DatabaseReference) -> Void,
    ) {
        write(block) { path throws(DatabaseError) in try .settingPriority(priority, at: path) }
    }

    // MARK: Updating

    /// Replaces what is at several places below this one, all or none; keys are paths.
    public func updateChildValues(_ values: [AnyHashable: Any]) {
        write(nil) { path throws(DatabaseError) in try .updating(values, at: path) }
    }

    /// Replaces what is at several places below this one, and tells when that is done.
    public func updateChildValues(
        _ values: [AnyHashable: Any],
        withCompletionBlock block: @escaping ((any Error)?, DatabaseReference) -> Void,
    ) {
        write(block) { path throws(DatabaseError) in try .updating(values, at: path) }
    }
}

/// A write of the app that was checked.
enum CheckedWrite: Sendable {
    case set(WriteTarget, Draft)
    case update(Path, [MergeEntry])
    case onDisconnectSet(WriteTarget, Draft)
    case onDisconnectUpdate(Path, [MergeEntry])
    case onDisconnectCancel(Path)

    static func setting(_ value: Any?, at path: Path) throws(DatabaseError) -> CheckedWrite {
        let target = WriteTarget(path: path)
        let draft = try Draft(app: value)
        try draft.check(for: target)
        return .set(target, draft)
    }

    static func setting(
        _ value: Any?,
        priority: Any?,
        at path: Path,
    ) throws(DatabaseError) -> CheckedWrite {
        let target = WriteTarget(path: path)
        let draft = try Draft(app: value, priority: priority)
        try draft.check(for: target)
        return .set(target, draft)
    }

    static func settingPriority(
        _ priority: Any?,
        at path: Path,
    ) throws(DatabaseError) -> CheckedWrite {
        .set(WriteTarget(path: path, isPriority: true), try Draft(priority: priority))
    }

    static func updating(
        _ values: [AnyHashable: Any],
        at path: Path,
    ) throws(DatabaseError) -> CheckedWrite {
        .update(path, try MergeEntry.reading(values, base: path))
    }

    /// The same when the connection is lost.
    var onDisconnect: CheckedWrite {
        switch self {
        case .set(let target, let draft): .onDisconnectSet(target, draft)
        case .update(let path, let entries): .onDisconnectUpdate(path, entries)
        case .onDisconnectSet, .onDisconnectUpdate, .onDisconnectCancel: self
        }
    }

    /// The call of the core.
    func call(_ id: CallID?) -> Call {
        switch self {
        case .set(let target, let draft): .set(target, draft, id)
        case .update(let path, let entries): .update(path, entries, id)
        case .onDisconnectSet(let target, let draft): .onDisconnectSet(target, draft, id)
        case .onDisconnectUpdate(let path, let entries): .onDisconnectUpdate(path, entries, id)
        case .onDisconnectCancel(let path): .onDisconnectCancel(path, id)
        }
    }
}

extension DatabaseReference {
    /// Writes what `make` gives, and tells how that went on the callback queue.
    func write(
        _ completion: (((any Error)?, DatabaseReference) -> Void)?,
        _ make: (Path) throws(DatabaseError) -> CheckedWrite,
    ) {
        let write: CheckedWrite
        do throws(DatabaseError) {
            write = try make(try place.get().path.writable())
        } catch {
            owner.warn("a write was not made: \(error.localizedDescription)")
            guard let completion else { return }
            let box = CallbackBox(completion)
            return owner.sync.tellApp { box.call(error, self) }
        }
        guard let completion else { return owner.sync.call(write.call(nil)) }
        let box = CallbackBox(completion)
        let pending = PendingCall(route: .callbackQueue, path: pathText) { result in
            switch result {
            case .success: box.call(nil, self)
            case .failure(let error): box.call(error, self)
            }
        }
        owner.sync.call(pending) { write.call($0) }
    }

    /// Writes what `make` gives, and waits for how that goes.
    func write(
        _ make: (Path) throws(DatabaseError) -> CheckedWrite
    ) async throws(DatabaseError) -> DatabaseReference {
        let write = try make(try place.get().path.writable())
        let path = pathText
        let result = await withCheckedContinuation { continuation in
            let pending = PendingCall(route: .direct, path: path) {
                continuation.resume(returning: $0)
            }
            owner.sync.call(pending) { write.call($0) }
        }
        _ = try result.get()
        return self
    }
}
