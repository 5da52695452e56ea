/// Work for connections at the end of a tick: sending, reading on, and destroying.
@LoopActor
final class Flusher {
    /// Marked since the last flush.
    private var dirty: [Connection] = []
    /// Marked earlier and not sent yet, from `backlogHead` on, first in, first out.
    private var backlog: [Connection] = []
    private var backlogHead = 0
    /// Connections with a stream at the head of their queue, in the order in which they are pulled.
    private var pullers: [Connection] = []
    /// Those before it are pulled.
    private var pullersHead = 0
    private var resumable: [Connection] = []
    private var doomed: [Connection] = []

    nonisolated init() {}

    /// Whether the next tick has work without waiting for the network.
    var hasWork: Bool {
        !dirty.isEmpty || !backlog.isEmpty || !pullers.isEmpty || !resumable.isEmpty
            || !doomed.isEmpty
    }

    /// Sends the output of `connection` at the end of the tick. At most once per connection.
    func markDirty(_ connection: Connection) {
        dirty.append(connection)
    }

    /// Pulls the stream of `connection` after the streams that wait. At most once per connection.
    func addPuller(_ connection: Connection) {
        pullers.append(connection)
    }

    /// Makes `connection` look again at received input. At most once per connection.
    func resume(_ connection: Connection) {
        resumable.append(connection)
    }

    /// Destroys the socket of `connection` at the end of the tick, outside its callbacks.
    func doom(_ connection: Connection) {
        doomed.append(connection)
    }

    /// Continues with waiting input, and destroys doomed connections: the last calls to applications before the tick
    /// ends.
    func settle() {
        resumeReady()
        destroy(atMost: TickLimits.destroyedConnections)
    }

    /// Destroys all doomed connections; this calls `closed` and `aborted` of the application.
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
                // Before those that were added since.
                resumable.insert(contentsOf: connections[index...], at: 0)
                return
            }
            connections[index].resumeReading()
        }
    }

    /// Sends the queued output of some connections. One that fails is destroyed in the next tick. Returns whether
    /// there are more.
    func flush() -> Bool {
        let marked = dirty
        dirty = []
        if marked.count <= TickLimits.promptConnections {
            for connection in marked { connection.flush() }
        } else {
            backlog += marked
        }
        flushBacklog()
        pullSome()
        return !backlog.isEmpty
    }

    /// Pulls streams, each once at most, until their share of the tick is taken. Those that have more go behind the others.
    private func pullSome() {
        var left = TickLimits.tickByteCount
        let end = pullers.count
        while pullersHead < end, left > 0 {
            let puller = pullers[pullersHead]
            pullersHead += 1
            left -= max(puller.pull(), TickLimits.pullByteCount)
        }
        guard pullersHead == pullers.count || pullersHead >= 1_024 else { return }
        pullers.removeSubrange(..<pullersHead)
        pullersHead = 0
    }

    private func flushBacklog() {
        guard !backlog.isEmpty else { return }
        let end = min(backlogHead + TickLimits.flushedConnections, backlog.count)
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
