package import JSONTree
package import Queries
import WireProtocol

/// Why a query of the plain event protocol is refused; the text is for people.
package struct EventQueryError: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }

    fileprivate init(_ error: JSONError) {
        description = "a query is not as expected: \(FaultText.json(error.reason))"
    }
}

extension QuerySpec {
    /// Reads a query as the plain event protocol and the rules simulator write it.
    ///
    ///     {"orderByChild":"a/b" | "orderByKey":true | "orderByValue":true | "orderByPriority":true,
    ///      "startAt" | "startAfter" | "endAt" | "endBefore" | "equalTo": scalar | {"value":v,"key":k},
    ///      "limitToFirst":n | "limitToLast":n}
    ///
    /// - Throws: `EventQueryError` for anything else: unknown members, two orders, two limits, bounds
    ///   that exclude each other or that nothing in the order can be equal to, a limit out of range.
    package init(eventQuery text: Bytes) throws(EventQueryError) {
        guard text.count <= EventLimits.queryByteCount else {
            throw EventQueryError("a query has at most \(EventLimits.queryByteCount) bytes")
        }
        var reader = EventQueryReader(text)
        try reader.read()
        self = try reader.spec()
    }

    /// Reads a query from bytes that are owned.
    ///
    /// - Throws: `EventQueryError`, as the reading of borrowed bytes does.
    package init(eventQuery text: [UInt8]) throws(EventQueryError) {
        self = try text.withBytes { (bytes) throws(EventQueryError) in
            try QuerySpec(eventQuery: bytes)
        }
    }
}

/// Reads the members of a query.
private struct EventQueryReader {
    private enum BoundName: String {
        case startAt, startAfter, endAt, endBefore, equalTo

        var isInclusive: Bool { self != .startAfter && self != .endBefore }
    }

    private var scanner: JSONScanner
    private var index: QuerySpec.Index?
    private var bounds: [BoundName: QuerySpec.Bound] = [:]
    private var limit: (count: Int, side: QuerySpec.Side)?

    init(_ text: Bytes) {
        scanner = JSONScanner(text)
    }

    mutating func read() throws(EventQueryError) {
        guard try nextByte() == UInt8(ascii: "{") else {
            throw EventQueryError("a query is an object")
        }
        try scan { scanner throws(JSONError) in try scanner.enterObject() }
        while let name = try member() {
            switch name {
            case "orderByChild", "orderByKey", "orderByValue", "orderByPriority":
                if index != nil { throw EventQueryError("a query has one order") }
                index = try order(name)
            case "limitToFirst": try readLimit(name, .first)
            case "limitToLast": try readLimit(name, .last)
            default:
                guard let bound = BoundName(rawValue: name) else {
                    throw EventQueryError("unknown member \(FaultText.quoted(name))")
                }
                if bounds[bound] != nil { throw EventQueryError("\(name) is given twice") }
                bounds[bound] = try readBound(bound)
            }
        }
        try scan { scanner throws(JSONError) in try scanner.expectEnd() }
    }

    private mutating func order(_ name: String) throws(EventQueryError) -> QuerySpec.Index {
        if name == "orderByChild" {
            guard let text = try string() else {
                throw EventQueryError("orderByChild takes a path")
            }
            do throws(PathError) {
                let path = try Path(text)
                if path.isRoot { throw PathError.emptyKey }
                return .child(path)
            } catch {
                throw EventQueryError("orderByChild takes a path: \(FaultText.path(error))")
            }
        }
        guard try scalar()?.boolean == true else { throw EventQueryError("\(name) takes true") }
        return name == "orderByKey" ? .key : name == "orderByValue" ? .value : .priority
    }

    private mutating func readLimit(
        _ name: String,
        _ side: QuerySpec.Side
    ) throws(EventQueryError) {
        if limit != nil { throw EventQueryError("a query has one limit") }
        guard let number = try scalar()?.integer, let count = Int(exactly: number), count > 0,
            count <= EventLimits.queryLimit
        else {
            throw EventQueryError(
                "\(name) takes a whole number from 1 to \(EventLimits.queryLimit)"
            )
        }
        limit = (count, side)
    }

    private mutating func readBound(_ name: BoundName) throws(EventQueryError) -> QuerySpec.Bound {
        if let value = try scalar() {
            return QuerySpec.Bound(value: value, isInclusive: name.isInclusive)
        }
        let shape = EventQueryError("\(name) takes a scalar or {\"value\":scalar,\"key\":string}")
        guard try nextByte() == UInt8(ascii: "{") else { throw shape }
        try scan { scanner throws(JSONError) in try scanner.enterObject() }
        var value: Node?
        var key: String?
        while let member = try member() {
            switch member {
            case "value" where value == nil:
                guard let scalar = try scalar() else { throw shape }
                value = scalar
            case "key" where key == nil:
                guard let string = try string() else { throw shape }
                key = string
            case "value", "key": throw EventQueryError("\(member) is given twice in \(name)")
            default: throw EventQueryError("unknown member \(FaultText.quoted(member)) in \(name)")
            }
        }
        guard let value, let key else { throw shape }
        return QuerySpec.Bound(
            value: value,
            key: .key(Array(key.utf8)),
            isInclusive: name.isInclusive
        )
    }

    // MARK: - The query

    func spec() throws(EventQueryError) -> QuerySpec {
        if bounds[.startAt] != nil && bounds[.startAfter] != nil {
            throw EventQueryError("startAt and startAfter exclude each other")
        }
        if bounds[.endAt] != nil && bounds[.endBefore] != nil {
            throw EventQueryError("endAt and endBefore exclude each other")
        }
        if bounds[.equalTo] != nil && bounds.count > 1 {
            throw EventQueryError("equalTo excludes other bounds")
        }
        var start = bounds[.equalTo] ?? bounds[.startAt] ?? bounds[.startAfter]
        var end = bounds[.equalTo] ?? bounds[.endAt] ?? bounds[.endBefore]
        let index = index ?? .priority
        for bound in [start, end] { if let bound { try check(bound, index) } }
        // Without a key, `after` means after every child with that value.
        if index != .key {
            if start?.isInclusive == false, start?.key == nil { start?.key = .maximum }
            if end?.isInclusive == false, end?.key == nil { end?.key = .minimum }
        }
        return QuerySpec(
            index: index,
            start: start,
            end: end,
            limit: limit?.count,
            side: limit?.side ?? .first,
        )
    }

    /// Checks that something in the order can be equal to a bound.
    private func check(_ bound: QuerySpec.Bound, _ index: QuerySpec.Index) throws(EventQueryError) {
        switch index {
        case .key:
            if bound.value.string == nil {
                throw EventQueryError("a bound is a string when ordered by key")
            }
            if bound.key != nil {
                throw EventQueryError("a bound has no key beside it when ordered by key")
            }
        case .priority:
            if bound.value.boolean != nil {
                throw EventQueryError(
                    "a bound is a number, a string or null when ordered by priority"
                )
            }
        case .value, .child: break
        }
    }

    // MARK: - Reading

    /// Reads on; what the scanner refuses is a fault of the query.
    private mutating func scan<T>(
        _ read: (inout JSONScanner) throws(JSONError) -> T
    ) throws(EventQueryError) -> T {
        do throws(JSONError) { return try read(&scanner) } catch { throw EventQueryError(error) }
    }

    private mutating func nextByte() throws(EventQueryError) -> UInt8 {
        try scan { scanner throws(JSONError) in try scanner.peek() }
    }

    private mutating func member() throws(EventQueryError) -> String? {
        try scan { scanner throws(JSONError) in try scanner.nextMember() }
    }

    private mutating func string() throws(EventQueryError) -> String? {
        guard try nextByte() == UInt8(ascii: "\"") else { return nil }
        return try scan { scanner throws(JSONError) in try scanner.readString() }
    }

    /// A scalar or null; nil, consuming nothing, for an object or a list.
    private mutating func scalar() throws(EventQueryError) -> Node? {
        let byte = try nextByte()
        if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") { return nil }
        return try scan { scanner throws(JSONError) in try scanner.readNode(anyKeys: false) }
    }
}
