package import JSONTree
package import Queries

extension QuerySpec {
    /// The query object as requests carry it: sorted keys, no white space; nil when it has no members.
    ///
    ///     {"ein":false,"en":"k","ep":9,"i":"a/b","l":3,"sin":false,"sn":"k","sp":1,"vf":"r"}
    ///
    /// It reads back as an equal query, and equal queries have equal texts.
    package var wireText: [UInt8]? {
        var out: [UInt8] = []
        append(end, "ein", "en", "ep", to: &out)
        switch index {
        case .priority: break
        case .key: Self.append("i", Node(string: ".key"), to: &out)
        case .value: Self.append("i", Node(string: ".value"), to: &out)
        case .child(let path): Self.append("i", Node(string: path.wireText), to: &out)
        }
        if let limit { Self.append("l", Node(integer: Int64(limit)), to: &out) }
        append(start, "sin", "sn", "sp", to: &out)
        if limit != nil {
            let side = side == .first ? "l" : "r"
            Self.append("vf", Node(string: side), to: &out)
        }
        if out.isEmpty { return nil }
        out.append(UInt8(ascii: "}"))
        return out
    }

    private func append(
        _ bound: Bound?,
        _ flagName: String,
        _ keyName: String,
        _ valueName: String,
        to out: inout [UInt8],
    ) {
        guard let bound else { return }
        if !bound.isInclusive { Self.append(flagName, Node(false), to: &out) }
        // A bound by key has no second key.
        if index != .key, let key = bound.key {
            Self.append(keyName, Node(string: key.wireText), to: &out)
        }
        Self.append(valueName, bound.value, to: &out)
    }

    private static func append(_ name: String, _ value: Node, to out: inout [UInt8]) {
        out.append(text: out.isEmpty ? "{\"" : ",\"")
        out.append(text: name)
        out.append(text: "\":")
        value.appendJSON(to: &out, .export)
    }
}

extension QuerySpec.BoundKey {
    fileprivate var wireText: String {
        switch self {
        case .minimum: "[MIN_NAME]"
        case .maximum: "[MAX_NAME]"
        case .key(let bytes): String(decoding: bytes, as: UTF8.self)
        }
    }
}

extension ListenTarget {
    /// The target that a client listens to or reads for a query: a query that loads everything is a
    /// plain listen, with any order.
    package init(_ query: QuerySpec, at path: Path) {
        if query.loadsEverything {
            self.init(path: path)
        } else {
            self.init(exactly: query, at: path)
        }
    }

    /// The complete query, with its order even when it loads everything: the identity of views.
    package init(exactly query: QuerySpec, at path: Path) {
        self.init(path: path, query: query, queryText: query.wireText)
    }
}
