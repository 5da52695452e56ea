import JSONTree
import Queries

/// What `GET /.inspect/search?text=...` asks for.
///
/// A parameter without a value counts as left out, but for the text; unknown ones are ignored.
struct SearchRequest: Sendable {
    let text: String
    private(set) var path = Path.root
    private(set) var part = TreeSearch.Part.both
    var limits = SearchLimits()

    init(_ query: [(name: String, value: String)]) throws(BadRequest) {
        text = query.last { $0.name == "text" }?.value ?? ""
        let byteLimit = InspectionLimits.searchTextByteCount
        guard (1...byteLimit).contains(text.utf8.count) else {
            throw BadRequest("'text' must have from 1 to \(byteLimit) bytes")
        }
        for (name, value) in query where !value.isEmpty {
            switch name {
            case "path": path = try RequestFilter.path(value)
            case "in":
                guard let part = TreeSearch.Part(rawValue: value) else {
                    throw BadRequest("'in' must be keys, values or both")
                }
                self.part = part
            case "limit":
                let range = 1...SearchLimits.highestHitCount
                guard let limit = Int(value), range.contains(limit) else {
                    throw BadRequest("'limit' must be a number from 1 to \(range.upperBound)")
                }
                limits.hitCount = limit
            default: break
            }
        }
    }
}

/// How much one search takes; where one of them is reached, it ends and says so.
struct SearchLimits: Sendable {
    /// Hits.
    var hitCount = 1_000
    /// Bytes of the lines of hits, 8 MiB.
    var byteCount = 8 << 20
    /// Units of work (`TreeSearch.workCount`): some minutes.
    var workCount = 2_000_000_000
    /// Units between two looks at other work of the thread: some 10 ms.
    var sliceWorkCount = 50_000

    static let highestHitCount = 10_000
}

/// A search as the lines of its answer, made slice by slice.
struct SearchRun: Sendable {
    /// Why a search has ended.
    private enum End: String {
        case all, hits, bytes, work
    }

    private var search: TreeSearch
    private let limits: SearchLimits
    private var hitCount = 0
    private var byteCount = 0

    init(_ request: SearchRequest, in node: Node) {
        let pattern = SearchPattern(request.text)
        search = TreeSearch(node, at: request.path, for: pattern, in: request.part)
        limits = request.limits
    }

    /// The lines of the next slice: its hits, then how far it is.
    ///
    ///     {"path":"/users/ann/name","in":"value","value":"Ann"}
    ///     {"looked":412907,"found":1}
    ///     {"looked":412907,"found":1,"end":"all"}
    mutating func next() -> (bytes: [UInt8], isLast: Bool) {
        var lines: [UInt8] = []
        var end: End?
        let (limits, earlier) = (limits, byteCount)
        var hitCount = hitCount
        let work = min(limits.sliceWorkCount, limits.workCount - search.workCount)
        search.advance(work: work) { hit in
            Self.line(of: hit).append(to: &lines)
            lines.append(UInt8(ascii: "\n"))
            hitCount += 1
            if hitCount >= limits.hitCount { end = .hits }
            if earlier + lines.count >= limits.byteCount { end = .bytes }
            return end == nil
        }
        self.hitCount = hitCount
        byteCount += lines.count
        if end == nil, search.isOver { end = .all }
        if end == nil, search.workCount >= limits.workCount { end = .work }
        let progress: JSONValue = [
            "looked": .integer(Int64(search.nodeCount)), "found": .integer(Int64(hitCount)),
            "end": end.map { .string($0.rawValue) },
        ]
        progress.append(to: &lines)
        lines.append(UInt8(ascii: "\n"))
        return (lines, end != nil)
    }

    private static func line(of hit: SearchHit) -> JSONValue {
        [
            "path": .string(hit.path.description), "in": .string(hit.isKey ? "key" : "value"),
            "value": .raw(hit.node.glance(around: hit.offset ?? 0).json()),
        ]
    }
}
