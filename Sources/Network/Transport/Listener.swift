import CTransport
import Glibc

/// One port that speaks HTTP/1.1 and WebSocket, over TLS or plain.
@LoopActor
package final class Listener {
    /// The configuration it was made with.
    package let configuration: TransportConfiguration
    /// The bound port: the configured one, or the one that the system chose for 0.
    package private(set) var port = 0
    /// The bound address, numeric.
    package private(set) var address = ""
    /// Totals since the start.
    package internal(set) var counters = TransportCounters()

    /// Nil after the listener has closed.
    private(set) var application: (any TransportApplication)?
    /// Whether the listener is draining.
    private(set) var isDraining = false
    private var connections: [Connection] = []
    private var peers: PeerTable
    private var held: HeldBytes
    private var heldOutput: HeldBytes
    /// Connections refused since the last `takeRefusals`, and the peer of the last one.
    private var refusals: (count: Int, address: String) = (0, "")
    private var lastID: UInt64 = 0
    /// The C listener; owned from `init` until `close`.
    private var handle: OpaquePointer?
    /// Called when the last connection of a draining listener is gone.
    private var drained: (@LoopActor (Int) -> Void)?
    private var cutCount = 0
    private var drainTimer: LoopTimer?

    /// How long accepting pauses when the process has no descriptor or memory left.
    private static let exhaustionRest = Duration.milliseconds(100)

    /// Binds the port and accepts from now on.
    ///
    /// - Throws: `TransportError.cannotListen` or `.badTLSFiles`.
    package init(
        _ configuration: TransportConfiguration,
        application: any TransportApplication
    ) throws(TransportError) {
        guard let loop = EventLoop.shared.loop else {
            throw .loopUnavailable(reason: "it is not running")
        }
        guard (0...65535).contains(configuration.port) else {
            throw .cannotListen(
                host: configuration.host,
                port: configuration.port,
                errorNumber: EINVAL,
                reason: "a port is a number from 0 to 65535"
            )
        }
        self.configuration = configuration
        self.application = application
        peers = PeerTable(configuration.limits.peer)
        held = HeldBytes(
            byteLimit: configuration.limits.inboundByteCount,
            shareByteCount: configuration.limits.inboundShareByteCount
        )
        heldOutput = HeldBytes(
            byteLimit: configuration.limits.outboundByteCount,
            shareByteCount: configuration.limits.outboundShareByteCount
        )
        var bound = hearth_endpoint()
        var errorNumber: Int32 = 0
        var reason = [CChar](repeating: 0, count: Int(HEARTH_REASON_SIZE))
        let owner = Unmanaged.passUnretained(self).toOpaque()
        handle = hearth_listen(
            loop,
            configuration.host,
            Int32(configuration.port),
            configuration.tls?.certificate,
            configuration.tls?.key,
            owner,
            &bound,
            &errorNumber,
            &reason
        )
        guard handle != nil else {
            let why = text(reason)
            guard errorNumber >= 0 else { throw .badTLSFiles(reason: why) }
            throw .cannotListen(
                host: configuration.host,
                port: configuration.port,
                errorNumber: errorNumber,
                reason: errorNumber == EADDRINUSE
                    ? why + PortHolder.words(of: configuration.port) : why
            )
        }
        let endpoint = Endpoint(bound)
        port = endpoint.port
        address = endpoint.address
        EventLoop.shared.listeners.append(self)
    }

    /// The output that waits for the sockets now. O(connections).
    package var queuedOutput: QueuedOutput {
        var queued = QueuedOutput()
        for connection in connections {
            let byteCount = connection.output.byteCount
            queued.byteCount += byteCount
            queued.greatestByteCount = max(queued.greatestByteCount, byteCount)
        }
        return queued
    }

    var isTLS: Bool { configuration.tls != nil }

    // MARK: Connections

    /// Whether a peer may have one more connection.
    func admits(_ peer: hearth_endpoint) -> Bool {
        if peers.admits(peer.network, now: monotonicNanoseconds()) { return true }
        let address = Endpoint(peer).address
        if let speaksForOthers = configuration.speaksForOthers, speaksForOthers(address) {
            return true
        }
        counters.refusedConnectionCount += 1
        refusals = (refusals.count + 1, address)
        return false
    }

    /// How many connections were refused since the last call because their peer had too many, and the address of the
    /// last one; nil for none.
    package func takeRefusals() -> (count: Int, address: String)? {
        defer { refusals = (0, "") }
        return refusals.count > 0 ? refusals : nil
    }

    /// Takes a new socket. Nil when there are too many connections; C then closes it.
    func accept(_ socket: OpaquePointer, from peer: Endpoint) -> Connection? {
        guard connections.count < configuration.limits.connectionCount, !isDraining else {
            counters.failedAcceptCount += 1
            return nil
        }
        let connection = Connection(id: nextID(), listener: self, socket: socket, peer: peer)
        connection.listIndex = connections.count
        connections.append(connection)
        peers.opened(peer.network)
        counters.connectionCount += 1
        counters.openConnectionCount += 1
        return connection
    }

    /// An accept failed: without free descriptors or memory it would fail again at once, endlessly.
    func acceptFailed(_ errorNumber: Int32) {
        counters.failedAcceptCount += 1
        guard errorNumber != 0, let handle else { return }
        hearth_listener_pause(handle, true)
        EventLoop.shared.after(Self.exhaustionRest) { [self] in
            if let handle = self.handle { hearth_listener_pause(handle, false) }
        }
    }

    func remove(_ connection: Connection) {
        let last = connections.removeLast()
        if last !== connection {
            last.listIndex = connection.listIndex
            connections[last.listIndex] = last
        }
        peers.closed(connection.peer.network)
        counters.openConnectionCount -= 1
        if drained != nil, connections.isEmpty { finishDrain() }
    }

    func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Counts `total` unfinished bytes for a connection. False if it must end: its client holds too many, or all
    /// clients do and it is the largest of the client that holds most. Another connection may end for it.
    func hold(_ total: Int, on connection: Connection) -> Bool {
        while true {
            switch held.hold(total, for: &connection.heldByteCount, of: connection.client) {
            case .held:
                counters.inboundByteCount = held.byteCount
                return true
            case .overShare:
                counters.overloadCount += 1
                return false
            case .overLimit(let greediest):
                counters.overloadCount += 1
                guard let victim = largest(of: greediest, total, connection, by: \.heldByteCount)
                else { return false }
                victim.overload()
                release(victim)
            }
        }
    }

    /// The connection of a client that holds most; nil if that is the given one with `total` bytes. O(connections).
    private func largest(
        of client: String,
        _ total: Int,
        _ present: Connection,
        by count: (Connection) -> Int
    ) -> Connection? {
        var largest: Connection?
        var byteCount = client == present.client ? total : 0
        for connection in connections where connection !== present {
            if count(connection) > byteCount, connection.client == client {
                largest = connection
                byteCount = count(connection)
            }
        }
        return largest
    }

    /// Counts `total` bytes of answers that wait for a connection. False if it must be cut; another may be for it.
    func holdOutput(_ total: Int, on connection: Connection) -> Bool {
        defer { counters.outboundByteCount = heldOutput.byteCount }
        while true {
            let client = connection.client
            switch heldOutput.hold(total, for: &connection.heldOutputByteCount, of: client) {
            case .held: return true
            case .overShare:
                counters.cutAnswerCount += 1
                return false
            case .overLimit(let greediest):
                counters.cutAnswerCount += 1
                guard
                    let victim =
                        largest(of: greediest, total, connection, by: \.heldOutputByteCount)
                else { return false }
                victim.fail()
            }
        }
    }

    /// Counts no bytes for a connection any more.
    func release(_ connection: Connection) {
        if connection.heldByteCount == 0 { return }
        _ = held.hold(0, for: &connection.heldByteCount, of: connection.client)
        counters.inboundByteCount = held.byteCount
    }

    // MARK: TLS

    /// Reads the certificate and key files again; handshakes from now on use them.
    ///
    /// - Throws: `TransportError.badTLSFiles`; the old ones stay in use then.
    package func reloadTLS() throws(TransportError) {
        guard let handle, let files = configuration.tls else { return }
        var reason = [CChar](repeating: 0, count: Int(HEARTH_REASON_SIZE))
        guard hearth_listener_reload(handle, files.certificate, files.key, &reason) else {
            throw .badTLSFiles(reason: text(reason))
        }
    }

    // MARK: Closing

    /// Closes the port; open connections stay. Refuses connections still in the backlog.
    package func stopAccepting() {
        guard let handle else { return }
        hearth_listener_stop(handle)
    }

    /// Closes the port, lets current requests finish, sends every WebSocket a Close frame (1001), and cuts the rest
    /// at the deadline. The listener is then closed, and `then` is called once with the number of cut connections.
    package func drain(within limit: Duration, then: @escaping @LoopActor (Int) -> Void) {
        precondition(drained == nil && !isDraining, "a listener drains once")
        isDraining = true
        drained = then
        stopAccepting()
        for connection in connections { connection.drain() }
        drainTimer = EventLoop.shared.after(limit) { [self] in cut() }
        if connections.isEmpty {
            // Not within this call, so that the order of events is always the same.
            drainTimer?.cancel()
            drainTimer = EventLoop.shared.after(.zero) { [self] in finishDrain() }
        }
    }

    /// Cuts every connection at the end of the tick.
    func cut() {
        cutCount += connections.count
        for connection in connections { connection.fail() }
    }

    private func finishDrain() {
        guard let then = drained else { return }
        drained = nil
        drainTimer?.cancel()
        // A tick later: libuv has then closed the sockets that use the C listener's TLS identity.
        EventLoop.shared.after(.zero) { [self] in
            close()
            then(cutCount)
        }
    }

    /// Frees what the loop keeps for this listener.
    func close() {
        guard let handle else { return }
        self.handle = nil
        hearth_listener_free(handle)
        EventLoop.shared.listeners.removeAll { $0 === self }
        application = nil
    }
}

extension EventLoop {
    /// Seconds since 1970, for the Date header.
    @LoopActor
    static var unixSeconds: Int { time(nil) }
}
