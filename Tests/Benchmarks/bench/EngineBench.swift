import DatabaseCore
import JSONTree
import SecurityRules
import WireProtocol

/// Whole steps of the state machine: from the bytes of a put to the frame for its listeners, with
/// rules like those of a party service, into an inbox of 100,000 messages.
func benchEngine(_ figures: Figures) throws {
    var bench = try EngineBench(figures)
    try bench.fill()
    try bench.measurePuts(listenerCount: 0)
    try bench.measureShadowedPuts()
    for listenerCount in [1, 1_000] { try bench.measurePuts(listenerCount: listenerCount) }
    try bench.measureFilteredPuts(listenCount: 1_000)
}

private let rulesText = """
    {"rules": {"messages": {"$receiver": {
      ".read": "auth != null && $receiver == auth.uid",
      ".indexOn": "timestamp",
      "$message": {
        ".write": "auth != null && (!data.exists() ? newData.child('sender/uid').val() === auth.uid
                   : data.child('sender/uid').val() === auth.uid)",
        ".validate": "newData.hasChildren(['content', 'timestamp', 'sender'])",
        "content": {".validate": "newData.isString() && newData.val().length <= 2000"},
        "timestamp": {".validate": "newData.isNumber()"},
        "sender": {
          ".validate": "newData.hasChildren(['uid', 'username'])",
          "uid": {".validate": "newData.val() === auth.uid"},
          "username": {".validate": "newData.isString()"},
          "$other": {".validate": false} },
        "$other": {".validate": false} }}}}}
    """

/// One writer with a token, its listeners, and a log that is always at once durable.
private struct EngineBench {
    private static let database = DatabaseID("default")
    private static let messageCount = 100_000
    private static let putCount = 20_000
    private static let writer = ConnectionID(1)

    private let figures: Figures
    private let engine: DatabaseEngine
    private var effects: [Effect] = []
    private var keys = PushIDGenerator(seed: 1)
    private var now = Timestamp(milliseconds: 1_712_000_000_000)
    /// Of the last commit appended.
    private var recordByteCount = 0
    private var requestNumber = 1
    private var connectionCount: UInt64 = 0
    /// Connections that listen to the whole inbox.
    private var listenerCount = 0

    init(_ figures: Figures) throws {
        self.figures = figures
        let policy = EnginePolicy(
            databases: [Self.database],
            createsDatabases: false,
            defaultRules: try Ruleset.load(rulesText)
        )
        engine = DatabaseEngine(policy)
        effects.reserveCapacity(16)
        try connect(uid: "u-000001")
    }

    /// Puts the first messages there are, 104 bytes of JSON each.
    mutating func fill() throws {
        let texts = (0..<Self.messageCount).map { _ in putText() }
        let before = Figures.residentByteCount()
        var recordBytes = 0
        for text in texts {
            try put(text)
            recordBytes += recordByteCount
        }
        let count = Double(Self.messageCount)
        let resident = Double(Figures.residentByteCount() - before)
        figures.report("resident memory of a chat message of 104 bytes", resident / count, "bytes")
        figures.report("commit of such a message in the log", Double(recordBytes) / count, "bytes")
    }

    /// Adds listeners until there are `listenerCount`, then measures puts that all of them hear.
    mutating func measurePuts(listenerCount: Int) throws {
        while self.listenerCount < listenerCount {
            self.listenerCount += 1
            let listener = try connect(uid: "ann")
            // The first data, all messages, is encoded only as a socket drains.
            try receive(
                #"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/messages/ann","h":""}}}"#,
                from: listener
            )
        }
        let texts = (0..<Self.putCount).map { _ in putText() }
        var receiverCount = 0
        var failure: (any Error)?
        let suffix = "\(listenerCount) listeners"
        figures.measure("step of a put, \(suffix)", count: texts.count) {
            do {
                for text in texts { receiverCount += try put(text) }
            } catch { failure = error }
        }
        if let failure { throw failure }
        // One frame for each listener, and the answer.
        let expected = Self.putCount * (listenerCount + 1)
        if receiverCount != expected {
            print("bench: \(receiverCount) deliveries with \(suffix), not \(expected)")
        }
        var parsed = 0
        figures.measure("of which reading the frame", count: texts.count) {
            for text in texts where (try? ClientMessage.parse(text)) != nil { parsed += 1 }
        }
        if parsed != texts.count { print("bench: a frame could not be read") }
    }

    /// Measures puts without listeners while shadow rules are tried: first the rules in force themselves, then some
    /// that would refuse every put.
    mutating func measureShadowedPuts() throws {
        for (name, text) in [("agree", rulesText), ("differ", #"{"rules":{}}"#)] {
            ask(.storeRuleset(id: name, try Ruleset.load(text)))
            ask(.labelRulesets(RulesetLabels(canary: name), author: "bench"))
            let texts = (0..<Self.putCount).map { _ in putText() }
            var failure: (any Error)?
            figures.measure("step of a put under shadow rules that \(name)", count: texts.count) {
                do {
                    for text in texts { try put(text) }
                } catch { failure = error }
            }
            if let failure { throw failure }
        }
        ask(.labelRulesets(RulesetLabels(), author: "bench"))
    }

    /// Asks as an admin.
    private mutating func ask(_ operation: Request.Operation) {
        let request = Request(
            database: Self.database,
            credential: .admin(override: nil),
            operation: operation
        )
        engine.step(.requested(request, id: RequestID(1)), now: now, effects: &effects)
        for case .append(let record) in effects {
            let flushed = Input.flushed(record.database, through: record.number)
            engine.step(flushed, now: now, effects: &effects)
        }
        effects.removeAll(keepingCapacity: true)
    }

    /// Measures puts under different queries of one connection: puts that all of the listens hear,
    /// then puts that none does. Afterwards they are gone.
    mutating func measureFilteredPuts(listenCount: Int) throws {
        let listener = try connect(uid: "ann")
        for number in 1...listenCount {
            // The ten newest from a place on that only this one begins at.
            let query = #"{"i":"timestamp","sp":\#(number),"l":10,"vf":"r"}"#
            try receive(
                #"{"t":"d","d":{"r":\#(number),"a":"q","b":{"p":"/messages/ann","#
                    + #""q":\#(query),"t":\#(number),"h":""}}}"#,
                from: listener
            )
        }
        for (name, isHeard) in [("hear", true), ("do not hear", false)] {
            let texts = (0..<100).map { putText(timestamp: isHeard ? nil : $0) }
            var receiverCount = 0
            var failure: (any Error)?
            let figure = "step of a put that \(listenCount) different queries \(name)"
            figures.measure(figure, count: texts.count) {
                do {
                    for text in texts { receiverCount += try put(text) }
                } catch { failure = error }
            }
            if let failure { throw failure }
            let expected = texts.count * (1 + listenerCount + (isHeard ? listenCount : 0))
            if receiverCount != expected { print("bench: \(receiverCount) for \(figure)") }
        }
        engine.step(.disconnected(listener), now: now, effects: &effects)
        effects.removeAll(keepingCapacity: true)
    }

    /// One put from its bytes until nothing waits for the log; returns how many were sent something.
    @discardableResult
    private mutating func put(_ text: [UInt8]) throws -> Int {
        let message = try ClientMessage.parse(text)
        engine.step(.received(message, from: Self.writer), now: now, effects: &effects)
        var receiverCount = 0
        var index = 0
        while index < effects.count {
            switch effects[index] {
            case .append(let record):
                recordByteCount = record.payload.count
                engine.step(
                    .flushed(Self.database, through: record.number),
                    now: now,
                    effects: &effects
                )
            case .send(_, let receivers):
                receiverCount += receivers.count
            case .sendNumbered(_, let receivers):
                receiverCount += receivers.count
            default: break
            }
            index += 1
        }
        effects.removeAll(keepingCapacity: true)
        return receiverCount
    }

    @discardableResult
    private mutating func connect(uid: String) throws -> ConnectionID {
        connectionCount += 1
        let connection = ConnectionID(connectionCount)
        let handshake = Handshake(
            database: Self.database,
            host: "localhost",
            session: SessionID("session-\(connectionCount)")
        )
        engine.step(.connected(connection, handshake), now: now, effects: &effects)
        try receive(
            #"{"t":"d","d":{"r":0,"a":"auth","b":{"cred":"\#(uid)"}}}"#,
            from: connection
        )
        return connection
    }

    /// Any other request; credentials are names, which are believed.
    private mutating func receive(_ text: String, from connection: ConnectionID) throws {
        let message = try ClientMessage.parse(Array(text.utf8))
        engine.step(.received(message, from: connection), now: now, effects: &effects)
        var index = 0
        while index < effects.count {
            switch effects[index] {
            case .verify(let inquiry, let token):
                var auth = Node.absent
                auth.set(Node(string: token), at: try Path("uid"))
                let outcome = CredentialOutcome.user(AuthVariable(auth))
                engine.step(.verified(inquiry, outcome), now: now, effects: &effects)
            case .work(let inquiry, let work):
                engine.step(.worked(inquiry, work.perform()), now: now, effects: &effects)
            default: break
            }
            index += 1
        }
        effects.removeAll(keepingCapacity: true)
    }

    /// The frame of a put of a message of 104 bytes under a new key; of this moment, or of another.
    private mutating func putText(timestamp: Int? = nil) -> [UInt8] {
        now = Timestamp(milliseconds: now.milliseconds + 37)
        requestNumber += 1
        let key = keys.next(now: now)
        let message =
            #"{"content":"line no. \#(100_000_000 + requestNumber)","timestamp":"#
            + #"\#(timestamp.map(Int64.init) ?? now.milliseconds),"sender":{"uid":"u-000001","username":"anna"}}"#
        return Array(
            (#"{"t":"d","d":{"r":\#(requestNumber),"a":"p","b":"#
                + #"{"p":"/messages/ann/\#(key)","d":\#(message)}}}"#).utf8
        )
    }
}
