/// The rules of an example, written a rule a line, and their rules text:
///
///     /posts/$post .write auth != null       { "rules": { "posts": {
///     /posts .indexOn ["owner"]                "$post": { ".write": "auth != null" },
///                                              ".indexOn": ["owner"] } } }
///
/// `true`, `false` and lists stand for themselves, anything else is an expression without double quotes.
struct LintExample {
    /// A member of an object: a value as JSON text, or an object.
    private struct Member {
        let name: String
        var value: String?
        var members: [Member] = []
    }

    private var top = [Member(name: "rules")]

    private static let lineLength = 96

    init(_ lines: String) {
        for line in lines.split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 2).map { String($0) }
            let isBare = parts[2] == "true" || parts[2] == "false" || parts[2].hasPrefix("[")
            let rule = Member(name: parts[1], value: isBare ? parts[2] : "\"\(parts[2])\"")
            let keys = ["rules"] + parts[0].split(separator: "/").map { String($0) }
            Self.add(rule, at: keys[...], to: &top)
        }
    }

    private static func add(_ rule: Member, at keys: ArraySlice<String>, to list: inout [Member]) {
        guard let key = keys.first else { return list.append(rule) }
        let index = list.firstIndex { $0.name == key } ?? list.count
        if index == list.count { list.append(Member(name: key)) }
        add(rule, at: keys.dropFirst(), to: &list[index].members)
    }

    /// The rules text. An object stands on one line if that is short enough.
    var text: String { Self.text(top, indent: 0, column: 0) }

    private static func text(_ list: [Member], indent: Int, column: Int) -> String {
        let line = "{ " + list.map(line).joined(separator: ", ") + " }"
        if column + line.count <= lineLength { return line }
        let space = String(repeating: " ", count: indent + 2)
        let lines = list.map { member in
            let start = "\(space)\"\(member.name)\": "
            return start
                + (member.value ?? text(member.members, indent: indent + 2, column: start.count))
        }
        return "{\n\(lines.joined(separator: ",\n"))\n\(space.dropLast(2))}"
    }

    private static func line(_ member: Member) -> String {
        let value = member.value ?? "{ " + member.members.map(line).joined(separator: ", ") + " }"
        return "\"\(member.name)\": \(value)"
    }
}
