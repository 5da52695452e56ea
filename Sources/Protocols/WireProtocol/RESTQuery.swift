package import JSONTree
package import Queries

/// What the query parameters of a REST read select.
package struct RESTQuery: Equatable, Sendable {
    /// The query; nil when everything is read.
    package let spec: QuerySpec?

    /// Whether `shallow=true` was given: of each child only the key.
    package let isShallow: Bool

    /// Reads the parameters that select children: `orderBy`, `startAt`, `startAfter`, `endAt`,
    /// `endBefore`, `equalTo`, `limitToFirst`, `limitToLast` and `shallow`; all others are ignored.
    ///
    /// Names and values are percent-decoded, in order. A `RESTQueryError` is to be answered with
    /// status 400 and its text.
    package static func parse(
        _ parameters: [(name: String, value: String)]
    ) throws(RESTQueryError) -> RESTQuery {
        let given = try Given(parameters)
        if given.isShallow {
            return RESTQuery(spec: try given.shallowSpec(), isShallow: true)
        }
        guard let orderBy = given.values["orderBy"] else {
            if given.values.isEmpty { return RESTQuery(spec: nil, isShallow: false) }
            throw .orderByMissing
        }
        let index = try Given.index(orderBy)
        let (start, end) = try given.bounds(index)
        let (limit, side) = try given.limit()
        let spec = QuerySpec(index: index, start: start, end: end, limit: limit, side: side)
        return RESTQuery(spec: spec, isShallow: false)
    }
}

/// Why query parameters are refused.
package enum RESTQueryError: Error, Equatable, Sendable {
    /// Parameters that need an order are given without one.
    case orderByMissing
    /// `orderBy` is not a JSON string that names an index.
    case orderByInvalid
    /// A bound is no JSON scalar, optionally followed by a comma and a JSON string.
    case boundNotPrimitive
    /// A bound of `orderBy="$key"` is not a string.
    case keyBoundNotString
    /// `shallow` together with parameters that need an order.
    case shallowMixed
    /// A limit is not a positive whole number.
    case limitInvalid(parameter: String)
    /// Two parameters that exclude each other.
    case conflict(String, String)
    /// A parameter is given twice.
    case repeated(parameter: String)
}

extension RESTQueryError: CustomStringConvertible {
    /// The `error` member of the answer; texts as the Firebase REST API has them.
    package var description: String {
        switch self {
        case .orderByMissing: "orderBy must be defined when other query parameters are defined"
        case .orderByInvalid: "orderBy must be a valid JSON encoded path"
        case .boundNotPrimitive: "Constraint index field must be a JSON primitive"
        case .keyBoundNotString: "Provided key index type is invalid, must be string"
        case .shallowMixed: "Mixing 'shallow' and querying parameters is not supported"
        case .limitInvalid(let parameter): "\(parameter) must be a positive integer"
        case .conflict(let first, let second): "\(first) cannot be combined with \(second)"
        case .repeated(let parameter): "\(parameter) is given more than once"
        }
    }
}

extension QuerySpec {
    /// The error text for a read that uses an index the rules do not declare.
    ///
    /// - Parameter path: the queried node.
    /// - Returns: nil for the key and priority indexes, which need no declaration.
    package func missingIndexText(at path: Path) -> String? {
        let name: String
        switch index {
        case .key, .priority: return nil
        case .value: name = ".value"
        case .child(let child): name = child.wireText
        }
        return #"Index not defined, add ".indexOn": "\#(name)", for path "\#(path)", to the rules"#
    }
}

/// The parameters of one request, by name.
private struct Given {
    /// The selecting parameters that were given; `shallow` is not among them.
    var values: [String: String] = [:]
    var isShallow = false

    private static let names: Set<String> = [
        "orderBy", "startAt", "startAfter", "endAt", "endBefore", "equalTo", "limitToFirst",
        "limitToLast",
    ]

    init(_ parameters: [(name: String, value: String)]) throws(RESTQueryError) {
        for (name, value) in parameters {
            if name == "shallow" { isShallow = value == "true" }
            guard Self.names.contains(name) else { continue }
            guard values.updateValue(value, forKey: name) == nil else {
                throw .repeated(parameter: name)
            }
        }
    }

    /// A shallow read may page through keys, which is what the official tools do.
    func shallowSpec() throws(RESTQueryError) -> QuerySpec? {
        if values.isEmpty { return nil }
        for name in ["orderBy", "startAt", "endAt", "endBefore", "equalTo"]
        where values[name] != nil { throw .shallowMixed }
        var start: QuerySpec.Bound?
        if let text = values["startAfter"] {
            start = QuerySpec.Bound(value: Self.keyNode(text), isInclusive: false)
        }
        let (limit, side) = try limit()
        return QuerySpec(index: .key, start: start, limit: limit, side: side)
    }

    /// A key as the tools send it: bare, or as a JSON string.
    private static func keyNode(_ text: String) -> Node {
        let values = BoundText.scalars(text)
        if let value = values?.first, values?.count == 1, value.string != nil { return value }
        return Node(string: text)
    }

    static func index(_ text: String) throws(RESTQueryError) -> QuerySpec.Index {
        let values = BoundText.scalars(text)
        guard let name = values?.first?.string, values?.count == 1 else { throw .orderByInvalid }
        switch name {
        case "$key": return .key
        case "$value": return .value
        case "$priority": return .priority
        default: return .child(try childPath(name))
        }
    }

    private static func childPath(_ name: String) throws(RESTQueryError) -> Path {
        do {
            let path = try Path(name)
            if !path.isRoot { return path }
        } catch {
            // The text of the answer is fixed: it does not say which key is wrong.
            throw .orderByInvalid
        }
        throw .orderByInvalid
    }

    func bounds(
        _ index: QuerySpec.Index
    ) throws(RESTQueryError) -> (start: QuerySpec.Bound?, end: QuerySpec.Bound?) {
        for (one, other) in [("startAt", "startAfter"), ("endAt", "endBefore")]
        where values[one] != nil && values[other] != nil { throw .conflict(one, other) }
        if let equal = try bound("equalTo", index, isInclusive: true, keyless: nil) {
            for other in ["startAt", "startAfter", "endAt", "endBefore"]
            where values[other] != nil { throw .conflict("equalTo", other) }
            return (equal, equal)
        }
        let startAt = try bound("startAt", index, isInclusive: true, keyless: nil)
        let after = try bound("startAfter", index, isInclusive: false, keyless: .maximum)
        let endAt = try bound("endAt", index, isInclusive: true, keyless: nil)
        let before = try bound("endBefore", index, isInclusive: false, keyless: .minimum)
        return (startAt ?? after, endAt ?? before)
    }

    /// Reads a bound.
    ///
    /// `keyless` is the key of a bound that has none: what is after a value is after all children with that value.
    private func bound(
        _ name: String,
        _ index: QuerySpec.Index,
        isInclusive: Bool,
        keyless: QuerySpec.BoundKey?,
    ) throws(RESTQueryError) -> QuerySpec.Bound? {
        guard let text = values[name] else { return nil }
        guard let parts = BoundText.scalars(text), let value = parts.first, parts.count <= 2 else {
            throw .boundNotPrimitive
        }
        if index == .key {
            guard value.string != nil else { throw .keyBoundNotString }
            return QuerySpec.Bound(value: value, isInclusive: isInclusive)
        }
        guard parts.count == 2 else {
            return QuerySpec.Bound(value: value, key: keyless, isInclusive: isInclusive)
        }
        guard let key = parts[1].string else { throw .boundNotPrimitive }
        return QuerySpec.Bound(value: value, key: .key(Array(key.utf8)), isInclusive: isInclusive)
    }

    func limit() throws(RESTQueryError) -> (limit: Int?, side: QuerySpec.Side) {
        let first = try Self.limit("limitToFirst", values["limitToFirst"])
        let last = try Self.limit("limitToLast", values["limitToLast"])
        if first != nil && last != nil { throw .conflict("limitToFirst", "limitToLast") }
        return (first ?? last, last == nil ? .first : .last)
    }

    private static func limit(_ name: String, _ text: String?) throws(RESTQueryError) -> Int? {
        guard let text else { return nil }
        let isDigits = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard isDigits, let limit = Int(text), limit > 0 else {
            throw .limitInvalid(parameter: name)
        }
        return limit
    }
}

/// JSON scalars with commas between.
private enum BoundText {
    /// The scalars of a text; nil when it is anything else.
    static func scalars(_ text: String) -> [Node]? {
        // As the elements of a list the scalars are what the scanner knows how to read.
        Array("[\(text)]".utf8).withBytes { bytes in
            do { return try read(bytes) } catch { return nil }
        }
    }

    private static func read(_ list: Bytes) throws(JSONError) -> [Node]? {
        var scanner = JSONScanner(list)
        var nodes: [Node] = []
        try scanner.enterArray()
        while try scanner.nextElement() {
            let byte = try scanner.peek()
            if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") { return nil }
            nodes.append(try scanner.readNode(anyKeys: false))
        }
        try scanner.expectEnd()
        return nodes
    }
}
