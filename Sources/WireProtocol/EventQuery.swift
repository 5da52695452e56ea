import JSONTree
package import Queries

/// Why a query of the plain event protocol is refused; the text is for people.
package struct EventQueryError: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String
}

extension QuerySpec {
    /// Reads a query as the plain event protocol and the rules simulator write it.
    ///
    ///     {"orderByChild":"a/b" | "orderByKey":true | "orderByValue":true | "orderByPriority":true,
    ///      "startAt" | "startAfter" | "endAt" | "endBefore" | "equalTo": scalar | {"value":v,"key":k},
    ///      "limitToFirst":n | "limitToLast":n}
    ///
    /// - Throws: `EventQueryError` for anything else: unknown members, two orders, two limits, bounds
    ///   that exclude each other, a limit that is not positive.
    package init(eventQuery text: [UInt8]) throws(EventQueryError) {
        var parts = EventQueryParts()
        do throws(ReadingStop) {
            try text.withBytes { bytes throws(ReadingStop) in
                var reader = MemberReader(bytes, 0..<bytes.count)
                try parts.read(&reader)
                try reader.expectEnd()
            }
        } catch {
            switch error {
            case .body(let text): throw EventQueryError(description: text)
            case .json(let fault):
                throw EventQueryError(description: "not JSON as expected: \(fault.reason)")
            case .envelope(let fault): throw EventQueryError(description: "\(fault)")
            }
        }
        self = try parts.spec()
    }
}

/// The members of a query as they stand there.
private struct EventQueryParts {
    private var index: QuerySpec.Index?
    private var bounds: [String: QuerySpec.Bound] = [:]
    private var limit: (count: Int, side: QuerySpec.Side)?

    mutating func read(_ reader: inout MemberReader) throws(ReadingStop) {
        guard try reader.enterObject() else { throw .body("a query is an object") }
        while let name = try reader.nextMember() {
            switch name {
            case "orderByChild", "orderByKey", "orderByValue", "orderByPriority":
                try readOrder(&reader, name)
            case "startAt", "startAfter", "endAt", "endBefore", "equalTo":
                if bounds[name] != nil { throw .body("\(name) is given twice") }
                bounds[name] = try Self.bound(&reader, name)
            case "limitToFirst": try readLimit(&reader, name, .first)
            case "limitToLast": try readLimit(&reader, name, .last)
            default: throw .body("unknown member '\(name)'")
            }
        }
    }

    private mutating func readOrder(
        _ reader: inout MemberReader,
        _ name: String
    ) throws(ReadingStop) {
        if index != nil { throw .body("a query has one order") }
        if name == "orderByChild" {
            guard let text = try reader.string() else { throw .body("orderByChild takes a path") }
            do throws(PathError) {
                let path = try Path(text)
                if path.isRoot { throw PathError.emptyKey }
                index = .child(path)
            } catch {
                throw .body("orderByChild takes a path: \(FaultText.of(error))")
            }
            return
        }
        guard try reader.boolean() == true else { throw .body("\(name) takes true") }
        index = name == "orderByKey" ? .key : name == "orderByValue" ? .value : .priority
    }

    private mutating func readLimit(
        _ reader: inout MemberReader,
        _ name: String,
        _ side: QuerySpec.Side
    ) throws(ReadingStop) {
        if limit != nil { throw .body("a query has one limit") }
        guard let number = try reader.integer(), let count = Int(exactly: number), count > 0 else {
            throw .body("\(name) takes a positive whole number")
        }
        limit = (count, side)
    }

    private static func bound(
        _ reader: inout MemberReader,
        _ name: String
    ) throws(ReadingStop) -> QuerySpec.Bound {
        let isInclusive = name != "startAfter" && name != "endBefore"
        if let (node, _) = try reader.scalar() {
            return QuerySpec.Bound(value: node, isInclusive: isInclusive)
        }
        guard try reader.enterObject() else { throw .body("\(name) takes a scalar or an object") }
        var value: Node?
        var key: String?
        while let member = try reader.nextMember() {
            switch member {
            case "value": value = try reader.scalar()?.node
            case "key": key = try reader.string()
            default: throw .body("unknown member '\(member)' in \(name)")
            }
        }
        guard let value, let key else { throw .body("\(name) takes {\"value\":v,\"key\":k}") }
        return QuerySpec.Bound(value: value, key: .key(Array(key.utf8)), isInclusive: isInclusive)
    }

    func spec() throws(EventQueryError) -> QuerySpec {
        for pair in [("startAt", "startAfter"), ("endAt", "endBefore")]
        where bounds[pair.0] != nil && bounds[pair.1] != nil {
            throw EventQueryError(description: "\(pair.0) and \(pair.1) exclude each other")
        }
        if let equal = bounds["equalTo"] {
            if bounds.count > 1 {
                throw EventQueryError(description: "equalTo excludes other bounds")
            }
            return spec(from: equal, to: equal)
        }
        var start = bounds["startAt"] ?? bounds["startAfter"]
        var end = bounds["endAt"] ?? bounds["endBefore"]
        // Without a key, `after` means after every child with that value.
        if start?.isInclusive == false, start?.key == nil { start?.key = .maximum }
        if end?.isInclusive == false, end?.key == nil { end?.key = .minimum }
        return spec(from: start, to: end)
    }

    private func spec(from start: QuerySpec.Bound?, to end: QuerySpec.Bound?) -> QuerySpec {
        QuerySpec(
            index: index ?? .priority,
            start: start,
            end: end,
            limit: limit?.count,
            side: limit?.side ?? .first,
        )
    }
}
