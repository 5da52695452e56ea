import JSONTree
import Transport

/// What a request's address asks for.
///
///     /.ws                     the wire protocol                /.metrics               numbers
///     /.events                 the plain event protocol
///     /.settings/rules.json    rules                            /.health/live, ready    probes
///     /.simulate               rules simulator                  /a/b.json               data at a/b
enum Route: Equatable {
    case webSocket
    case events
    case live
    case ready
    case metrics
    case rules
    case simulate
    case data(WriteTarget)
    /// A data path with a key that no tree can hold.
    case badPath
    case root
    case unknown

    /// Reads the segments of a path, percent-decoded each by itself, empty ones dropped.
    init(_ segments: [String]) {
        switch segments {
        case []: self = .root
        case [".ws"]: self = .webSocket
        case [".events"]: self = .events
        case [".health", "live"]: self = .live
        case [".health", "ready"]: self = .ready
        case [".metrics"]: self = .metrics
        case [".settings", "rules.json"]: self = .rules
        case [".simulate"]: self = .simulate
        default: self = Route.data(in: segments)
        }
    }

    /// Whether only an admin may use it, and no page of another origin at all.
    var isForAdmins: Bool {
        switch self {
        case .metrics, .rules, .simulate: true
        case .webSocket, .events, .live, .ready, .data, .badPath, .root, .unknown: false
        }
    }

    private static let suffix = ".json"

    private static func data(in segments: [String]) -> Route {
        guard let last = segments.last, last.hasSuffix(suffix) else { return .unknown }
        var names = segments.dropLast()
        let name = String(last.dropLast(suffix.count))
        let isPriority = name == ".priority"
        if !name.isEmpty, !isPriority { names.append(name) }
        // A slash that was encoded within a segment is no separator: no key can hold it.
        do throws(PathError) {
            var path = Path.root
            for name in names { path = path.appending(try Key(name)) }
            if path.keyCount > Limits.depth { return .badPath }
            return .data(WriteTarget(path: path, isPriority: isPriority))
        } catch {
            return .badPath
        }
    }
}
