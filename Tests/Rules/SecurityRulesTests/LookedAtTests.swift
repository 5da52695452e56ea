import RulesTools
import TestSupport
import JSONTree
import SecurityRules
import Testing

@Suite("paths that a decision looked at")
struct LookedAtTests {
    @Test("a commit that changes a decision touches a path that was looked at")
    func soundness() throws {
        var changes = 0
        for (count, seed) in TestSeed.seeds(3_000).enumerated() {
            // Some three hundred histories change enough decisions to mean something; few seeds need more.
            if count >= 300, changes > 20 { break }
            var maker = RandomRules(seed: seed)
            let rules = try Ruleset.load(maker.text())
            var root = try Node(json: maker.data())
            let operation = try operation(&maker)
            var before = decide(rules, operation, root)
            for _ in 0..<6 {
                let path = try Path(maker.path())
                root.set(try Node(json: maker.data(depth: 1)), at: path)
                let after = decide(rules, operation, root)
                if after.isAllowed != before.isAllowed {
                    changes += 1
                    let isTouched = before.lookedAt.contains {
                        $0.isPrefix(of: path) || path.isPrefix(of: $0)
                    }
                    #expect(isTouched, "seed \(seed): \(path) not in \(before.lookedAt)")
                }
                before = after
            }
        }
        #expect(changes > 20)
    }

    private func operation(_ maker: inout RandomRules) throws -> SimulatedOperation {
        let path = maker.path()
        switch maker.random.index(3) {
        case 0: return .read(try Path(path), query: nil)
        case 1: return .write(try WriteTarget(path), Draft(try Node(json: maker.data(depth: 2))))
        default:
            let entries = try ["a", "b/c"].map { key in
                let draft = Draft(try Node(json: maker.data(depth: 1)))
                return (target: try WriteTarget(path + "/" + key), draft: draft)
            }
            return .update(base: try Path(path), entries)
        }
    }

    private func decide(
        _ rules: Ruleset,
        _ operation: SimulatedOperation,
        _ root: Node
    ) -> Decision {
        let request = RulesRequest(root: root, auth: nil, now: Timestamp(milliseconds: 1))
        let decision = rules.simulate(operation, request).decision
        let silent = rules.simulate(operation, request, recording: []).decision
        #expect(silent.isAllowed == decision.isAllowed)
        return decision
    }

    @Test(
        "a rule records the places it looked at and no others",
        arguments: [
            ("data.exists()", ["/t/k"]),
            ("data.child('x').val() == 1", ["/t/k/x"]),
            ("data.child('x').child('y/z').exists()", ["/t/k/x/y/z"]),
            ("data.parent().child('o').exists()", ["/t/o"]),
            ("root.child('a').exists() || root.child('b').exists()", ["/a", "/b"]),
            ("root.child('a').exists() && root.child('b').exists()", ["/a"]),
            ("data.hasChildren()", ["/t/k"]),
            ("!data.hasChildren(['p', 'q'])", ["/t/k/p"]),
            ("data.hasChild('p')", ["/t/k/p"]),
            ("data.getPriority() == null && data.isString()", ["/t/k"]),
            ("root.child('names/' + $k).exists()", ["/names/k"]),
            ("root.child(root.child('at').val()).exists()", ["/at", "/there"]),
            ("root.child('a.b').exists() || root.child('').exists()", []),
            ("root.child('a').exists() || root.child('a').val() == 1", ["/a"]),
            ("auth != null || now > 5 || $k == 'z'", []),
            ("root.exists()", ["/"]),
        ]
    )
    func tightness(_ source: String, _ expected: [String]) throws {
        let rules = try Ruleset.load("{\"rules\":{\"t\":{\"$k\":{\".read\":\"\(source)\"}}}}")
        let request = RulesRequest(
            root: try Node(json: "{\"at\":\"there\"}"),
            auth: nil,
            now: Timestamp(milliseconds: 0)
        )
        let decision = rules.decideRead(
            try Path("/t/k/below"),
            query: nil,
            request,
            recording: .paths
        )
        #expect(decision.lookedAt.map(\.description) == expected)
        #expect(decision.lookedAtAuth == source.contains("auth"))
        #expect(decision.lookedAtTime == source.contains("now"))
        #expect(decision.trace.isEmpty)
    }

    @Test("of more than a few paths none are recorded where only few help", arguments: [-1, 0, 1])
    func few(_ more: Int) throws {
        let rules = try Ruleset.load(
            #"{"rules":{"t":{"$k":{".write":"!data.exists() && root.child('at').exists()"}}}}"#
        )
        // Each target, and /at.
        let count = RulesLimits.fewPathCount + more
        let targets = try (1..<count).map { try WriteTarget("/t/k\($0)") }
        let request = RulesRequest(
            root: try Node(json: #"{"at":1}"#),
            auth: nil,
            now: Timestamp(milliseconds: 0)
        )
        for recording in [Recording.pathsIfFew, .pathsIfFew.union(.values), .paths] {
            let decision = rules.decideWrite(
                targets,
                newRoot: request.root,
                request,
                recording: recording
            )
            #expect(decision.isAllowed)
            let isOver = more > 0 && recording.contains(.pathsIfFew)
            #expect(decision.lookedAtMany == isOver)
            #expect(decision.lookedAt.count == (isOver ? 0 : count))
        }
    }

    @Test("a write records what its new data depends on")
    func writePaths() throws {
        let rules = try Ruleset.load(
            """
            {"rules":{"o":{".write":true,".validate":"newData.hasChildren(['a','b'])"}}}
            """
        )
        let root = try Node(json: "{\"o\":{\"b\":1}}")
        let request = RulesRequest(root: root, auth: nil, now: Timestamp(milliseconds: 0))
        let decision = rules.simulate(.write(try WriteTarget("/o/a"), Draft(Node(true))), request)
            .decision
        #expect(decision.isAllowed)
        #expect(decision.lookedAt.map(\.description) == ["/o", "/o/a", "/o/b"])
    }
}
