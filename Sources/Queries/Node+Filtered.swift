package import JSONTree

extension Node {
    /// The map of the children that a query selects, each with its priority.
    ///
    /// The result never carries this node's own priority, and is absent when this node is a leaf.
    /// O(1) for a query that loads everything.
    package func filtered(by spec: QuerySpec) -> Node {
        guard isMap else { return .absent }
        if spec.loadsEverything { return settingPriority(.absent) }
        if spec.limit != nil { return selecting(QueryScan(spec, self).keys) }
        var result = Node.absent
        visitChildren { key, child in
            if spec.contains(key: key, child: child) {
                result.set(child, at: Path([Key(key)]))
            }
            return true
        }
        return result
    }

    /// The map of the children with these keys.
    func selecting(_ keys: [Key]) -> Node {
        var result = Node.absent
        for key in keys { result.set(child(key), at: Path([key])) }
        return result
    }
}
