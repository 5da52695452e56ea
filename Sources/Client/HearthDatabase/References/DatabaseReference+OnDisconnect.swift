extension DatabaseReference {
    /// The server replaces the value at this location when it loses this client.
    public func onDisconnectSetValue(_ value: Any?) { write(.set(value), onDisconnect: true, nil) }

    /// The same; reports when the server has accepted the request.
    public func onDisconnectSetValue(
        _ value: Any?,
        withCompletionBlock block: @escaping ((any Error)?, DatabaseReference) -> Void,
    ) {
        write(.set(value), onDisconnect: true, block)
    }

    /// The server replaces the value at this location, with a priority, when it loses this client.
    public func onDisconnectSetValue(_ value: Any?, andPriority priority: Any?) {
        write(.setWithPriority(value, priority), onDisconnect: true, nil)
    }

    /// The same; reports when the server has accepted the request.
    public func onDisconnectSetValue(
        _ value: Any?,
        andPriority priority: Any?,
        withCompletionBlock block: @escaping ((any Error)?, DatabaseReference) -> Void,
    ) {
        write(.setWithPriority(value, priority), onDisconnect: true, block)
    }

    /// The server removes the value at this location when it loses this client.
    public func onDisconnectRemoveValue() { onDisconnectSetValue(nil) }

    /// The same; reports when the server has accepted the request.
    public func onDisconnectRemoveValue(
        completionBlock block: @escaping ((any Error)?, DatabaseReference) -> Void
    ) {
        onDisconnectSetValue(nil, withCompletionBlock: block)
    }

    /// The server replaces the values at several locations when it loses this client.
    public func onDisconnectUpdateChildValues(_ values: [AnyHashable: Any]) {
        write(.update(values), onDisconnect: true, nil)
    }

    /// The same; reports when the server has accepted the request.
    public func onDisconnectUpdateChildValues(
        _ values: [AnyHashable: Any],
        withCompletionBlock block: @escaping ((any Error)?, DatabaseReference) -> Void,
    ) {
        write(.update(values), onDisconnect: true, block)
    }

    /// Cancels all on-disconnect writes at this location and below it.
    public func cancelDisconnectOperations() { write(.cancelOnDisconnect, nil) }

    /// The same; reports when the server has accepted the request.
    public func cancelDisconnectOperations(
        completionBlock block: (((any Error)?, DatabaseReference) -> Void)?
    ) {
        write(.cancelOnDisconnect, block)
    }
}
