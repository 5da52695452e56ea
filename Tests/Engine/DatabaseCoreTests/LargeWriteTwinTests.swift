import DatabaseCore
import JSONTree
import SecurityRules
import TestSupport
import Testing

/// Writes that are made elsewhere, late and in any order, beside small ones, against leaves in a dictionary.
@Suite("writes that are made elsewhere against a naive twin")
struct LargeWriteTwinTests {
    /// What a connection has asked for: values by path, each with its leaves.
    private typealias Asked = [(path: String, leaves: [String: Int])]

    private struct Reached {
        /// Done although the tree had changed beside them.
        var beside = 0
        /// Decided again, since something that they depend on had changed.
        var again = 0
        var refused = 0
    }

    @Test("each is done as if it had come when it is answered, or refused as when it was decided")
    func histories() throws {
        var reached = Reached()
        for seed in TestSeed.seeds(20) { try run(seed, &reached) }
        #expect(reached.beside > 20 && reached.again > 20 && reached.refused > 20, "\(reached)")
    }

    private func run(_ seed: UInt64, _ reached: inout Reached) throws {
        let rules =
            #"{"rules":{"gate":{".write":true},"b":{".write":true},"a":{".write":"root.child('gate').val() != 0"}}}"#
        let driver = EngineDriver(rules: try Ruleset.load(rules), nodesDecidedAtOnce: 3)
        var random = SeededGenerator(seed: seed)
        func number(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
        var twin: [String: Int] = [:]
        var waiting: [UInt64: Asked] = [:]
        /// Of each work the connection that it is for, and the root on which it is done.
        var works: [(connection: UInt64, inquiry: InquiryID, work: LongWork, root: Node)] = []
        let root = { driver.engine.root(of: driver.database) }
        let isOpen = { (root: Node) throws in try root.child(Key("gate")).number != 0 }
        for connection in 1...UInt64(4) { driver.connect(connection) }

        func take(_ effects: [Effect], of connection: UInt64, decidedOn old: Node) throws {
            for case .work(let inquiry, let work) in effects {
                works.append((connection, inquiry, work, root()))
            }
            for text in effects.texts(to: connection) {
                guard let asked = waiting.removeValue(forKey: connection) else { continue }
                let isDone = text.contains(#""s":"ok""#)
                let isGated = asked.contains { $0.path.hasPrefix("/a") }
                // What was decided often enough is decided on the present tree.
                let mayBe = try isDone ? isOpen(root()) : !(isOpen(old) && isOpen(root()))
                #expect(isGated ? mayBe : isDone, "seed \(seed): \(asked)")
                if !isDone { reached.refused += 1 }
                for (path, leaves) in asked where isDone {
                    twin = twin.filter { leaf, _ in
                        !"\(leaf)/".hasPrefix("\(path)/") && !"\(path)/".hasPrefix("\(leaf)/")
                    }
                    twin.merge(leaves) { $1 }
                }
            }
            #expect(leaves(of: root(), at: "") == twin, "seed \(seed)")
        }

        for _ in 0..<400 {
            if !works.isEmpty, number(3) == 0 {
                let done = works.remove(at: number(works.count))
                let isOther = !root().isIdentical(to: done.root)
                let effects = driver.step(.worked(done.inquiry, done.work.perform()))
                let isAgain = effects.contains { if case .work = $0 { true } else { false } }
                if isAgain { reached.again += 1 } else if isOther { reached.beside += 1 }
                try take(effects, of: done.connection, decidedOn: done.root)
                continue
            }
            let connection = UInt64(1 + number(4))
            if waiting[connection] != nil { continue }
            if number(8) == 0 {
                let open = number(2)
                waiting[connection] = [("/gate", ["/gate": open])]
                let (body, old) = (#""p":"/gate","d":\#(open)"#, root())
                try take(driver.send(connection, "p", body), of: connection, decidedOn: old)
                continue
            }
            let targets = number(2) == 0 ? ["/a", "/b"] : [["/a", "/b"][number(2)]]
            var asked: Asked = []
            var members: [String] = []
            for target in targets {
                let path = number(3) == 0 ? target : "\(target)/k\(number(3))"
                let size = number(5)
                let value = number(1_000)
                let keys = (0..<size).map { "m\($0)" }
                let text = keys.map { #""\#($0)":\#(value)"# }.joined(separator: ",")
                members.append(#""\#(path.dropFirst())":\#(size == 0 ? "null" : "{\(text)}")"#)
                let leaves = keys.map { ("\(path)/\($0)", value) }
                asked.append((path, Dictionary(uniqueKeysWithValues: leaves)))
            }
            waiting[connection] = asked
            let body = #""p":"/","d":{\#(members.joined(separator: ","))}"#
            let old = root()
            try take(driver.send(connection, "m", body), of: connection, decidedOn: old)
        }
    }

    private func leaves(of node: Node, at path: String) -> [String: Int] {
        if let value = node.number { return [path: Int(value)] }
        var found: [String: Int] = [:]
        node.visitChildren { key, child in
            found.merge(leaves(of: child, at: "\(path)/\(Key(key))")) { $1 }
            return true
        }
        return found
    }
}
