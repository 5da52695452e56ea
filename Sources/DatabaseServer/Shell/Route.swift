import IdentityToolkit
import JSONTree
import Transport

/// What a request's address asks for.
///
///     /.ws                     the wire protocol                /.metrics               numbers
///     /.events                 the plain event protocol
///     /.lp                     the wire protocol by long polling
///     /.settings/rules.json    rules                            /.health/live, ready    probes
///     /.settings/*.json        other settings                   /a/b.json               data at a/b
///     /.simulate               rules simulator
///     /.inspect/*              what the rules have decided, and coverage of them
///     /.accounts/action        the page of links in letters
///     /.samples/*              pages of the sample services
///     /.accounts/*             service accounts and keys    /v1/accounts:*, ...     accounts (`IdentityRoute`)
///     /token                   tokens of service accounts   /.well-known/jwks.json  keys of ID tokens
enum Route: Equatable {
    case webSocket
    case events
    case longPoll
    case live
    case ready
    case metrics
    case rules
    /// The operations on a database as they are done, as an event stream.
    case profile
    case settings(SettingsRoute)
    case simulate
    /// What the rules have decided.
    case inspect(InspectRoute)
    /// All databases in one archive.
    case backup
    /// The names of the databases.
    case databases
    /// A file of JSON from a form, to replace a node.
    case upload(Path)
    /// The emulator hub, in development.
    case hub(HubRoute)
    /// A page of the sample services, or a file of it; empty for the list of them.
    case sample(String)
    /// Accounts, as SDKs know them.
    case identity(IdentityRoute)
    /// Accounts, for administrators and other servers.
    case accounts(AccountsRoute)
    case data(WriteTarget)
    /// A data path with a key that no tree can hold.
    case badPath
    case root
    case unknown

    /// Reads the segments of a path, percent-decoded each by itself, empty ones dropped.
    init(_ segments: [String]) {
        guard segments.first?.utf8.first == UInt8(ascii: ".") else {
            self = segments.isEmpty ? .root : Route.data(in: segments)
            return
        }
        switch segments {
        case [".ws"]: self = .webSocket
        case [".events"]: self = .events
        case [".lp"]: self = .longPoll
        case [".health", "live"]: self = .live
        case [".health", "ready"]: self = .ready
        case [".metrics"]: self = .metrics
        case [".settings", "rules.json"]: self = .rules
        case [".settings", "profile.json"]: self = .profile
        case [".simulate"]: self = .simulate
        case [".inspect", "databases.json"]: self = .databases
        case [".backup"]: self = .backup
        case [".well-known", "jwks.json"]: self = .accounts(.publicKeys)
        case [".accounts", "action"]: self = .identity(.actionPage)
        case _ where segments[0] == ".samples":
            self = .sample(segments.dropFirst().joined(separator: "/"))
        case _ where segments[0] == ".accounts":
            self = AccountsRoute(segments.dropFirst()).map(Route.accounts) ?? .badPath
        case _ where segments[0] == ".inspect":
            self = InspectRoute(segments.dropFirst()).map(Route.inspect) ?? .badPath
        case _ where segments[0] == ".settings":
            self = SettingsRoute(segments.dropFirst()).map(Route.settings) ?? .badPath
        default: self = Route.data(in: segments)
        }
    }

    /// Whether only an admin may use it, and no page of another origin at all.
    var isForAdmins: Bool {
        switch self {
        case .metrics, .rules, .profile, .settings, .simulate, .inspect, .backup, .databases,
            .upload:
            true
        case .accounts(let route): route.isForAdmins
        case .identity(let route): route.method.audience == .administrators
        case .hub, .sample, .webSocket, .events, .longPoll, .live, .ready, .data, .badPath, .root,
            .unknown:
            false
        }
    }

    private static let suffix = ".json"

    private static func data(in segments: [String]) -> Route {
        guard let last = segments.last, last.hasSuffix(suffix) else { return other(segments) }
        let name = String(last.dropLast(suffix.utf8.count))
        let isPriority = name == ".priority"
        guard let path = path(of: segments, and: isPriority ? "" : name) else { return .badPath }
        return .data(WriteTarget(path: path, isPriority: isPriority))
    }

    /// What is no data and not common.
    private static func other(_ segments: [String]) -> Route {
        if let hub = HubRoute(segments) { return .hub(hub) }
        if let identity = IdentityRoute(segments) { return .identity(identity) }
        if segments == ["token"] { return .accounts(.accessToken) }
        guard segments.last == ".upload" else { return .unknown }
        return path(of: segments, and: "").map { .upload($0) } ?? .badPath
    }

    /// The path of all segments but the last one, and the name in that one, if any; nil for one that
    /// no tree can hold. A slash that was encoded within a segment is no separator: no key can hold it.
    private static func path(of segments: [String], and name: String) -> Path? {
        do throws(PathError) {
            var keys: [Key] = []
            keys.reserveCapacity(segments.count)
            for index in 0..<segments.count - 1 { keys.append(try Key(segments[index])) }
            // The value of a node is written and read at the node itself.
            if !name.isEmpty, name != ".value" { keys.append(try Key(name)) }
            return keys.count <= Limits.depth ? Path(keys) : nil
        } catch {
            return nil
        }
    }
}
