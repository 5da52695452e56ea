/// What the end of a turn owes to connections: sending, reading on, and destroying.
@LoopActor
final class Flusher {
    /// Marked since the last flush.
    private var dirty: [Connection] = []
    /// Marked earlier and still to be sent to, from `backlogHead` on, first come first served.
    private var backlog: [Connection] = []
    private var backlogHead = 0
    /// Those with a stream at the head of their queue, in the order in which they get to make some
    /// of it.
    private var pullers: [Connection] = []
    private var resumable: [Connection] = []
    private var doomed: [Connection] = []

    nonisolated init() {}

    /// Whether the next turn has something to do without waiting for the network.
    var hasWork: Bool {
        !dirty.isEmpty || !backlog.isEmpty || !pullers.isEmpty || !resumable.isEmpty
            || !doomed.isEmpty
    }

    /// Sends what waits for `connection` at the end of the turn. At most once per connection.
    func markDirty(_ connection: Connection) {
        dirty.append(connection)
    }

    /// Lets the stream of `connection` go on when those that wait have had their turn. At most once
    /// per connection.
    func addPuller(_ connection: Connection) {
        pullers.append(connection)
    }

    /// Lets `connection` look again at input it has already received. At most once per connection.
    func resume(_ connection: Connection) {
        resumable.append(connection)
    }

    /// Destroys the socket of `connection` at the end of the turn, outside its callbacks.
    func doom(_ connection: Connection) {
        doomed.append(connection)
    }

    /// Goes on with input that had to wait, and destroys what is doomed: the last that applications
    /// hear of before the turn ends.
    func settle() {
        resumeReady()
        destroy(atMost: TurnLimits.destroyedConnections)
    }

    /// Destroys all that is doomed; `closed` and `aborted` reach the application from here.
    func reap() {
        while !doomed.isEmpty { destroy(atMost: doomed.count) }
    }

    private func destroy(atMost limit: Int) {
        guard !doomed.isEmpty else { return }
        let connections = doomed.prefix(limit)
        doomed.removeFirst(connections.count)
        for connection in connections { connection.destroySocket() }
    }

    private func resumeReady() {
        guard !resumable.isEmpty else { return }
        let connections = resumable
        resumable = []
        EventLoop.shared.beginShare()
        for index in connections.indices {
            guard !EventLoop.shared.isShareSpent else {
                // Before those that asked meanwhile.
                resumable.insert(contentsOf: connections[index...], at: 0)
                return
            }
            connections[index].resumeReading()
        }
    }

    /// Sends what is queued for some connections. One that fails meanwhile is destroyed in the next
    /// turn. Returns whether there are more.
    func flush() -> Bool {
        let marked = dirty
        dirty = []
        if marked.count <= TurnLimits.promptConnections {
            for connection in marked { connection.flush() }
        } else {
            backlog += marked
        }
        flushBacklog()
        if !pullers.isEmpty {
            let puller = pullers.removeFirst()
            puller.pull()
        }
        return !backlog.isEmpty
    }

    private func flushBacklog() {
        guard !backlog.isEmpty else { return }
        let end = min(backlogHead + TurnLimits.flushedConnections, backlog.count)
        for connection in backlog[backlogHead..<end] { connection.flush() }
        backlogHead = end
        if backlogHead == backlog.count {
            backlog = []
            backlogHead = 0
        } else {
            guard backlogHead >= 4_096 else { return }
            backlog.removeSubrange(..<backlogHead)
            backlogHead = 0
        }
    }
}
