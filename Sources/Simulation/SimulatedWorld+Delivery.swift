import DatabaseCore
import JSONTree
import WriteAheadLog

/// What the engine's effects mean to the world, and whether they are what the model says.
extension SimulatedWorld {
    /// One step of the engine, which the model has made already.
    func input(_ input: Input, of connection: UInt64) throws(SimulationFault) {
        for (receiver, expectation) in model.expectations {
            clients[receiver]?.expect(expectation)
            switch expectation {
            case .hello: break
            case .reply(_, let status, _, _, _): counts.replies[status, default: 0] += 1
            case .cancel: counts.cancels += 1
            case .signedOut: counts.revocations += 1
            }
        }
        model.expectations = []
        let effects = server.step(input, now: Timestamp(milliseconds: now))
        try deliver(effects, of: connection, isOneCommit: true)
        // What was parked goes on in portions; the model has taken it as one.
        while server.engine.hasWork {
            let effects = server.step(.turn(steps: 1), now: Timestamp(milliseconds: now))
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

    /// Keeps a line for whoever reads of a fault.
    func note(_ text: String, _ connection: UInt64) {
        if journal.count == 40 { journal.removeFirst() }
        journal.append(
            "\(connection) at commit \(model.commit), \(server.durable.value) durable: \(text)"
        )
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
                    let whole = text.text + Array("\(receiver.number)".utf8) + text.ending
                    try tell(receiver.connection.value, whole, isOneCommit)
                }
            case .send(.stream, _), .send(.event, _), .send(.events, _), .send(.serverSent, _),
                .send(.serverSentStream, _), .work:
                throw SimulationFault("the engine takes small data for large")
            case .close(let closed, _): try close(closed.value)
            case .respond(let id, let response): try respond(id.value, response)
            case .verify(let inquiry, let token): inquiries.append((inquiry, connection, token))
            case .append: throw SimulationFault("the server passes a commit on")
            case .endWork, .release, .note, .profiled, .judged, .explain: break
            }
        }
    }

    private func tell(
        _ connection: UInt64,
        _ text: [UInt8],
        _ isOneCommit: Bool
    ) throws(SimulationFault) {
        counts.messages += 1
        if closed.contains(connection) {
            throw SimulationFault("client \(connection) is told of something after its end")
        }
        let durable = Int(server.durable.value)
        let model = model
        var mayRead: ((NaivePath) -> Bool)?
        if isOneCommit, !leaving.contains(connection) {
            mayRead = { model.couldRead($0, connection, at: durable) }
        }
        try clients[connection]?
            .receive(text, states: model.states[...durable], mayRead: mayRead)
    }

    private func close(_ connection: UInt64) throws(SimulationFault) {
        guard let client = clients.removeValue(forKey: connection) else { return }
        closed.insert(connection)
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
        guard let commit = restCommits.removeValue(forKey: id) else {
            throw SimulationFault("the request \(id) is answered twice")
        }
        guard case .written(_, _) = response, commit <= Int(server.durable.value) else {
            throw SimulationFault("the request \(id) is answered \(response), commit \(commit)")
        }
    }

    /// Compares what every client sees with the newest durable state: nothing more has left.
    func checkClients(_ occasion: String) throws(SimulationFault) {
        let root = model.states[Int(server.durable.value)].root
        for client in clients.values { try client.check(root, occasion) }
    }

    /// Compares the engine's tree with what a commit left.
    func checkTree(_ commit: Int) throws(SimulationFault) {
        let snapshot = server.snapshot
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
            .judged, .explain,
            .sendNumbered:
            transcript.append(contentsOf: "\(effect)".utf8)
        }
        transcript.append(UInt8(ascii: "\n"))
    }
}
