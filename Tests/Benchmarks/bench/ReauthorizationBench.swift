import DatabaseCore
import JSONTree
import SecurityRules
import WireProtocol

/// Reauthorizing 10,000 listens, each of a connection and a user of its own, after one commit changed
/// what their rule looked at: the commit and all turns until nothing is held any more.
func benchReauthorization(_ figures: Figures) throws {
    for scenario in ReauthorizationBench.scenarios {
        let bench = try ReauthorizationBench(scenario)
        try bench.run(figures)
    }
}

private final class ReauthorizationBench {
    /// One rule on what is listened to, and commits that change what it looks at.
    struct Scenario {
        let name: String
        let rule: String
        /// What round `n` writes, as an update of the root.
        let update: @Sendable (Int) -> String
        var revokes = false
        /// Whether the rule looks at no data, so that the commit concerns no listen.
        var isIndependent = false
    }

    static let listenCount = 10_000
    private static let roundCount = 15
    private static let stepsPerTick = 2_000
    private static let database = DatabaseID("default")

    static let scenarios = [
        Scenario(
            name: "one gate, nothing else changed",
            rule: "auth != null && root.child('gates/r').val() > 0",
            update: { #"{"gates/r":\#($0 + 2)}"# }
        ),
        Scenario(
            name: "own entry of a list that was replaced",
            rule: "auth != null && root.child('members/r').child(auth.uid).exists()",
            update: { round in
                let members = (0..<listenCount).map { #""u\#($0)":\#(round + 2)"# }
                return #"{"members/r":{\#(members.joined(separator: ","))}}"#
            }
        ),
        Scenario(
            name: "one gate, and all receive a message",
            rule: "auth != null && root.child('gates/r').val() > 0",
            update: { #"{"gates/r":\#($0 + 2),"rooms/r/m1":"new \#($0)"}"# }
        ),
        Scenario(
            name: "one gate that closed",
            rule: "auth != null && root.child('gates/r').val() > 0",
            update: { _ in #"{"gates/r":0}"# },
            revokes: true
        ),
        Scenario(
            name: "a rule that looks at no data",
            rule: "auth != null",
            update: { #"{"gates/r":\#($0 + 2)}"# },
            isIndependent: true
        ),
    ]

    private let scenario: Scenario
    private let engine: DatabaseEngine
    private var effects: [Effect] = []
    private var lastRequest: UInt64 = 0
    private let now = Timestamp(milliseconds: 1_712_000_000_000)
    /// Messages to listeners since it was last emptied.
    private var deliveryCount = 0

    init(_ scenario: Scenario) throws {
        self.scenario = scenario
        let rules = try Ruleset.load(
            "{\"rules\":{\"rooms\":{\"$r\":{\".read\":\"\(scenario.rule)\"}}}}"
        )
        engine = DatabaseEngine(
            EnginePolicy(
                databases: [Self.database],
                createsDatabases: false,
                defaultRules: rules
            )
        )
        let messages = (0..<50).map { #""m\#($0)":"a line of some length, \#($0)""# }
        try update(#"{"rooms/r":{\#(messages.joined(separator: ","))},"gates/r":1}"#)
        try update(scenario.revokes ? #"{"gates/r":1}"# : scenario.update(-1))
    }

    func run(_ figures: Figures) throws {
        var (works, longests): ([Double], [Double]) = ([], [])
        for round in 0..<(scenario.revokes ? 3 : Self.roundCount) {
            if round == 0 || scenario.revokes { try listen(round) }
            deliveryCount = 0
            let request = try self.request(scenario.update(round))
            var work = 0.0
            var longest = 0.0
            func measure(_ input: Input) {
                let start = Figures.threadTime()
                engine.step(input, now: now, effects: &effects)
                let time = Figures.threadTime() - start
                work += time
                longest = max(longest, time)
                finish()
            }
            measure(request)
            while engine.hasWork { measure(.longWork(steps: Self.stepsPerTick)) }
            works.append(work)
            longests.append(longest)
            if scenario.revokes {
                if deliveryCount < Self.listenCount { print("bench: \(deliveryCount) cancels") }
                try update(#"{"gates/r":1}"#)
            }
        }
        let work = works.sorted()[works.count / 2]
        let longest = longests.sorted()[longests.count / 2]
        if scenario.isIndependent {
            figures.report(
                "commit beside \(Self.listenCount) listens, \(scenario.name)",
                work,
                "ns"
            )
            return
        }
        let name = "reauthorizing \(Self.listenCount) listens, \(scenario.name)"
        figures.report("\(name): all work", work / 1e6, "ms")
        figures.report("\(name): longest step", longest / 1e6, "ms")
    }

    private func listen(_ round: Int) throws {
        for number in 0..<Self.listenCount {
            let connection = ConnectionID(UInt64(round * Self.listenCount + number + 1))
            let handshake = Handshake(
                database: Self.database,
                host: "localhost",
                session: SessionID("session-\(round)-\(number)")
            )
            engine.step(.connected(connection, handshake), now: now, effects: &effects)
            for text in [
                #"{"t":"d","d":{"r":0,"a":"auth","b":{"cred":"u\#(number)"}}}"#,
                #"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/rooms/r","h":""}}}"#,
            ] {
                let message = try ClientMessage.parse(Array(text.utf8))
                engine.step(.received(message, from: connection), now: now, effects: &effects)
                finish()
            }
        }
    }

    private func update(_ json: String) throws {
        engine.step(try request(json), now: now, effects: &effects)
        finish()
    }

    /// An update of the root by an admin.
    private func request(_ json: String) throws -> Input {
        lastRequest += 1
        let entries = try MergeEntry.parse(Array(json.utf8), base: .root)
        let request = Request(
            database: Self.database,
            credential: .admin(override: nil),
            operation: .merge(.root, entries)
        )
        return .requested(request, id: RequestID(lastRequest))
    }

    /// Does at once what the shell would do; credentials are names, which are believed.
    private func finish() {
        var index = 0
        while index < effects.count {
            switch effects[index] {
            case .append(let record):
                engine.step(
                    .flushed(Self.database, through: record.number),
                    now: now,
                    effects: &effects
                )
            case .verify(let inquiry, let token):
                let auth = AuthVariable(Node.absent.setting(uid: token))
                engine.step(
                    .verified(inquiry, .user(auth)),
                    now: now,
                    effects: &effects
                )
            case .send(_, let receivers): deliveryCount += receivers.count
            default: break
            }
            index += 1
        }
        effects.removeAll(keepingCapacity: true)
    }
}

extension Node {
    fileprivate func setting(uid: String) -> Node {
        var node = self
        node.set(Node(string: uid), at: Path([Key(unchecked: Array("uid".utf8))]))
        return node
    }
}
