import DatabaseCore
import JSONTree
import SecurityRules
import SyncCore
import WireProtocol
import WriteAheadLog

/// Sockets, and what they carry.
extension SyncWorld {
    func open(_ peer: Int, _ socket: SocketID, _ address: SocketAddress) {
        lastNumber += 1
        let last = address.target.split(separator: "&").first { $0.contains("ls=") }
        let session = last.flatMap { $0.split(separator: "=").last }.map(String.init)
        pipes.append(SyncPipe(socket: socket, connection: lastNumber, lastSession: session))
        owners[lastNumber] = (peer, true)
        peers[peer].socket = socket
        note("\(peer) opens \(lastNumber) after \(session ?? "none")")
    }

    private func pipe(of peer: Int, _ socket: SocketID) -> Int? {
        pipes.firstIndex { $0.socket == socket && owner(of: $0) == peer }
    }

    func send(_ peer: Int, _ socket: SocketID, _ frames: [[UInt8]]) throws(SimulationFault) {
        var assembler = FrameAssembler(byteLimit: 1 << 24)
        for frame in frames {
            do {
                guard case .message(let text) = try assembler.receive(frame) else { continue }
                note("\(peer) sends \(String(decoding: text, as: UTF8.self))")
                try peers[peer].twin.sent(try JSONText(text))
            } catch let fault as SimulationFault {
                throw SimulationFault("client \(peer) \(fault)")
            } catch {
                throw SimulationFault("client \(peer) sends rubbish: \(error)")
            }
        }
        guard let index = pipe(of: peer, socket), pipes[index].clientEnd != .closed else {
            throw SimulationFault("client \(peer) sends on a socket that is closed")
        }
        if pipes[index].clientEnd == .open { pipes[index].toServer += frames }
    }

    func close(_ peer: Int, _ socket: SocketID) {
        guard let index = pipe(of: peer, socket) else { return }
        note("\(peer) closes \(pipes[index].connection)")
        pipes[index].clientEnd = .closed
        pipes[index].toClient = []
        pipes[index].serverEnd = pipes[index].serverEnd == .open ? .cut : .closed
        peers[peer].disconnected()
        peers[peer].socket = nil
    }

    /// Finishes handshakes.
    func openPipes(isAll: Bool = false) throws(SimulationFault) {
        for index in pipes.indices {
            if pipes[index].clientEnd != .opening || pipes[index].serverEnd != .opening { continue }
            if !isAll, workload.happens(oneIn: 3) { continue }
            pipes[index].clientEnd = .open
            pipes[index].serverEnd = .open
            let pipe = pipes[index]
            let handshake = Handshake(
                database: SimulatedServer.database,
                host: "db",
                session: SessionID(pipe.session),
                lastSession: pipe.lastSession.map { SessionID($0) },
            )
            note("\(pipe.connection) is open")
            try ask(.connected(ConnectionID(pipe.connection), handshake))
            guard let peer = owner(of: pipe) else { continue }
            try step(peer, .opened(pipe.socket))
        }
        pipes.removeAll(where: \.isOver)
    }

    /// Cuts a connection without telling anybody.
    func cut() {
        let open = pipes.indices.filter { pipes[$0].clientEnd == .open }
        if open.isEmpty { return }
        counts.cuts += 1
        let index = workload.pick(open)
        note("\(pipes[index].connection) is cut")
        pipes[index].cut(
            toServer: workload.number(below: 1 + pipes[index].toServer.count),
            toClient: workload.number(below: 1 + pipes[index].toClient.count)
        )
    }

    /// Ends of a connection that is over learn of it, each when what still reaches it has come.
    func noticeEnds(isAll: Bool = false) throws(SimulationFault) {
        for index in pipes.indices where isAll || workload.happens(oneIn: 2) {
            if pipes[index].serverEnd == .cut, isAll || workload.happens(oneIn: 3) {
                if isAll { while try reachServer(index) {} }
                pipes[index].serverEnd = .closed
                pipes[index].toServer = []
                note("\(pipes[index].connection) is gone for the server")
                try ask(.disconnected(ConnectionID(pipes[index].connection)))
            }
            if pipes[index].clientEnd == .cut {
                if isAll { while try reachClient(index) {} }
                if pipes[index].clientEnd == .cut { try tellClosed(index) }
            }
        }
    }

    private func tellClosed(_ index: Int) throws(SimulationFault) {
        pipes[index].clientEnd = .closed
        pipes[index].toClient = []
        guard let peer = owner(of: pipes[index]) else { return }
        note("\(pipes[index].connection) is gone for \(peer)")
        peers[peer].disconnected()
        peers[peer].socket = nil
        try step(peer, .closed(pipes[index].socket, reason: "gone"))
    }

    // MARK: To the server

    /// Lets the next frame of some connection reach the server; false when there is none.
    @discardableResult
    func reachServer() throws(SimulationFault) -> Bool {
        let ready = pipes.indices.filter { pipes[$0].mayReachServer }
        return ready.isEmpty ? false : try reachServer(workload.pick(ready))
    }

    private func reachServer(_ index: Int) throws(SimulationFault) -> Bool {
        if !pipes[index].mayReachServer { return false }
        let frame = pipes[index].toServer.removeFirst()
        let connection = ConnectionID(pipes[index].connection)
        do {
            guard case .message(let text) = try pipes[index].assembler.receive(frame) else {
                return true
            }
            try ask(.received(try ClientMessage.parse(text), from: connection))
        } catch let fault as SimulationFault {
            throw fault
        } catch {
            throw SimulationFault("the server cannot read what it is sent: \(error)")
        }
        return true
    }

    /// One step of the server and what follows from it.
    func ask(_ input: DatabaseCore.Input) throws(SimulationFault) {
        try deliver(server.step(input, now: Timestamp(milliseconds: now)))
        while server.engine.hasWork {
            try deliver(server.step(.turn(steps: 8), now: Timestamp(milliseconds: now)))
        }
        counts.commits = Int(server.made.value)
        if workload.happens(oneIn: 2) { try flush() }
    }

    /// Makes all commits durable, and releases what waited for that.
    func flush() throws(SimulationFault) {
        do throws(LogError) {
            try server.append(atMost: .max)
            try server.sync()
        } catch {
            throw SimulationFault("the log fails: \(error)")
        }
        if server.durable == server.appended { return }
        try deliver(server.flushed(through: server.appended, now: Timestamp(milliseconds: now)))
    }

    private func deliver(_ effects: [DatabaseCore.Effect]) throws(SimulationFault) {
        for effect in effects {
            switch effect {
            case .send(.text(let text), let receivers):
                for receiver in receivers { queue(text, to: receiver) }
            case .sendNumbered(let text, let receivers):
                for receiver in receivers {
                    let whole = text.text + Array("\(receiver.number)".utf8) + text.ending
                    queue(whole, to: receiver.connection)
                }
            case .close(let connection, _):
                guard let index = pipes.firstIndex(where: { $0.connection == connection.value })
                else { continue }
                pipes[index].serverEnd = .closed
                pipes[index].toServer = []
                if pipes[index].clientEnd != .closed { pipes[index].clientEnd = .cut }
            case .verify(let inquiry, let token):
                let auth = AuthVariable(.absent)
                let outcome: CredentialOutcome =
                    token.hasPrefix("bad") ? .refused(.invalid("bad")) : .user(auth, .unlimited)
                try ask(.verified(inquiry, outcome))
            case .append, .endWork, .release, .note, .profiled, .judged, .explain, .respond: break
            case .work, .send: throw SimulationFault("the server takes small data for large")
            }
        }
    }

    /// Long messages, and some short ones, go in several frames.
    private func queue(_ text: [UInt8], to connection: ConnectionID) {
        guard let index = pipes.firstIndex(where: { $0.connection == connection.value }),
            pipes[index].serverEnd == .open, pipes[index].clientEnd != .closed
        else { return }
        if pipes[index].clientEnd == .cut { return }
        if !text.allSatisfy({ $0 < 0x80 }) || !workload.happens(oneIn: 8) || text.count < 4 {
            return pipes[index].toClient.append(text)
        }
        let place = 1 + workload.number(below: text.count - 1)
        pipes[index].toClient += [
            Array("2".utf8), Array(text[..<place]), Array(text[place...]),
        ]
    }

    // MARK: To the client

    /// Lets the next frame of some connection reach its client; false when there is none.
    @discardableResult
    func reachClient() throws(SimulationFault) -> Bool {
        let ready = pipes.indices.filter { pipes[$0].mayReachClient }
        return ready.isEmpty ? false : try reachClient(workload.pick(ready))
    }

    private func reachClient(_ index: Int) throws(SimulationFault) -> Bool {
        if !pipes[index].mayReachClient { return false }
        let frame = pipes[index].toClient.removeFirst()
        guard let peer = owner(of: pipes[index]) else { return true }
        let socket = pipes[index].socket
        do {
            if case .message(let text) = try pipes[index].twinAssembler.receive(frame) {
                note("\(peer) hears \(String(decoding: text, as: UTF8.self))")
                let message = try JSONText(text)
                if message["t"] == .string("c"), message["d"]?["t"] == .string("h") {
                    peers[peer].twin.connected()
                }
                try peers[peer].twin.received(message, &workload.random)
            }
        } catch let fault as SimulationFault {
            throw fault
        } catch {
            throw SimulationFault("client \(peer) is sent rubbish: \(error)")
        }
        try step(peer, .received(socket, frame: frame))
        return true
    }

    // MARK: Time and tokens

    /// Wakes the clients whose time has come.
    func wake() throws(SimulationFault) {
        for peer in peers.indices {
            var count = 0
            while let time = peers[peer].wakeTime, time <= now {
                count += 1
                if count > 100 { throw SimulationFault("client \(peer) wakes without end") }
                peers[peer].wakeTime = nil
                try step(peer, .woke)
            }
        }
    }

    func answerToken() throws(SimulationFault) {
        let waiting = peers.indices.filter { peers[$0].wantsToken }
        if !waiting.isEmpty { try answerToken(workload.pick(waiting)) }
    }

    func answerToken(_ peer: Int) throws(SimulationFault) {
        peers[peer].wantsToken = false
        if !isHealing, workload.happens(oneIn: 10) {
            return try step(peer, .tokenFetched(.unavailable("no network")))
        }
        let token = peers[peer].account.map { "eyJ.\($0).x" }
        try step(peer, .tokenFetched(token.map { .token($0) } ?? .nobody))
    }
}

extension SyncPipe {
    /// Whether one of its ends has still to learn that it is over, or to open.
    var isEnding: Bool {
        clientEnd != serverEnd || clientEnd == .cut || clientEnd == .opening
    }
}
