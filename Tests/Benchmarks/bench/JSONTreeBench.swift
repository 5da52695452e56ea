import JSONTree
import SimulatedStorage
import Simulation

/// The text of chat messages, 152 bytes of JSON each.
func benchJSONText(_ figures: Figures) {
    benchText(figures)
}

/// A tree of 1,000,000 such messages under one parent.
func benchJSONTree(_ figures: Figures) {
    benchTree(figures, messageCount: 1_000_000)
}

/// Lists that are made and emptied key by key, in every order in which applications put keys.
func benchKeyOrders(_ figures: Figures) {
    var random = SplitMix64(state: 1)
    let text = Node(string: String(repeating: "x", count: 100))
    for order in KeyOrder.allCases {
        // The longest keys fill their pages with two.
        let keys = order.keys(order == .longest ? 20_000 : 100_000, &random)
        let paths = keys.map { Path([Key(unchecked: Array($0.utf8))]) }
        var list = Node.absent
        figures.measure("put a child, keys \(order.rawValue)", count: paths.count) {
            for path in paths { list.set(text, at: path) }
        }
        figures.measure("remove a child, keys \(order.rawValue)", count: paths.count) {
            for path in paths { list.set(.absent, at: path) }
        }
    }
}

/// Draws numbers for the benches; the same ones in every run.
private struct BenchRandom {
    var state: UInt64 = 88_172_645_463_325_252

    mutating func below(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(limit))
    }

    mutating func word(_ count: Int) -> String {
        String(decoding: (0..<count).map { _ in UInt8(97 + below(26)) }, as: UTF8.self)
    }

    mutating func message(_ number: Int) -> [UInt8] {
        Array(
            (#"{"content":"\#(word(36 + below(9)))","timestamp":\#(1_712_000_000_000 + number * 37),"#
                + #""sender":{"uid":"\#(word(28))","username":"\#(word(8 + below(5)))"}}"#).utf8
        )
    }
}

private func benchText(_ figures: Figures) {
    var random = BenchRandom()
    let texts = (0..<1_000).map { random.message($0) }
    let rounds = 1_000
    var nodes: [Node] = []
    for text in texts {
        guard let node = try? Node(json: text) else { return }
        nodes.append(node)
    }
    figures.report(
        "bytes of text of a message",
        Double(texts.reduce(0) { $0 + $1.count }) / Double(texts.count),
        "bytes"
    )
    figures.measure("parse a message", count: rounds * texts.count) {
        for _ in 0..<rounds {
            for (index, text) in texts.enumerated() {
                if let node = try? Node(json: text) { nodes[index] = node }
            }
        }
    }
    var out: [UInt8] = []
    figures.measure("write a message", count: rounds * nodes.count) {
        for _ in 0..<rounds {
            out.removeAll(keepingCapacity: true)
            for node in nodes { node.appendJSON(to: &out) }
        }
    }
    figures.measure("hash a message", count: 20 * nodes.count) {
        for _ in 0..<20 {
            for node in nodes { out.append(contentsOf: node.hash().utf8) }
            out.removeAll(keepingCapacity: true)
        }
    }
}

private func benchTree(_ figures: Figures, messageCount: Int) {
    var random = BenchRandom()
    var generator = PushIDGenerator(seed: 1)
    guard let parent = try? Path("messages/c1") else { return }
    let paths = (0..<messageCount).map { number in
        parent.appending(
            generator.next(now: Timestamp(milliseconds: Int64(1_712_000_000_000 + number * 37)))
        )
    }
    let nodes = (0..<1_000).compactMap { try? Node(json: random.message($0)) }
    let before = Figures.residentByteCount()
    var root = Node.absent
    figures.measure("append a message", count: messageCount) {
        for (number, path) in paths.enumerated() { root.set(nodes[number % nodes.count], at: path) }
    }
    figures.report(
        "resident memory of a message",
        Double(Figures.residentByteCount() - before) / Double(messageCount),
        "bytes"
    )
    let messages = root.descendant(at: parent)
    var found = 0
    for newest in [1_000, messageCount] {
        figures.measure("find among the newest \(newest)", count: 300_000) {
            for _ in 0..<300_000 {
                let path = paths[messageCount - 1 - random.below(newest)]
                found += path.withKey(at: 2) { messages.child($0).childCount }
            }
        }
    }
    figures.report("found", Double(found) / 600_000, "children each")
    for newest in [8, messageCount] {
        figures.measure("replace among the newest \(newest), old root held", count: 200_000) {
            var old = root
            for number in 0..<200_000 {
                old = root
                root.set(
                    nodes[number % nodes.count],
                    at: paths[messageCount - 1 - random.below(newest)]
                )
            }
            withExtendedLifetime(old) {}
        }
    }
    benchWhole(figures, root.descendant(at: parent))
}

private func benchWhole(_ figures: Figures, _ messages: Node) {
    var longKeys = 0
    figures.measure("visit a child", count: messages.childCount) {
        messages.visitChildren { key, _ in
            if key.count > 20 { longKeys += 1 }
            return true
        }
    }
    var text: [UInt8] = []
    figures.measure("write a message of a large map", count: messages.childCount) {
        messages.appendJSON(to: &text)
    }
    figures.measure("parse a message of a large map", count: messages.childCount) {
        if let node = try? Node(json: text) { longKeys += node.childCount }
    }
    text = []
    figures.measure("encode a message of a large map", count: messages.childCount) {
        messages.appendEncoding(to: &text)
    }
    figures.measure("decode a message of a large map", count: messages.childCount) {
        if let node = try? text.withBytes({ try Node(decoding: $0) }) {
            longKeys += node.childCount
        }
    }
    figures.measure("hash a message of a large map", count: messages.childCount) {
        longKeys += messages.hash().utf8.count
    }
}
