import SimulatedStorage

/// A client of one engine of a group: what it has asked for, and what it shows.
struct FollowingClient {
    enum Kind: Sendable {
        case wire, events, stream
    }

    /// What a request is for.
    enum Asked {
        /// By the number of the watcher.
        case listen(Int)
        case unlisten(Int)
        case get(NaiveListen)
        case write
        case credential(SimulatedIdentity)
        case signOut
        case other
    }

    /// A listen, and the commit whose state it shows.
    struct Listen {
        var watcher: Watcher
        var commit = 0
    }

    let connection: UInt64
    /// The index of its engine.
    let member: Int
    let kind: Kind
    var identity = SimulatedIdentity.nobody
    /// What has no answer, oldest first, and the commit that the engine had when it was asked.
    var requests: [(number: Int, commit: Int, asked: Asked)] = []
    var listens: [Listen] = []
    var lastNumber = 0
    /// The commit that its engine had when it was last answered.
    var answeredAt = 0
    /// Whether the owner of the group has been asked for something on its behalf.
    var hasAskedOwner = false
    /// Events of one change, by observer, until the change is over.
    private var events: [Int: [JSONText]] = [:]
    private let form: SimulatedClient

    init(connection: UInt64, member: Int, kind: Kind) {
        self.connection = connection
        self.member = member
        self.kind = kind
        let kind: SimulatedClient.Kind = kind == .events ? .events : .wire
        form = SimulatedClient(connection: connection, session: "s\(connection)", kind: kind)
    }

    /// The request as it leaves; its credential, if it is one, names the connection too.
    func text(of request: SimulatedRequest, number: Int) -> [UInt8] {
        var text =
            switch kind {
            case .events: form.eventText(request, number).text(isSorted: false)
            case .wire, .stream: request.wireText(number: number)
            }
        if case .auth(let identity) = request {
            let token = "\(identity.token)@\(connection)"
            text = text.replacing("\"\(identity.token)\"", with: "\"\(token)\"")
        }
        return Array(text.utf8)
    }

    /// Whether a listen may begin: a push without a tag is about all default listens, so there is one.
    func mayListen(_ listen: NaiveListen) -> Bool {
        if kind == .events { return true }
        return !listens.contains { other in
            other.watcher.query == nil
                ? listen.query == nil
                : other.watcher.path == listen.path && other.watcher.query == listen.query
        }
    }

    func watcher(of listen: NaiveListen, number: Int) -> Watcher {
        if kind == .events { return form.watcher(of: listen, number) }
        return Watcher(
            connection: connection,
            number: listen.tag ?? 0,
            kind: .listen,
            path: listen.path,
            query: listen.query
        )
    }

    func index(ofWatcher number: Int) -> Int? {
        listens.firstIndex { $0.watcher.number == number }
    }

    /// Whether it is an event stream that was asked for and has not begun.
    var isBeginning: Bool { kind == .stream && !listens.allSatisfy(\.watcher.isConfirmed) }

    /// Takes an event of an observer.
    mutating func take(_ event: JSONText, _ number: Int) {
        events[number, default: []].append(event)
    }

    /// All events of a change are there.
    mutating func endChange() throws(SimulationFault) {
        for number in events.keys.sorted() {
            guard let index = index(ofWatcher: number) else { continue }
            try listens[index].watcher.take(events[number] ?? [])
        }
        events = [:]
    }
}
