internal import Foundation
internal import HearthDatabase
internal import Social
internal import HearthCore

/// An event for an observer of a direct chat.
public enum MessageEvent: Equatable, Sendable {
    /// A message that is there, or has come. Where it belongs, its `sentAt` says.
    case added(Message)
    /// A message has other words now, or is deleted; or one that this client has written bears the server's time.
    case changed(Message)
    /// A message that this client has written was refused.
    case removed(key: String)
    /// A stored value is not a message.
    case faulty(RecordFault)
    /// All present messages have been reported; once.
    case caughtUp
}

/// The observers behind `observeMessages`. A query with a limit drops its oldest child when a new one comes, which
/// looks like a refused write. So the limit only finds the oldest message of interest, and from that one on everything
/// is observed.
final class MessageFeed: Sendable {
    private struct State {
        var isEnded = false
        var isFound = false
        var isCaughtUp = false
        /// Looks for the oldest message of interest.
        var search: Observation?
        var observations: [Observation] = []
        var sent: [String: Message] = [:]
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

    /// Begins with this many of the newest; nil: with those after the last known one, or with all.
    func start(newest: UInt?) -> Observation {
        let first =
            newest.map { search(max($0, 1)) }
            ?? observe(from: last.map { ServerTime.milliseconds($0.sentAt) }, key: nil)
        return Observation(first.query, first.handle, ending: { self.end() })
    }

    /// Looks for the oldest of the newest ones, and observes from it on.
    private func search(_ count: UInt) -> Observation {
        let query = messages.queryLimited(toLast: count)
        let handle = query.observe(
            .value,
            with: { [self] in found($0, count) },
            withCancel: { [self] in fail($0) },
        )
        let search = Observation(query, handle)
        // The first value may be here before the handle is.
        let isOver = state.withLock { state in
            if state.isFound || state.isEnded { return true }
            state.search = search
            return false
        }
        if isOver { search.remove() }
        return search
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
        search?.remove()
    }

    private func observe(from time: Double?, key: String?) -> Observation {
        let query = time.map { messages.queryStarting(atValue: $0, childKey: key) } ?? messages
        let cancel: (any Error) -> Void = { [self] in fail($0) }
        let changed: (DataSnapshot) -> Void = { [self] in read($0) }
        let removed: (DataSnapshot) -> Void = { [self] in forget($0.key) }
        let first = query.observe(.childAdded, with: changed, withCancel: cancel)
        keep(Observation(query, first))
        let second = query.observe(.childChanged, with: changed, withCancel: cancel)
        keep(Observation(query, second))
        let third = query.observe(.childRemoved, with: removed, withCancel: cancel)
        keep(Observation(query, third))
        // Arrives after the event of each child.
        let last = query.observe(.value, with: { [self] _ in settle() }, withCancel: cancel)
        keep(Observation(query, last))
        return Observation(query, first)
    }

    /// An observer that begins when all has ended already ends at once.
    private func keep(_ observation: Observation) {
        let isEnded = state.withLock { state in
            if !state.isEnded { state.observations.append(observation) }
            return state.isEnded
        }
        if isEnded { observation.remove() }
    }

    private func read(_ snapshot: DataSnapshot) {
        if snapshot.key == last?.key { return }
        do throws(RecordFault) {
            let message = try snapshot.record(as: Message.self)
            let known = state.withLock { state in
                state.isEnded ? message : state.sent.updateValue(message, forKey: message.key)
            }
            if known == message { return }
            tell(known == nil ? .added(message) : .changed(message))
        } catch {
            forget(snapshot.key)
            if !state.withLock(\.isEnded) { tell(.faulty(error)) }
        }
    }

    private func forget(_ key: String) {
        let known = state.withLock { $0.isEnded ? nil : $0.sent.removeValue(forKey: key) }
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

    @discardableResult
    private func end() -> Bool {
        let observations: [Observation]? = state.withLock { state in
            if state.isEnded { return nil }
            state.isEnded = true
            defer {
                state.observations = []
                state.search = nil
            }
            return state.observations + (state.search.map { [$0] } ?? [])
        }
        for observation in observations ?? [] { observation.remove() }
        return observations != nil
    }
}
