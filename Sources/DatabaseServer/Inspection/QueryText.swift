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

    /// Appends it as the parameters of the REST API, in one object: `{"orderBy":"$key","limitToLast":5}`; a
    /// bound that has a key is followed by it, as `startKey` or `endKey`.
    func appendJSON(to out: inout [UInt8]) {
        out += Array("{\"orderBy\":".utf8)
        switch index {
        case .key: appendJSONString("$key", to: &out)
        case .value: appendJSONString("$value", to: &out)
        case .priority: appendJSONString("$priority", to: &out)
        case .child(let path): appendJSONString(path.wireText, to: &out)
        }
        if let start {
            Self.append(start, start.isInclusive ? "startAt" : "startAfter", "startKey", &out)
        }
        if let end { Self.append(end, end.isInclusive ? "endAt" : "endBefore", "endKey", &out) }
        if let limit {
            let name = side == .first ? "limitToFirst" : "limitToLast"
            out += Array(",\"\(name)\":\(limit)".utf8)
        }
        out.append(UInt8(ascii: "}"))
    }

    private static func append(
        _ bound: Bound,
        _ name: String,
        _ keyName: String,
        _ out: inout [UInt8]
    ) {
        out += Array(",\"\(name)\":".utf8)
        bound.value.appendJSON(to: &out, .value)
        guard let key = bound.key else { return }
        out += Array(",\"\(keyName)\":".utf8)
        switch key {
        case .minimum: appendJSONString("[MIN_NAME]", to: &out)
        case .maximum: appendJSONString("[MAX_NAME]", to: &out)
        case .key(let bytes): appendJSONString(String(decoding: bytes, as: UTF8.self), to: &out)
        }
    }
}
