import TestSupport
/// Makes random rules that load, over a handful of keys.
struct RandomRules {
    var random: SeededGenerator
    /// Whether `newData` may be named.
    private var isWrite = false
    private var captures: [String] = []

    static let keys = ["a", "b", "c"]

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    /// A whole rules text.
    mutating func text() -> String { "{\"rules\":\(node(depth: 3))}" }

    /// A path of up to three keys.
    mutating func path() -> String {
        (0..<random.index(4)).map { _ in RandomRules.keys[random.index(3)] }.joined(separator: "/")
    }

    /// JSON of some data.
    mutating func data(depth: Int = 3) -> String {
        let scalars = [
            "1", "2", "true", "false", "\"a\"", "\"b\"", "\"c\"", "null",
            "{\".value\":1,\".priority\":2}",
        ]
        if depth == 0 || random.index(3) == 0 { return scalars[random.index(scalars.count)] }
        let members = RandomRules.keys.filter { _ in random.index(2) == 0 }
            .map { "\"\($0)\":\(data(depth: depth - 1))" }
        return "{\(members.joined(separator: ","))}"
    }

    private mutating func node(depth: Int) -> String {
        var members: [String] = []
        for kind in [".read", ".write", ".validate"] where random.index(2) == 0 {
            isWrite = kind != ".read"
            members.append("\"\(kind)\":\"\(boolean(depth: 3))\"")
        }
        if depth > 0 {
            for key in RandomRules.keys where random.index(2) == 0 {
                members.append("\"\(key)\":\(node(depth: depth - 1))")
            }
            if random.index(2) == 0 {
                captures.append("$k\(depth)")
                members.append("\"$k\(depth)\":\(node(depth: depth - 1))")
                captures.removeLast()
            }
        }
        return "{\(members.joined(separator: ","))}"
    }

    private mutating func boolean(depth: Int) -> String {
        if depth > 0 {
            switch random.index(8) {
            case 0: return "(\(boolean(depth: depth - 1)) && \(boolean(depth: depth - 1)))"
            case 1: return "(\(boolean(depth: depth - 1)) || \(boolean(depth: depth - 1)))"
            case 2: return "!(\(boolean(depth: depth - 1)))"
            case 3:
                return
                    "(\(boolean(depth: 0)) ? \(boolean(depth: depth - 1)) : \(boolean(depth: 0)))"
            default: break
            }
        }
        let snapshot = snapshot(depth: 3)
        switch random.index(12) {
        case 0, 1: return "\(snapshot).exists()"
        case 2: return "\(snapshot).hasChildren()"
        case 3: return "\(snapshot).hasChildren(['a', 'b/c'])"
        case 4: return "\(snapshot).hasChild('a')"
        case 5: return "\(snapshot).isString()"
        case 6: return "\(snapshot).getPriority() == 2"
        case 7: return "\(snapshot).val() < 2"
        case 8: return "\(snapshot).val() != \(self.snapshot(depth: 1)).val()"
        case 9: return "\(snapshot).val() == 'a'"
        case 10: return "\(snapshot).val() + 'x' != 'ax'"
        default: return "\(snapshot).val() == true"
        }
    }

    private mutating func snapshot(depth: Int) -> String {
        if depth == 0 || random.index(3) == 0 {
            let variables = isWrite ? ["data", "root", "newData"] : ["data", "root"]
            return variables[random.index(variables.count)]
        }
        let base = snapshot(depth: depth - 1)
        switch random.index(6) {
        case 0: return base + ".parent()"
        case 1: return base + ".child(\(snapshot(depth: 1)).val() + '')"
        case 2:
            return base
                + ".child(\(captures.isEmpty ? "'c'" : captures[random.index(captures.count)]))"
        case 3: return base + ".child('b/c')"
        default: return base + ".child('\(RandomRules.keys[random.index(3)])')"
        }
    }
}
