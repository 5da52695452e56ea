import DatabaseCore
import EventProtocol
import JSONTree
import WireProtocol

/// What the engine is asked and what it answers.
extension QueryWorld {
    func ask(_ request: JSONText, of connection: UInt64) throws(SimulationFault) {
        note("\(connection) asks \(request.text)")
        if connection == Self.writer, engine.isWaiting(ConnectionID(connection)) {
            parked.append((0, nil))
        }
        let id = ConnectionID(connection)
        let text = request.text(isSorted: false)
        do {
            // For pushes, of which there are none.
            let key = try Key("key")
            if Self.observers.contains(connection) {
                let request = try EventRequest.parse(Array(text.utf8)) { key }
                try input(.asked(request, from: id))
            } else {
                let message = #"{"t":"d","d":\#(text)}"#
                try input(.received(try ClientMessage.parse(Array(message.utf8)), from: id))
            }
        } catch let fault as SimulationFault {
            throw fault
        } catch {
            throw SimulationFault("the server cannot read \(text): \(error)")
        }
    }

    func input(_ input: Input) throws(SimulationFault) {
        var effects: [Effect] = []
        engine.step(input, now: Timestamp(milliseconds: now), effects: &effects)
        var events: [(receiver: NumberedReceiver, event: JSONText)] = []
        var replies: [(connection: UInt64, text: JSONText)] = []
        var streamTexts: [(text: [UInt8], receivers: [ConnectionID])] = []
        for effect in effects {
            switch effect {
            case .append(let record): appended = Int(record.number.value)
            case .work(let inquiry, let work): works.append((inquiry, work))
            case .send(.text(let text), let receivers):
                let text = try json(text)
                for receiver in receivers { replies.append((receiver.value, text)) }
            case .sendNumbered(let text, let receivers):
                for receiver in receivers {
                    let whole = text.whole(receiver.number)
                    events.append((receiver, try json(whole)))
                }
            case .endWork, .release, .note, .profiled, .decided, .explain: break
            case .respond(let id, let response): try responded(id, response)
            case .send(.serverSent(let text), let receivers):
                streamTexts.append((text, receivers))
            case .send(.stream, _), .send(.event, _), .send(.events, _),
                .send(.serverSentStream, _):
                throw SimulationFault("the engine takes small data for large")
            case .close, .verify, .forward:
                throw SimulationFault("the engine answers what no client asked: \(effect)")
            }
        }
        try catchUp()
        try tell(events)
        for (connection, text) in replies { try receive(connection, text) }
        for (text, receivers) in streamTexts { try streamed(text, to: receivers) }
        while let left = leaving.popLast() { try self.input(.disconnected(left)) }
    }

    /// What one step tells an observer is one change, or what leads to the present.
    private func tell(
        _ events: [(receiver: NumberedReceiver, event: JSONText)]
    ) throws(SimulationFault) {
        counts.events += events.count
        for index in watchers.indices {
            let watcher = watchers[index]
            let own = events.filter {
                $0.receiver.connection.value == watcher.connection
                    && $0.receiver.number == Int64(watcher.number)
            }
            switch watcher.kind {
            case .observer:
                let unwanted = own.first { !watcher.wants($0.event["event"]?.string ?? "") }
                if let unwanted {
                    throw SimulationFault("no client asked for \(unwanted.event.text)")
                }
                try watchers[index].take(own.map(\.event))
            case .stream: break
            case .listen:
                for entry in own { try push(entry.event, to: index) }
            }
        }
    }

    private func push(_ message: JSONText, to index: Int) throws(SimulationFault) {
        guard let payload = message["d"], let body = payload["b"] else {
            throw SimulationFault("a listen receives \(message.text)")
        }
        let action = payload["a"]?.string ?? ""
        note("listen \(watchers[index].number) is pushed \(action) \(body.text)")
        if action == "rm" { counts.rangeMerges += 1 }
        try watchers[index].push(action, body, &workload.random)
    }

    private func receive(_ connection: UInt64, _ message: JSONText) throws(SimulationFault) {
        if Self.observers.contains(connection) {
            if let id = message["id"]?.number {
                try answered(connection, Int(id), message["ok"] == .boolean(true), message)
            }
            return
        }
        guard let payload = message["d"], message["t"] == .string("d") else { return }
        if let number = payload["r"]?.number, let status = payload["b"]?["s"] {
            try answered(connection, Int(number), status == .string("ok"), message)
        } else if let body = payload["b"] {
            let tag = body["t"]?.number
            let index = watchers.firstIndex {
                $0.connection == connection && (tag == nil) == ($0.query == nil)
                    && (tag == nil || $0.number == tag.map { Int($0) })
            }
            guard let index else { throw SimulationFault("no client listens: \(message.text)") }
            try push(message, to: index)
        }
    }

    private func answered(
        _ connection: UInt64,
        _ id: Int,
        _ isOK: Bool,
        _ message: JSONText
    ) throws(SimulationFault) {
        guard let (number, isEnd) = requests[connection]?.removeValue(forKey: id) else {
            if connection == Self.writer, isOK { return }
            throw SimulationFault("no client asked for \(message.text)")
        }
        guard let index = watchers.firstIndex(where: { $0.number == number }) else {
            throw SimulationFault("whose watcher is this: \(message.text)")
        }
        if isEnd {
            guard isOK else { throw SimulationFault("a watcher cannot end: \(message.text)") }
            let watcher = watchers.remove(at: index)
            if case .listen = watcher.kind {
                kept[NaiveListen(path: watcher.path, query: watcher.query)] = watcher.node
            }
        } else if isOK {
            watchers[index].isConfirmed = true
        } else {
            guard message.text.contains("unavailable") else {
                throw SimulationFault("a watcher is refused: \(message.text)")
            }
            watchers.remove(at: index)
        }
    }

    private func json(_ text: [UInt8]) throws(SimulationFault) -> JSONText {
        do throws(JSONTextError) {
            return try JSONText(text)
        } catch {
            throw SimulationFault("receives no JSON: \(String(decoding: text, as: UTF8.self))")
        }
    }
}
