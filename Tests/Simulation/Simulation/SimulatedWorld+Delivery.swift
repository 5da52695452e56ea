import DatabaseCore
import JSONTree

/// What the engine's effects mean to the world, and whether they are what the model says.
extension SimulatedWorld {
    /// One step of the engine, which the model has made already.
    func input(_ input: Input, of connection: UInt64) throws(SimulationFault) {
        for (receiver, expectation) in model.expectations {
            clients[receiver]?.expect(expectation)
            switch expectation {
            case .hello: break
            case .reply(_, let status, _, _, _):
                if let state = WorldState(reply: status) { counts.note(state) }
                if status == "unavailable" { counts.note(.writeRefusedForRoom) }
            case .cancel: counts.note(.cancel)
            case .signedOut: counts.note(.revocation)
            }
        }
        model.expectations = []
        let effects = server.step(input, now: Timestamp(milliseconds: now))
        try deliver(effects, of: connection, isOneCommit: true)
        // What was parked goes on in portions; the model has taken it as one.
        while server.engine.hasWork {
            let effects = server.step(.longWork(steps: 1), now: Timestamp(milliseconds: now))
            try deliver(effects, of: connection, isOneCommit: true)
        }
        guard Int(server.made.value) == model.commit else {
            throw SimulationFault(
                "the engine is at commit \(server.made.value) and the model at \(model.commit)"
            )
        }
        guard server.engine.heldCredentialCount == model.signedInCount else {
            throw SimulationFault(
                "a revocation would find \(server.engine.heldCredentialCount) sessions of \(model.signedInCount)"
            )
        }
        if workload.happens(oneIn: 16) { try checkTree(model.commit) }
    }

    /// Keeps a line for the text of a fault.
    func note(_ text: @autoclosure () -> String, _ connection: UInt64) {
        if !options.keepsJournal { return }
        if journal.count == 400 { journal.removeFirst() }
        let commits = "commit \(model.commit), \(server.durable.value) durable"
        journal.append("\(now) \(commits), \(connection): \(text())")
    }

    /// `isOneCommit` says that all of the effects waited for the newest durable commit.
    func deliver(
        _ effects: [Effect],
        of connection: UInt64,
        isOneCommit: Bool
    ) throws(SimulationFault) {
        for effect in effects {
            if options.keepsTranscript { write(effect) }
            switch effect {
            case .send(.text(let text), let receivers):
                for receiver in receivers { try tell(receiver.value, text, isOneCommit) }
            case .sendNumbered(let text, let receivers):
                for receiver in receivers {
                    let whole = text.whole(receiver.number)
                    try tell(receiver.connection.value, whole, isOneCommit)
                }
            case .send(.stream, _), .send(.event, _), .send(.events, _), .send(.serverSent, _),
                .send(.serverSentStream, _), .work:
                throw SimulationFault("the engine takes small data for large")
            case .close(let closed, _): try close(closed.value)
            case .respond(let id, let response): try respond(id.value, response)
            case .verify(let inquiry, let token): inquiries.append((inquiry, connection, token))
            case .append: throw SimulationFault("the server passes a commit on")
            case .forward: throw SimulationFault("the server follows another one")
            case .endWork, .release, .note, .profiled, .decided, .explain: break
            }
        }
        for connection in clients.keys where clients[connection]?.kind == .events {
            try clients[connection]?.endChange()
        }
    }

    private func tell(
        _ connection: UInt64,
        _ text: [UInt8],
        _ isOneCommit: Bool
    ) throws(SimulationFault) {
        if closed.contains(connection) {
            throw SimulationFault("client \(connection) receives something after its end")
        }
        let durable = Int(server.durable.value)
        let model = model
        var mayRead: ((NaivePath) -> Bool)?
        if isOneCommit, !leaving.contains(connection) {
            mayRead = { model.couldRead($0, connection, at: durable) }
        }
        note("receives \(String(decoding: text, as: UTF8.self))", connection)
        try clients[connection]?
            .receive(text, states: model.states[...durable], mayRead: mayRead)
        switch clients[connection]?.kind {
        case .wire: counts.note(.message)
        case .events: counts.note(.eventMessage)
        case .app:
            counts.note(.appMessage)
            queue(text, to: connection)
        case nil: break
        }
    }

    private func close(_ connection: UInt64) throws(SimulationFault) {
        guard let client = clients.removeValue(forKey: connection) else { return }
        closed.insert(connection)
        if client.kind == .app { closePipe(connection) }
        guard leaving.remove(connection) != nil else {
            throw SimulationFault("client \(connection) is closed without a reason")
        }
        if !client.expected.isEmpty {
            throw SimulationFault(
                "client \(connection) is closed before it hears \(client.expected)"
            )
        }
    }

    private func respond(_ id: UInt64, _ response: Response) throws(SimulationFault) {
        guard let (commit, asked) = restRequests.removeValue(forKey: id) else {
            throw SimulationFault("the request \(id) is answered twice")
        }
        let isRight =
            switch (response, asked) {
            case (.written, .written), (.rulesPut, .rulesPut), (.refused(.noSpace), .refused): true
            default: false
            }
        guard isRight, commit <= Int(server.durable.value) else {
            throw SimulationFault("the request \(id) is answered \(response), commit \(commit)")
        }
    }

    /// Compares what every client sees with the newest durable state: nothing more has left.
    func checkClients(_ occasion: String) throws(SimulationFault) {
        let root = model.states[Int(server.durable.value)].root
        for client in clients.values { try client.check(root, occasion) }
    }

    /// Compares the engine's tree with what a commit left.
    func checkTree(_ commit: Int) throws(SimulationFault) { try checkTree(commit, of: server) }

    /// Compares the tree of a server that has come up with what a commit left, and its rules.
    func checkTree(_ commit: Int, of server: SimulatedServer) throws(SimulationFault) {
        let snapshot = server.snapshot
        if (snapshot?.rules != nil) != (model.states[commit].ownRules != nil) {
            throw SimulationFault("commit \(commit) has not the rules that it left")
        }
        let number = Int(snapshot?.number.value ?? 0)
        let json = (snapshot?.root ?? .absent).json(.export)
        let tree: NaiveNode
        do throws(JSONTextError) {
            tree = NaiveNode(try JSONText(json))
        } catch {
            throw SimulationFault("the tree is no JSON: \(String(decoding: json, as: UTF8.self))")
        }
        guard number == commit else {
            throw SimulationFault("the engine is at commit \(number), not \(commit)")
        }
        if let difference = tree.difference(from: model.states[commit].root) {
            throw SimulationFault("in the tree of commit \(commit), \(difference)")
        }
    }

    private func write(_ effect: Effect) {
        switch effect {
        case .send(.text(let text), let receivers):
            transcript.append(contentsOf: "\(receivers.map(\.value)) ".utf8)
            transcript.append(contentsOf: text)
        case .append, .send, .close, .respond, .verify, .work, .endWork, .release, .note, .profiled,
            .decided, .explain, .sendNumbered, .forward:
            transcript.append(contentsOf: "\(effect)".utf8)
        }
        transcript.append(UInt8(ascii: "\n"))
    }
}
