import JSONTree
import SyncCore
import WireProtocol

/// A client of the core whose server the bench plays: every request is accepted.
struct PlayedClient {
    private let client = SyncClient(
        SyncOptions(
            address: LinkAddress(host: "localhost:9000", isSecure: false, namespace: "bench"),
            agent: "bench",
            seed: 1,
            isStored: false
        )
    )
    private var now = Timestamp(milliseconds: 1_712_000_000_000)
    private var observerCount: UInt64 = 0
    private var callCount: UInt64 = 0
    private var socket = SocketID(0)

    /// What the server has at paths that are listened to, as JSON.
    var data: [String: String] = [:]
    /// Events sent to observers.
    var eventCount = 0

    /// Observes all of a place.
    mutating func observe(_ path: Path, _ kinds: ObservedKinds) {
        observerCount += 1
        let target = ListenTarget(path: path)
        let observer = Observer(id: ObserverID(observerCount), target: target, kinds: kinds)
        step(.call(.observe(observer)))
    }

    /// Replaces a node.
    mutating func write(_ draft: Draft, at path: Path) {
        callCount += 1
        step(.call(.set(WriteTarget(path: path), draft, CallID(callCount))))
    }

    /// Takes a whole frame from the server.
    mutating func receive(_ frame: [UInt8]) {
        step(.received(socket, frame: frame))
    }

    private mutating func step(_ input: Input) {
        var inputs = [input]
        while !inputs.isEmpty {
            var effects: [Effect] = []
            for input in inputs { client.step(input, now: now, effects: &effects) }
            inputs = []
            for effect in effects { perform(effect, &inputs) }
        }
    }

    private mutating func perform(_ effect: Effect, _ inputs: inout [Input]) {
        switch effect {
        case .open(let socket, _):
            self.socket = socket
            let hello =
                #"{"t":"c","d":{"t":"h","d":{"ts":1712000000000,"v":"5","h":"localhost:9000","s":"s1"}}}"#
            inputs.append(.opened(socket))
            inputs.append(.received(socket, frame: Array(hello.utf8)))
        case .send(_, let frames):
            for frame in frames { answer(String(decoding: frame, as: UTF8.self), &inputs) }
        case .fetchToken: inputs.append(.tokenFetched(.noUser))
        case .tell: eventCount += 1
        case .warn(let warning): print("bench: \(warning)")
        case .close, .wake, .finish, .store: break
        }
    }

    /// Accepts a request; a listen is first given what the server has there.
    private func answer(_ request: String, _ inputs: inout [Input]) {
        guard let number = Self.field(#""r":"#, of: request, until: [",", "}"]) else { return }
        if request.contains(#""a":"q""#),
            let path = Self.field(#""p":""#, of: request, until: ["\""])
        {
            let data = data[String(path)] ?? "null"
            push(
                #"{"t":"d","d":{"b":{"p":"\#(path.drop { $0 == "/" })","d":\#(data)},"a":"d"}}"#,
                &inputs
            )
        }
        push(#"{"t":"d","d":{"r":\#(number),"b":{"s":"ok","d":{}}}}"#, &inputs)
    }

    private func push(_ message: String, _ inputs: inout [Input]) {
        let bytes = Array(message.utf8)
        guard let ranges = Segments.frames(of: bytes) else { return }
        if ranges.count > 1 {
            inputs.append(.received(socket, frame: Segments.countFrame(ranges.count)))
        }
        for range in ranges { inputs.append(.received(socket, frame: Array(bytes[range]))) }
    }

    /// What stands behind a text in a request.
    private static func field(
        _ name: String,
        of request: String,
        until ends: Set<Character>
    ) -> Substring? {
        guard let range = request.firstRange(of: name) else { return nil }
        return request[range.upperBound...].prefix { !ends.contains($0) }
    }
}
