import JSONTree
import TestSupport
import Testing

/// A random tree as JSON text: lists with holes, priorities, strings of all lengths.
private struct RandomJSON {
    var random: SeededRandom

    mutating func value(depth: Int) -> String {
        guard depth > 0, random.below(5) > 0 else { return leaf() }
        let count = 1 + random.below(random.element(depth == 2 ? [6, 30] : [3, 5]))
        let isList = random.below(3) == 0
        var members: [String] = []
        for index in 0..<count where !isList || random.below(4) > 0 {
            let name = isList ? "\(index)" : key(index)
            members.append("\"\(name)\":\(value(depth: depth - 1))")
        }
        if random.below(4) == 0 { members.append("\".priority\":\(priority())") }
        return "{" + members.joined(separator: ",") + "}"
    }

    private mutating func leaf() -> String {
        let scalar: String
        switch random.below(40) {
        case 0: scalar = text(characters: 20_000)
        case 1, 2: scalar = text(characters: 3_000)
        case 3...9: scalar = text(characters: 30)
        case 10...12: scalar = "\(random.below(1000)).5"
        case 13: scalar = "true"
        default: scalar = "\(Int32(truncatingIfNeeded: random.next()))"
        }
        if random.below(6) > 0 { return scalar }
        return "{\".value\":\(scalar),\".priority\":\(priority())}"
    }

    private mutating func priority() -> String {
        random.below(3) == 0 ? text(characters: 900) : "\(random.below(9))"
    }

    private mutating func key(_ index: Int) -> String {
        random.element(["k\(index)", "-\(index)", "0\(index)", "é😀\(index)", "a\\\"b\(index)"])
    }

    private mutating func text(characters limit: Int) -> String {
        let characters = ["a", "b", ",", " ", "é", "😀", "\\n", "\\\"", "\\\\", "\\u0001"]
        var text = ""
        for _ in 0..<random.below(limit) { text += random.element(characters) }
        return "\"\(text)\""
    }
}

/// Text straight from the definitions of forms and layouts, as a whole and from the node's own reading.
private struct NaiveLayout {
    let form: Node.JSONForm
    let isPretty: Bool

    func text(_ node: Node, _ indent: String = "") -> String {
        guard node.isMap else { return leaf(node, indent) }
        var children: [(key: String, node: Node)] = []
        node.visitChildren { key, child in
            children.append((key.string, child))
            return true
        }
        if form == .value, let list = list(children) {
            let elements = list.map { $0.map { text($0, indent) } ?? "null" }
            return isPretty
                ? "[ " + elements.joined(separator: ", ") + " ]"
                : "[" + elements.joined(separator: ",") + "]"
        }
        var members = children.map { key, child in
            (quoted(key), form == .keys ? "true" : text(child, indent + "  "))
        }
        if form == .export, !node.priority.isAbsent {
            members.append((quoted(".priority"), leaf(node.priority, "")))
        }
        return object(members, indent)
    }

    private func leaf(_ node: Node, _ indent: String) -> String {
        let bare = node.settingPriority(.absent)
        let text = bare.string.map { quoted($0) } ?? String(decoding: bare.json(), as: UTF8.self)
        if form != .export || node.priority.isAbsent { return text }
        let members = [(".value", text), (".priority", leaf(node.priority, ""))]
        return object(members.map { (quoted($0), $1) }, indent)
    }

    private func object(_ members: [(String, String)], _ indent: String) -> String {
        if !isPretty { return "{" + members.map { "\($0):\($1)" }.joined(separator: ",") + "}" }
        let lines = members.map { "\n\(indent)  \($0) : \($1)" }
        return "{" + lines.joined(separator: ",") + "\n\(indent)}"
    }

    /// The elements if the keys are those of a list.
    private func list(_ children: [(key: String, node: Node)]) -> [Node?]? {
        var elements: [Node?] = []
        for (key, node) in children {
            guard let index = Int(key), index >= 0, "\(index)" == key else { return nil }
            if index >= 2 * children.count { return nil }
            while elements.count < index { elements.append(nil) }
            elements.append(node)
        }
        return elements
    }

    private func quoted(_ text: String) -> String {
        var out = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": out += "\\\""
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\u{1}": out += "\\u0001"
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out + "\""
    }
}

@Suite("Layouts of JSON text")
struct LayoutTests {
    private static let forms: [Node.JSONForm] = [.export, .value, .keys]

    private func pieces(
        _ node: Node,
        _ form: Node.JSONForm,
        _ layout: Node.JSONLayout,
        size: Int
    ) -> [[UInt8]] {
        var stream = JSONStream(node, form, layout)
        var pieces: [[UInt8]] = []
        var isMore = true
        while isMore {
            var piece: [UInt8] = []
            isMore = stream.next(into: &piece, atLeast: size)
            pieces.append(piece)
        }
        return pieces
    }

    /// The node and some of those below it, which lie in its memory.
    private func samples(_ node: Node) -> [Node] {
        var all = [node]
        node.visitChildren { _, child in
            all.append(child)
            child.visitChildren { _, grandchild in
                all.append(grandchild)
                return all.count.isMultiple(of: 7)
            }
            return all.count < 5
        }
        return all
    }

    @Test(
        "whole and in pieces of any size, every form has the text of its definition",
        arguments: TestSeed.seeds(4)
    )
    func twin(seed: UInt64) throws {
        var source = RandomJSON(random: SeededRandom(seed: seed))
        let node = try Node(json: source.value(depth: 3))
        for sample in samples(node) {
            for form in LayoutTests.forms {
                for isPretty in [false, true] {
                    let layout: Node.JSONLayout = isPretty ? .pretty() : .compact
                    let whole = sample.json(form, layout)
                    let naive = Array(NaiveLayout(form: form, isPretty: isPretty).text(sample).utf8)
                    let isSame = whole == naive
                    try #require(isSame, "seed \(seed), \(form), pretty \(isPretty)")
                    for size in [whole.count < 5_000 ? 1 : 50, 1_000, 16_384] {
                        let joined = Array(pieces(sample, form, layout, size: size).joined())
                        let isJoined = joined == whole
                        try #require(isJoined, "seed \(seed), \(form), pretty \(isPretty), \(size)")
                    }
                }
            }
        }
    }

    @Test("a value that stands in an object is indented as it is there")
    func level() throws {
        let node = try Node(json: #"{"a":{"b":[1,{"c":2}]},"d":{".value":1,".priority":2}}"#)
        let outer = try Node(json: #"{"x":{"y":\#(node.text)}}"#)
        for form in [Node.JSONForm.export, .value] {
            let inner = String(decoding: node.json(form, .pretty(level: 2)), as: UTF8.self)
            let text = String(decoding: outer.json(form, .pretty()), as: UTF8.self)
            #expect(text == "{\n  \"x\" : {\n    \"y\" : \(inner)\n  }\n}")
        }
    }

    @Test("a piece is hardly longer than was asked for, and ends between two scalars")
    func bounds() throws {
        let text = String(repeating: "é,😀", count: 40_000)
        let value = #"{".value":"\#(text)",".priority":"\#(text)"}"#
        let members = (0..<2_000).map { #""k\#($0)":{"n":\#($0)}"# }.joined(separator: ",")
        let json = #"{"a":\#(value),"b":"\#(text)","c":{\#(members)}}"#
        for node in [try Node(json: json), try Node(json: "\"\(text)\"")] {
            for form in [Node.JSONForm.value, .keys] {
                for piece in pieces(node, form, .pretty(), size: 1_000) {
                    #expect(piece.count <= 1_000 + 16 * 1024 + 2_048)
                    #expect(String(validating: piece, as: UTF8.self) != nil)
                }
            }
        }
    }
}
