import DatabaseCore
import Transport

/// The body of one write on its way in: its parts wait here and are read slice by slice, between those of other clients.
///
///     socket ─► parts ─► BodyReader, a slice at a time, on a reader ─► request
///
/// What is made of it counts as held by its client until the request is submitted.
@LoopActor
final class IncomingBody {
    /// Bytes that may wait to be read; above it the socket is not read on.
    private static let waitingByteLimit = 1 << 20

    private let pending: PendingExchange
    private let reader: BodyReader
    private unowned let service: DataService
    let client: String
    /// Bytes that are counted for the client; `BodyTable`'s own.
    var heldByteCount = 0
    private var parts: [[UInt8]] = []
    private var waitingByteCount = 0
    private var isComplete = false
    private var isBeingRead = false
    private var isOver = false

    init(_ pending: PendingExchange, _ purpose: BodyPurpose, _ service: DataService) {
        self.pending = pending
        self.service = service
        reader = BodyReader(purpose)
        client = service.server.client(pending.exchange.head)
    }

    /// Takes the body as it comes, and goes on with what has come.
    func begin() {
        let exchange = pending.exchange
        guard exchange.isAnswerable else { return }
        service.bodies.add(self)
        exchange.resumeBody()
        exchange.receiveBody { [self] event in
            guard !isOver else { return }
            switch event {
            case .part(let bytes):
                parts.append(bytes)
                waitingByteCount += bytes.count
                if waitingByteCount > Self.waitingByteLimit { exchange.pauseBody() }
                readOn()
            case .end:
                isComplete = true
                readOn()
            case .cut: end()
            }
        }
    }

    /// Has the next slice read, unless one is.
    private func readOn() {
        if isBeingRead || isOver { return }
        isBeingRead = true
        let (taken, isLast, reader) = (parts, isComplete, reader)
        parts = []
        let byteCount = taken.reduce(0) { $0 + $1.count }
        let isTaken = service.readers.read(byteCount, of: client) {
            reader.read(taken, isLast: isLast)
        } then: { [self] progress in
            isBeingRead = false
            waitingByteCount -= byteCount
            go(on: progress)
        }
        if !isTaken { refuse(RequestService.tooManyBodies) }
    }

    private func go(on progress: BodyProgress) {
        if isOver { return letGo() }
        guard service.bodies.hold(progress.heldByteCount, of: self), !isOver else {
            return refuse(RequestService.tooManyBodies)
        }
        switch progress.step {
        case .hasMore: readOn()
        case .needsMore:
            if waitingByteCount <= Self.waitingByteLimit / 2 { pending.exchange.resumeBody() }
            if !parts.isEmpty || isComplete { readOn() }
        case .done(let operation):
            end()
            service.submit(operation, pending)
        case .failed(let fault): refuse(fault.answer)
        }
    }

    /// Ends it with an answer.
    func refuse(_ response: HTTPResponse) {
        if isOver { return }
        end()
        service.finish(pending, response)
    }

    private func end() {
        if isOver { return }
        isOver = true
        parts = []
        service.bodies.remove(self)
        if !isBeingRead { letGo() }
    }

    /// What was made of it may be large: it is let go where it was made.
    private func letGo() {
        let reader = reader
        let memory = service.server.memory
        _ = service.readers.read(0, of: client) {
            reader.cut()
        } then: { byteCount in
            memory.letGo(byteCount)
        }
    }
}

/// The bodies on their way in, and what is held of them.
@LoopActor
final class BodyTable {
    /// Bytes that all of them may come to in memory.
    static let byteLimit = 1 << 30
    /// Bytes that those of one client may come to, if they are several.
    static let shareByteCount = 256 << 20

    private var held = HeldBytes(byteLimit: byteLimit, shareByteCount: shareByteCount)
    private var bodies: [ObjectIdentifier: IncomingBody] = [:]
    /// Those that ended because too much was held.
    private(set) var overloadCount = 0

    /// Bytes held now.
    var heldByteCount: Int { held.byteCount }

    func add(_ body: IncomingBody) { bodies[ObjectIdentifier(body)] = body }

    func remove(_ body: IncomingBody) {
        bodies[ObjectIdentifier(body)] = nil
        _ = held.hold(0, for: &body.heldByteCount, of: body.client)
    }

    /// Counts so many bytes for a body. False when it must end; the largest of the client that holds most may end
    /// instead.
    func hold(_ byteCount: Int, of body: IncomingBody) -> Bool {
        while true {
            switch held.hold(byteCount, for: &body.heldByteCount, of: body.client) {
            case .held: return true
            case .overShare:
                overloadCount += 1
                return false
            case .overLimit(let greediest):
                overloadCount += 1
                let others = bodies.values.filter { $0.client == greediest && $0 !== body }
                guard let largest = others.max(by: { $0.heldByteCount < $1.heldByteCount }),
                    largest.heldByteCount > (greediest == body.client ? byteCount : 0)
                else { return false }
                largest.refuse(RequestService.tooManyBodies)
            }
        }
    }
}
