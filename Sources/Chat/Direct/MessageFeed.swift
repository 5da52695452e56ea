internal import Foundation
internal import HearthDatabase
internal import Records
internal import Locks

/// What an observer of a direct chat is told.
public enum MessageEvent: Equatable, Sendable {
    /// A message that is there, or has come. Where it belongs, its `sentAt` says.
    case added(Message)
    /// A message has other words now, or is deleted; or one that this client has written bears the server's time.
    case changed(Message)
    /// A message that this client has written was refused.
    case removed(key: String)
    /// What is there is no message.
    case faulty(RecordFault)
    /// All that was there has been told; once.
    case caughtUp
}

/// The observers behind `observeMessages`.
///
/// A query with a limit lets go of its oldest child when a new one comes, which looks like a refused write. So
/// the limit only finds the oldest message of interest, and from that one on everything is observed.
final class MessageFeed: Sendable {
    private struct State {
        var isEnded = false
        var isFound = false
        var isCaughtUp = false
        /// Looks for the oldest message of interest.
        var search: (DatabaseQuery, DatabaseHandle)?
        var observations: [(DatabaseQuery, DatabaseHandle)] = []
        /// What the app was told of.
        var told: [String: Message] = [:]
    }

    private let messages: DatabaseQuery
    private let last: Message?
    private let tell: @Sendable (MessageEvent) -> Void
    private let cancel: (@Sendable (ServiceError) -> Void)?
    private let state = Mutex(State())

    init(
        _ messages: DatabaseReference,
        after last: Message?,
        _ tell: @escaping @Sendable (MessageEvent) -> Void,
        _ cancel: (@Sendable (ServiceError) -> Void)?,
    ) {
        self.messages = messages.queryOrdered(byChild: "sentAt")
        self.last = last
        self.tell = tell
        self.cancel = cancel
    }

    /// Begins with so many of the newest; nil: with what came after the last one that is held, or with all.
    func start(newest: UInt?) -> Observation {
        let (query, handle) =
            newest.map { search(max($0, 1)) }
            ?? observe(from: last.map { ServerTime.milliseconds($0.sentAt) }, key: nil)
        return Observation(query, handle, ending: { self.end() })
    }

    /// Looks for the oldest of the newest ones, and observes from it on.
    private func search(_ count: UInt) -> (DatabaseQuery, DatabaseHandle) {
        let query = messages.queryLimited(toLast: count)
        let handle = query.observe(
            .value,
            with: { [self] in found($0, count) },
            withCancel: { [self] in fail($0) },
        )
        // The first value may be here before the handle is.
        let isOver = state.withLock { state in
            if state.isFound || state.isEnded { return true }
            state.search = (query, handle)
            return false
        }
        if isOver { query.removeObserver(withHandle: handle) }
        return (query, handle)
    }

    private func found(_ snapshot: DataSnapshot, _ count: UInt) {
        let (isFirst, search) = state.withLock { state in
            defer {
                state.isFound = true
                state.search = nil
            }
            return (!state.isFound && !state.isEnded, state.search)
        }
        if isFirst {
            let oldest = snapshot.children.nextObject() as? DataSnapshot
            let time = snapshot.childrenCount < count ? nil : oldest?.number(in: "sentAt")
            _ = observe(from: time, key: time == nil ? nil : oldest?.key)
        }
        if let (query, handle) = search { query.removeObserver(withHandle: handle) }
    }

    private func observe(
        from time: Double?,
        key: String?,
    ) -> (DatabaseQuery, DatabaseHandle) {
        let query =
            time.map { messages.queryStarting(atValue: $0, childKey: key) } ?? messages
        let cancel: (any Error) -> Void = { [self] in fail($0) }
        let changed: (DataSnapshot) -> Void = { [self] in read($0) }
        let removed: (DataSnapshot) -> Void = { [self] in forget($0.key) }
        let handle = query.observe(.childAdded, with: changed, withCancel: cancel)
        keep(query, handle)
        keep(query, query.observe(.childChanged, with: changed, withCancel: cancel))
        keep(query, query.observe(.childRemoved, with: removed, withCancel: cancel))
        // Comes when each child has been told of.
        keep(query, query.observe(.value, with: { [self] _ in settle() }, withCancel: cancel))
        return (query, handle)
    }

    /// An observer that begins when all has ended already ends at once.
    private func keep(_ query: DatabaseQuery, _ handle: DatabaseHandle) {
        let isEnded = state.withLock { state in
            if !state.isEnded { state.observations.append((query, handle)) }
            return state.isEnded
        }
        if isEnded { query.removeObserver(withHandle: handle) }
    }

    private func read(_ snapshot: DataSnapshot) {
        if snapshot.key == last?.key { return }
        do throws(RecordFault) {
            let message = try snapshot.record(as: Message.self)
            let known = state.withLock { state in
                state.isEnded ? message : state.told.updateValue(message, forKey: message.key)
            }
            if known == message { return }
            tell(known == nil ? .added(message) : .changed(message))
        } catch {
            forget(snapshot.key)
            if !state.withLock(\.isEnded) { tell(.faulty(error)) }
        }
    }

    private func forget(_ key: String) {
        let known = state.withLock { $0.isEnded ? nil : $0.told.removeValue(forKey: key) }
        if known != nil { tell(.removed(key: key)) }
    }

    private func settle() {
        let isFirst = state.withLock { state in
            defer { state.isCaughtUp = true }
            return !state.isEnded && !state.isCaughtUp
        }
        if isFirst { tell(.caughtUp) }
    }

    private func fail(_ error: any Error) {
        if end() { cancel?(ServiceError(error, purpose: "read the messages of a chat")) }
    }

    /// Ends it; false when it has ended before.
    @discardableResult
    private func end() -> Bool {
        let observations: [(DatabaseQuery, DatabaseHandle)]? = state.withLock { state in
            if state.isEnded { return nil }
            state.isEnded = true
            defer {
                state.observations = []
                state.search = nil
            }
            return state.observations + (state.search.map { [$0] } ?? [])
        }
        for (query, handle) in observations ?? [] { query.removeObserver(withHandle: handle) }
        return observations != nil
    }
}
