import DatabaseCore
import JSONTree
import SecurityRules
import SyncCore
import WireProtocol
import WriteAheadLog

/// Sockets, and what they carry.
extension SimulatedWorld {
    func open(_ peer: Int, _ socket: SocketID, _ address: SocketAddress) {
        let connection = nextNumber()
        let last = address.target.split(separator: "&").first { $0.contains("ls=") }
        let session = last.flatMap { $0.split(separator: "=").last }.map(String.init)
        pipes.append(SyncPipe(socket: socket, connection: connection, lastSession: session))
        owners[connection] = (peer, true)
        peers[peer].socket = socket
        note("opens \(connection) after \(session ?? "none")", of: peer)
    }

    private func pipe(of peer: Int, _ socket: SocketID) -> Int? {
        pipes.firstIndex { $0.socket == socket && owner(of: $0) == peer }
    }

    func send(_ peer: Int, _ socket: SocketID, _ frames: [[UInt8]]) throws(SimulationFault) {
        var assembler = FrameAssembler(byteLimit: 1 << 24)
        for frame in frames {
            do {
                guard case .message(let text) = try assembler.receive(frame) else { continue }
                note("sends \(String(decoding: text, as: UTF8.self))", of: peer)
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

    func closeSocket(_ peer: Int, _ socket: SocketID) {
        guard let index = pipe(of: peer, socket) else { return }
        note("closes \(pipes[index].connection)", of: peer)
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
            let last = clients.first {
                $0.value.session == pipe.lastSession && !leaving.contains($0.key)
            }
            if let last { leaves(last.key) }
            let session = Self.session(pipe.connection)
            try connect(pipe.connection, .app, replacing: last?.key, session)
            guard let peer = owner(of: pipe) else { continue }
            try step(peer, .opened(pipe.socket))
        }
        pipes.removeAll(where: \.isOver)
    }

    /// Cuts a connection without telling anybody.
    func cut() {
        let open = pipes.indices.filter { pipes[$0].clientEnd == .open }
        if open.isEmpty { return }
        counts.note(.networkCut)
        let index = workload.pick(open)
        note("is cut", pipes[index].connection)
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
                let connection = pipes[index].connection
                if clients[connection] != nil, !leaving.contains(connection) {
                    try disconnect(connection)
                }
            }
            if pipes[index].clientEnd == .cut {
                if isAll { while try reachApp(index) {} }
                if pipes[index].clientEnd == .cut { try tellClosed(index) }
            }
        }
    }

    private func tellClosed(_ index: Int) throws(SimulationFault) {
        pipes[index].clientEnd = .closed
        pipes[index].toClient = []
        guard let peer = owner(of: pipes[index]) else { return }
        note("learns that \(pipes[index].connection) is gone", of: peer)
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
        let connection = pipes[index].connection
        do {
            guard case .message(let text) = try pipes[index].assembler.receive(frame) else {
                return true
            }
            let message = try ClientMessage.parse(text)
            let json = try JSONText(text)
            guard clients[connection] != nil, !leaving.contains(connection) else { return true }
            let id = ConnectionID(connection)
            guard let request = try SimulatedRequest(wire: json), let number = json["d"]?["r"]
            else {
                try input(.received(message, from: id), of: connection)
                return true
            }
            let place = Int(number.number ?? 0)
            clients[connection]?.send(request, number: place)
            try receive(request, number: place, from: connection, .received(message, from: id))
        } catch let fault as SimulationFault {
            throw fault
        } catch {
            throw SimulationFault("the server cannot read what it is sent: \(error)")
        }
        return true
    }

    /// The server has ended a connection.
    func closePipe(_ connection: UInt64) {
        guard let index = pipes.firstIndex(where: { $0.connection == connection }) else { return }
        pipes[index].serverEnd = .closed
        pipes[index].toServer = []
        if pipes[index].clientEnd != .closed { pipes[index].clientEnd = .cut }
    }

    /// The server is dead: of what it has sent, some arrives.
    func losePipes() {
        for index in pipes.indices {
            if pipes[index].clientEnd == .open { counts.note(.appAfterCrash) }
            let count = workload.number(below: 1 + pipes[index].toClient.count)
            pipes[index].cut(toServer: 0, toClient: count)
            pipes[index].serverEnd = .closed
        }
    }

    /// Long messages, and some short ones, go in several frames.
    func queue(_ text: [UInt8], to connection: UInt64) {
        guard let index = pipes.firstIndex(where: { $0.connection == connection }),
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

    /// Lets the next frame of some connection reach its app; false when there is none.
    @discardableResult
    func reachApp() throws(SimulationFault) -> Bool {
        let ready = pipes.indices.filter { pipes[$0].mayReachClient }
        return ready.isEmpty ? false : try reachApp(workload.pick(ready))
    }

    private func reachApp(_ index: Int) throws(SimulationFault) -> Bool {
        if !pipes[index].mayReachClient { return false }
        let frame = pipes[index].toClient.removeFirst()
        guard let peer = owner(of: pipes[index]) else { return true }
        let socket = pipes[index].socket
        do {
            if case .message(let text) = try pipes[index].twinAssembler.receive(frame) {
                note("hears \(String(decoding: text, as: UTF8.self))", of: peer)
                let message = try JSONText(text)
                if message["t"] == .string("c"), message["d"]?["t"] == .string("h") {
                    peers[peer].twin.connected()
                }
                try peers[peer].twin.received(message, &workload.random)
                // It may have been about a write that was made before a restart.
                if message["d"]?["b"]?["s"] == .string("unavailable") { giveUpOwnWrites(peer) }
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
            while let time = peers[peer].wakeTime, time <= appNow {
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
        try step(peer, .tokenFetched(token.map { .token($0) } ?? .noUser))
    }
}

extension SyncPipe {
    /// Whether one of its ends has still to learn that it is over, or to open.
    var isEnding: Bool {
        clientEnd != serverEnd || clientEnd == .cut || clientEnd == .opening
    }
}
