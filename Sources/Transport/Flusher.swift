/// What the end of a turn owes to connections: sending, reading on, and destroying.
@LoopActor
final class Flusher {
    /// Connections sent to in one turn. A publish to thousands is several turns, so that new
    /// requests interleave.
    private static let connectionsPerTurn = 256

    private var dirty: [Connection] = []
    private var resumable: [Connection] = []
    private var doomed: [Connection] = []

    nonisolated init() {}

    /// Whether the next turn has something to do without waiting for the network.
    var hasWork: Bool { !dirty.isEmpty || !resumable.isEmpty || !doomed.isEmpty }

    /// Sends what waits for `connection` at the end of the turn. At most once per connection.
    func markDirty(_ connection: Connection) {
        dirty.append(connection)
    }

    /// Lets `connection` look again at input it has already received.
    func resume(_ connection: Connection) {
        resumable.append(connection)
    }

    /// Destroys the socket of `connection` at the end of the turn, outside its callbacks.
    func doom(_ connection: Connection) {
        doomed.append(connection)
    }

    func run(_ counters: inout LoopCounters) {
        resumeReady()
        flush(&counters)
        reap()
    }

    /// Destroys what is doomed; `closed` and `aborted` reach the application from here.
    func reap() {
        while !doomed.isEmpty {
            let connections = doomed
            doomed = []
            for connection in connections { connection.destroySocket() }
        }
    }

    private func resumeReady() {
        guard !resumable.isEmpty else { return }
        let connections = resumable
        resumable = []
        for connection in connections { connection.resumeReading() }
    }

    private func flush(_ counters: inout LoopCounters) {
        guard !dirty.isEmpty else { return }
        var connections = dirty
        dirty = []
        if connections.count > Self.connectionsPerTurn {
            dirty = Array(connections[Self.connectionsPerTurn...])
            connections.removeSubrange(Self.connectionsPerTurn...)
            counters.flushSliceCount += 1
        }
        for connection in connections { connection.flush() }
    }
}
