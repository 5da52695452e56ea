package import JSONTree

extension NaiveNode {
    /// The first place where the tree's node is not this one, in words; nil when there is none.
    package func difference(in node: Node, at path: NaivePath = []) -> String? {
        let place = "/" + path.map { String($0.prefix(40)) }.joined(separator: "/")
        guard Self.isSame(priority, node.priority) else { return "\(place) has another priority" }
        if children.isEmpty {
            let isSame = node.isMap ? false : Self.isSame(leaf, node)
            return isSame ? nil : "\(place) has another value"
        }
        guard node.childCount == children.count else {
            return "\(place) has \(node.childCount) children, not \(children.count)"
        }
        var found: String?
        node.visitChildren { key, child in
            let key = Key(key).string
            guard let own = children[key] else {
                found = "\(place)/\(key.prefix(40)) is there"
                return false
            }
            found = own.difference(in: child, at: path + [key])
            return found == nil
        }
        return found
    }

    private static func isSame(_ leaf: Leaf?, _ node: Node) -> Bool {
        switch leaf {
        case nil: node.isAbsent
        case .boolean(let flag): node.boolean == flag
        case .number(let number): node.number == number
        // Texts that are one but for their form differ in length.
        case .string(let text):
            node.string.map { $0 == text && $0.utf8.count == text.utf8.count } ?? false
        case .timestamp, .increment: false
        }
    }
}
