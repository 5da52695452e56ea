import JSONTree
import Queries

extension QuerySpec {
    /// Bytes of memory that it may hold on to.
    var byteCount: Int {
        [start, end].reduce(128) { sum, bound in
            guard let bound else { return sum }
            var count = bound.value.encodingByteCount
            if case .key(let bytes) = bound.key { count += bytes.count }
            return sum + count
        }
    }

    /// The parameters of the REST API that it is, in one object: `{"orderBy":"$key","limitToLast":5}`; a bound that has
    /// a key is followed by it, as `startKey` or `endKey`.
    var json: JSONValue {
        let order = index.shownText
        let startName = start?.isInclusive == true ? "startAt" : "startAfter"
        let endName = end?.isInclusive == true ? "endAt" : "endBefore"
        return [
            "orderBy": .string(order),
            startName: start.map { .raw($0.value.json(.value)) }, "startKey": start?.jsonOfKey,
            endName: end.map { .raw($0.value.json(.value)) }, "endKey": end?.jsonOfKey,
            side == .first ? "limitToFirst" : "limitToLast": limit.map { .number($0) },
        ]
    }
}

extension QuerySpec.Index {
    /// As `orderBy` of the REST API has it.
    var shownText: String {
        switch self {
        case .key: "$key"
        case .value: "$value"
        case .priority: "$priority"
        case .child(let path): path.wireText
        }
    }
}

extension QuerySpec.Bound {
    fileprivate var jsonOfKey: JSONValue? {
        switch key {
        case nil: nil
        case .minimum: "[MIN_NAME]"
        case .maximum: "[MAX_NAME]"
        case .key(let bytes): .string(String(decoding: bytes, as: UTF8.self))
        }
    }
}
