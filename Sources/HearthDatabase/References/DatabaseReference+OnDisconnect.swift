extension DatabaseReference {
    /// Has the server replace what is at this place when it loses this client.
    public func onDisconnectSetValue(_ value: Any?) {
        write(nil) { path throws(DatabaseError) in
            try CheckedWrite.setting(value, at: path).onDisconnect
        }
    }

    /// The same, and tells when the server knows.
    public func onDisconnectSetValue(
        _ value: Any?,
        withCompletionBlock block: @escaping ((any Error)?, DatabaseReference) -> Void,
    ) {
        write(block) { path throws(DatabaseError) in
            try CheckedWrite.setting(value, at: path).onDisconnect
        }
    }

    /// Has the server replace what is at this place, with a priority, when it loses this client.
    public func onDisconnectSetValue(_ value: Any?, andPriority priority: Any?) {
        write(nil) { path throws(DatabaseError) in
            try CheckedWrite.setting(value, priority: priority, at: path).onDisconnect
        }
    }

    /// The same, and tells when the server knows.
    public func onDisconnectSetValue(
        _ value: Any?,
        andPriority priority: Any?,
        withCompletionBlock block: @escaping ((any Error)?, DatabaseReference) -> Void,
    ) {
        write(block) { path throws(DatabaseError) in
            try CheckedWrite.setting(value, priority: priority, at: path).onDisconnect
        }
    }

    /// Has the server remove what is at this place when it loses this client.
    public func onDisconnectRemoveValue() { onDisconnectSetValue(nil) }

    /// The same, and tells when the server knows.
    public func onDisconnectRemoveValue(
        completionBlock block: @escaping ((any Error)?, DatabaseReference) -> Void
    ) {
        onDisconnectSetValue(nil, withCompletionBlock: block)
    }

    /// Has the server replace what is at several places when it loses this client.
    public func onDisconnectUpdateChildValues(_ values: [AnyHashable: Any]) {
        write(nil) { path throws(DatabaseError) in
            try CheckedWrite.updating(values, at: path).onDisconnect
        }
    }

    /// The same, and tells when the server knows.
    public func onDisconnectUpdateChildValues(
        _ values: [AnyHashable: Any],
        withCompletionBlock block: @escaping ((any Error)?, DatabaseReference) -> Void,
    ) {
        write(block) { path throws(DatabaseError) in
            try CheckedWrite.updating(values, at: path).onDisconnect
        }
    }

    /// Takes back all that is to happen at this place and below it when the server loses this client.
    public func cancelDisconnectOperations() {
        write(nil) { path throws(DatabaseError) in .onDisconnectCancel(path) }
    }

    /// The same, and tells when the server knows.
    public func cancelDisconnectOperations(
        completionBlock block: (((any Error)?, DatabaseReference) -> Void)?
    ) {
        write(block) { path throws(DatabaseError) in .onDisconnectCancel(path) }
    }
}
