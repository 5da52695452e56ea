import JSONTree
import Queries
import WireProtocol

@testable import SyncCore

/// A client, its server, and a network between them that can be cut.
final class ClientWorld {
    let client: SyncClient
    var server: ClientServer
    /// The client's clock, 1000 seconds behind the server's.
    var now = Timestamp(milliseconds: 4_000_000)
    /// Whether sockets can be opened.
    var isReachable: Bool
    /// Whether the server answers as soon as a request arrives.
    var answersAtOnce = true
    /// Who is signed in: the answer to `fetchToken`.
    var token: String?

    /// What the app was notified of, in words.
    private(set) var reported: [String] = []
    /// How calls ended.
    private(set) var outcomes: [CallID: [Outcome]] = [:]
    private(set) var warnings: [Warning] = []
    private(set) var stored: [StoreChange] = []
    /// What a disk cache would hold.
    private(set) var disk = StoredState()

    private var inputs: [Input] = []
    private var socket: SocketID?
    private var wakeTime: Timestamp?
    private var lastCall: UInt64 = 0
    private var lastObserver: UInt64 = 0

    init(
        _ json: String = "null",
        isReachable: Bool = true,
        isStored: Bool = false,
        restoring state: StoredState? = nil,
    ) throws {
        server = try ClientServer(json)
        disk = state ?? StoredState()
        self.isReachable = isReachable
        let address = LinkAddress(host: "localhost:9000", isSecure: false, namespace: "demo")
        client = SyncClient(
            SyncOptions(address: address, agent: "sdk.swift.1-0-0", seed: 1, isStored: isStored)
        )
        if let state { try take(.restored(state)) }
    }

    // MARK: Time and network

    /// Gives an input, and all that follows from it.
    func take(_ input: Input) throws {
        inputs.append(input)
        try drain()
    }

    private func drain() throws {
        while !inputs.isEmpty {
            let next = inputs.removeFirst()
            var effects: [Effect] = []
            client.step(next, now: now, effects: &effects)
            for effect in effects { try perform(effect) }
            if inputs.isEmpty, answersAtOnce { answerOne() }
        }
    }

    /// The server answers all that waits, or as many requests as said.
    func answer(_ count: Int = .max) throws {
        var rest = count
        while rest > 0, !server.waiting.isEmpty {
            rest -= 1
            answerOne()
            try drain()
        }
    }

    /// The connection is lost, and no other can be made.
    func disconnect() throws {
        isReachable = false
        guard let socket else { return }
        self.socket = nil
        server.lose()
        try take(.closed(socket, reason: "cut"))
    }

    /// A connection can be made again, and is.
    func connect() throws {
        isReachable = true
        for _ in 0..<100 where socket == nil { try wake() }
    }

    /// The time has come that the client waits for.
    func wake() throws {
        guard let time = wakeTime else { return }
        wakeTime = nil
        now = max(now, time)
        try take(.woke)
    }

    /// Another client writes.
    func push(_ path: String, _ json: String) throws {
        for message in server.write(try Path(path), try Node(json: json)) { push(message) }
        try drain()
    }

    private func answerOne() {
        for message in server.answer() ?? [] { push(message) }
    }

    private func push(_ message: ServerMessage) {
        guard let socket else { return }
        inputs.append(.received(socket, frame: message.encoded()))
    }

    private func perform(_ effect: Effect) throws {
        switch effect {
        case .open(let id, _): open(id)
        case .send(let id, let frames):
            if id == socket { for frame in frames { try server.receive(frame) } }
        case .close(let id):
            if id != socket { return }
            socket = nil
            server.lose()
        case .wake(let time): wakeTime = time
        case .fetchToken:
            inputs.append(.tokenFetched(token.map { .token($0) } ?? .noUser))
        case .tell(let observer, let event): reported.append("\(observer.value) \(event.words)")
        case .finish(let call, let outcome):
            outcomes[call, default: []].append(outcome)
            reported.append("call \(call.value) \(outcome.words)")
        case .store(let change):
            stored.append(change)
            disk.apply(change)
        case .warn(.notConnected), .warn(.connectionLost): break
        case .warn(let warning): warnings.append(warning)
        }
    }

    private func open(_ id: SocketID) {
        if !isReachable {
            inputs.append(.closed(id, reason: "unreachable"))
            return
        }
        socket = id
        inputs.append(.opened(id))
        push(.hello(now: server.now, host: "localhost:9000", session: "s\(id.value)"))
    }
}

// MARK: What an app does

extension ClientWorld {
    func call() -> CallID {
        lastCall += 1
        return CallID(lastCall)
    }

    @discardableResult
    func observe(_ path: String, _ kinds: ObservedKinds = .value) throws -> ObserverID {
        try observe(ListenTarget(path: Path(path)), kinds)
    }

    @discardableResult
    func observe(_ target: ListenTarget, _ kinds: ObservedKinds = .value) throws -> ObserverID {
        lastObserver += 1
        let id = ObserverID(lastObserver)
        try take(.call(.observe(Observer(id: id, target: target, kinds: kinds))))
        return id
    }

    @discardableResult
    func set(_ target: String, _ json: String) throws -> CallID {
        let call = call()
        try take(.call(.set(WriteTarget(target), Draft(json: Array(json.utf8)), call)))
        return call
    }

    @discardableResult
    func update(_ path: String, _ places: [(String, String)]) throws -> CallID {
        let call = call()
        let path = try Path(path)
        let entries = try places.map { place, json in
            let below = try WriteTarget(place)
            let target = WriteTarget(
                path: path.appending(below.path),
                isPriority: below.isPriority
            )
            return MergeEntry(target: target, draft: try Draft(json: Array(json.utf8)))
        }
        try take(.call(.update(path, entries, call)))
        return call
    }

    @discardableResult
    func get(_ path: String) throws -> CallID {
        let call = call()
        try take(.call(.get(ListenTarget(path: Path(path)), call)))
        return call
    }

    @discardableResult
    func onDisconnect(_ target: String, _ json: String) throws -> CallID {
        let call = call()
        try take(.call(.onDisconnectSet(WriteTarget(target), Draft(json: Array(json.utf8)), call)))
        return call
    }

    /// Runs a transaction; `update` is given the node and makes JSON text, or gives up.
    @discardableResult
    func transact(
        _ path: String,
        appliesLocally: Bool = true,
        _ update: @escaping @Sendable (Node) -> String?,
    ) throws -> CallID {
        let call = call()
        let request = TransactionRequest(
            path: try Path(path),
            appliesLocally: appliesLocally,
            call: call
        ) { node in
            guard let json = update(node) else { return nil }
            do {
                return try Draft(json: Array(json.utf8))
            } catch {
                preconditionFailure("a test writes JSON")
            }
        }
        try take(.call(.runTransaction(request)))
        return call
    }

    /// How a call ended, in words; all endings, should there be more than one.
    func outcome(_ call: CallID) -> String {
        let endings = outcomes[call] ?? []
        return endings.isEmpty ? "open" : endings.map(\.words).joined(separator: " and ")
    }

    /// What was reported since this was asked last.
    func news() -> [String] {
        defer { reported = [] }
        return reported
    }
}

// MARK: Words

extension ObservedEvent {
    var words: String {
        switch self {
        case .value(let node): "value \(node.text)"
        case .child(let event): "\(event.kind) \(event.key) \(event.node.text)"
        case .cancelled(let failure): "cancelled \(failure.words)"
        }
    }
}

extension Outcome {
    var words: String {
        switch self {
        case .done: "done"
        case .value(let node): "value \(node.text)"
        case .transaction(let isCommitted, let node):
            "\(isCommitted ? "committed" : "gave up") \(node.text)"
        case .failed(let failure): failure.words
        }
    }
}

extension SyncFailure {
    var words: String {
        switch self {
        case .refused(let status, _): "refused \(status)"
        case .disconnected: "disconnected"
        case .tooManyRetries: "too many retries"
        case .overriddenBySet: "overridden"
        case .writeCancelled: "cancelled"
        case .offline: "offline"
        }
    }
}

// MARK: Disk

extension StoredState {
    /// Does what a disk cache does.
    mutating func apply(_ change: StoreChange) {
        switch change {
        case .saveWrite(let id, let write): writes.append((id, write))
        case .removeWrite(let id): writes.removeAll { $0.id == id }
        case .saveListen(let target, let node): save(target, node)
        case .saveChildren(let target, let children):
            guard var node = listens.first(where: { $0.target == target })?.node else { return }
            for (key, child) in children { node.set(child, at: Path([key])) }
            save(target, node)
        case .useListen(let target, let isActive):
            guard let node = listens.first(where: { $0.target == target })?.node else { return }
            listens.removeAll { $0.target == target }
            listens.append(StoredListen(target: target, node: node, isActive: isActive))
        case .removeListen(let target): listens.removeAll { $0.target == target }
        case .removeAll: (writes, listens) = ([], [])
        case .account(let account): self.account = account
        }
    }

    private mutating func save(_ target: ListenTarget, _ node: Node) {
        let listen = StoredListen(target: target, node: node, isActive: true)
        if let index = listens.firstIndex(where: { $0.target == target }) {
            listens[index] = listen
        } else {
            listens.append(listen)
        }
    }
}
