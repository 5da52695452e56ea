import Foundation
import HearthCore
import Synchronization
import TestSupport

@testable import HearthStorage

/// The service of files in its plainest form, in memory, behind a connection that fails as a seed says.
///
/// Each request is carried out as the protocol says, written anew and without a look at the client: a session has an
/// array of bytes, and what comes is put at the end of it.
final class TwinServer: StorageTransport {
    struct Object: Equatable, Sendable {
        var bytes: Data
        var generation: Int
        var json: [String: String] = [:]
    }

    fileprivate struct Session: Sendable {
        let name: String
        let byteCount: Int
        var bytes = Data()
        /// Acknowledged to the client, which a restart does not lose.
        var acknowledged = 0
        var end: StorageAnswer?
        var isCancelled = false
    }

    struct State: Sendable {
        var objects: [String: Object] = [:]
        fileprivate var sessions: [String: Session] = [:]
        var generation = 0
        var random: SeededGenerator
        /// What went wrong at the client, as this server sees it.
        var faults: [String] = []
        var requestCount = 0
        var commands: [String: Int] = [:]
        /// Chance of a failure, in percent.
        var trouble = 0
        /// Names whose uploads rules deny at the end.
        var denied: Set<String> = []
        /// Called before each request, outside the lock.
        var hook: (@Sendable (Int) -> Void)?
        /// Called as the bytes of an object go out.
        var change: Data?
    }

    private static let granularity = 262_144

    let state: Mutex<State>

    init(_ random: SeededGenerator, trouble: Int = 0) {
        var state = State(random: random)
        state.trouble = trouble
        self.state = Mutex(state)
    }

    func send(_ call: StorageCall) async throws(TransportFault) -> StorageAnswer {
        let (number, hook) = state.withLock { state in
            state.requestCount += 1
            return (state.requestCount, state.hook)
        }
        hook?(number)
        if Task.isCancelled { throw .stopped }
        let body: Data
        switch call.request.body {
        case .none: body = Data()
        case .bytes(let data): body = data
        case .piece(let range):
            do throws(StorageError) {
                body =
                    try call.source?.read(at: range.lowerBound, count: Int(range.count)) ?? Data()
            } catch {
                throw .failed(error)
            }
            if body.count != Int(range.count) { fault("a piece is shorter than its range") }
            call.hasSent?(Int64(body.count))
        }
        let answer = try state.withLock { state throws(TransportFault) in
            let answer = try Self.suffer(&state, call.request, body)
            // What an answer that arrives says is there stays, over kills too.
            if let id = Self.session(call.request), let session = state.sessions[id] {
                state.sessions[id]?.acknowledged = session.bytes.count
            }
            return answer
        }
        if Task.isCancelled { throw .stopped }
        guard answer.isSuccess, let receiver = call.receiver else { return answer }
        return try deliver(answer, receiver)
    }

    private func fault(_ text: String) { state.withLock { $0.faults.append(text) } }

    // MARK: - The connection

    /// Carries a request out, or some of it, or twice, and loses its answer at times.
    private static func suffer(
        _ state: inout State,
        _ request: StorageRequest,
        _ body: Data,
    ) throws(TransportFault) -> StorageAnswer {
        guard state.random.index(100) < state.trouble else {
            return carryOut(&state, request, body)
        }
        switch state.random.index(8) {
        case 0: throw .passing("not connected")
        case 1: return StorageAnswer(status: [408, 429, 500, 503][state.random.index(4)])
        case 2:
            // A proxy sends it again.
            _ = carryOut(&state, request, body)
            return carryOut(&state, request, body)
        case 3:
            _ = carryOut(&state, request, body)
            restart(&state)
            throw .passing("the server was killed")
        case 4, 5:
            let kept = state.random.index(body.count + 1)
            cut(&state, request, body.prefix(kept))
            throw .passing("cut")
        case _:
            _ = carryOut(&state, request, body)
            throw .passing("the answer is lost")
        }
    }

    /// What was acknowledged is there, and more may be.
    private static func restart(_ state: inout State) {
        for id in state.sessions.keys.sorted() {
            guard var session = state.sessions[id], session.end == nil else { continue }
            let spare = session.bytes.count - session.acknowledged
            session.bytes = session.bytes.prefix(
                session.acknowledged + state.random.index(spare + 1)
            )
            state.sessions[id] = session
        }
    }

    /// Whole units of a chunk that was cut stay.
    private static func cut(_ state: inout State, _ request: StorageRequest, _ body: Data) {
        guard command(request)?.hasPrefix("upload") ?? false, let id = session(request),
            var session = state.sessions[id], session.end == nil, !session.isCancelled,
            let offset = offset(request), offset <= session.bytes.count
        else { return }
        session.bytes += body.dropFirst(session.bytes.count - offset)
        let whole = session.bytes.count - session.bytes.count % granularity
        session.bytes = session.bytes.prefix(max(whole, session.acknowledged))
        state.sessions[id] = session
    }

    // MARK: - The service

    private static func value(_ request: StorageRequest, _ name: String) -> String? {
        request.headers.first { $0.name.lowercased() == name }?.value
    }

    private static func command(_ request: StorageRequest) -> String? {
        value(request, "x-goog-upload-command")
    }

    private static func offset(_ request: StorageRequest) -> Int? {
        value(request, "x-goog-upload-offset").flatMap { Int($0) }
    }

    private static func query(_ request: StorageRequest, _ name: String) -> String? {
        URLComponents(string: "http://h" + request.target)?.queryItems?.first { $0.name == name }?
            .value
    }

    private static func session(_ request: StorageRequest) -> String? {
        query(request, "upload_id")
    }

    private static func carryOut(
        _ state: inout State,
        _ request: StorageRequest,
        _ body: Data,
    ) -> StorageAnswer {
        if let command = command(request) { state.commands[command, default: 0] += 1 }
        let isStep = session(request) != nil
        if isStep == request.isAuthorized {
            state.faults.append("a credential is missing or too many")
        }
        if let id = session(request) { return step(&state, id, request, body) }
        switch request.method {
        case .post where command(request) == "start": return start(&state, request)
        case .post: return whole(&state, request, body)
        case .get where query(request, "alt") == "media": return media(state, request)
        case .get: return metadata(state, name(request))
        case .delete:
            let isThere = state.objects.removeValue(forKey: name(request)) != nil
            return StorageAnswer(status: isThere ? 204 : 404)
        case .patch: return StorageAnswer(status: 501)
        }
    }

    private static func name(_ request: StorageRequest) -> String {
        let path = request.target.prefix { $0 != "?" }
        return String(path.split(separator: "/").last ?? "").removingPercentEncoding ?? ""
    }

    private static func metadata(_ state: State, _ name: String) -> StorageAnswer {
        guard let object = state.objects[name] else { return StorageAnswer(status: 404) }
        let json = """
            {"name":"\(name)","bucket":"B","size":"\(object.bytes.count)",\
            "generation":"\(object.generation)","metageneration":"1"}
            """
        return StorageAnswer(status: 200, body: Data(json.utf8))
    }

    private static func store(_ state: inout State, _ name: String, _ bytes: Data) -> StorageAnswer
    {
        if state.denied.contains(name) { return StorageAnswer(status: 403) }
        state.generation += 1
        state.objects[name] = Object(bytes: Data(bytes), generation: state.generation)
        return metadata(state, name)
    }

    private static func whole(
        _ state: inout State,
        _ request: StorageRequest,
        _ body: Data,
    ) -> StorageAnswer {
        guard let type = value(request, "content-type"),
            let boundary = type.split(separator: "=").last, let name = query(request, "name"),
            let head = body.range(of: Data("\r\n--\(boundary)\r\n".utf8)),
            let blank = body.range(of: Data("\r\n\r\n".utf8), in: head.upperBound..<body.endIndex),
            let tail = body.range(of: Data("\r\n--\(boundary)--".utf8), options: .backwards)
        else { return StorageAnswer(status: 400) }
        return store(&state, name, body[blank.upperBound..<tail.lowerBound])
    }

    private static func start(_ state: inout State, _ request: StorageRequest) -> StorageAnswer {
        guard let name = query(request, "name"),
            let length = value(request, "x-goog-upload-header-content-length").flatMap({ Int($0) })
        else { return StorageAnswer(status: 400) }
        let id = "\(state.sessions.count)"
        state.sessions[id] = Session(name: name, byteCount: length)
        return StorageAnswer(
            status: 200,
            headers: [
                "x-goog-upload-url": "http://inner:1/v0/b/B/o?upload_id=\(id)",
                "x-goog-upload-status": "active",
                "x-goog-upload-chunk-granularity": "\(granularity)",
            ]
        )
    }

    private static func step(
        _ state: inout State,
        _ id: String,
        _ request: StorageRequest,
        _ body: Data,
    ) -> StorageAnswer {
        guard var session = state.sessions[id], let command = command(request) else {
            return StorageAnswer(status: 404)
        }
        defer { state.sessions[id] = session }
        if let end = session.end { return end }
        if session.isCancelled {
            return StorageAnswer(status: 200, headers: ["x-goog-upload-status": "cancelled"])
        }
        if command == "cancel" { session.isCancelled = true }
        guard command.hasPrefix("upload") else { return progress(session) }
        guard let offset = offset(request), offset <= session.bytes.count else {
            state.faults.append("a chunk begins behind what is there")
            var answer = progress(session)
            answer = StorageAnswer(status: 400, headers: answer.headers)
            return answer
        }
        let isLast = command.contains("finalize")
        if !isLast, (offset + body.count) % granularity != 0 {
            state.faults.append("a chunk ends between two units")
        }
        session.bytes += body.dropFirst(session.bytes.count - offset)
        guard isLast else { return progress(session) }
        guard session.bytes.count == session.byteCount else {
            state.faults.append("an upload ends at \(session.bytes.count) of \(session.byteCount)")
            return StorageAnswer(status: 400, headers: ["x-goog-upload-status": "active"])
        }
        var end = store(&state, session.name, session.bytes)
        end.headers["x-goog-upload-status"] = "final"
        session.end = end
        return end
    }

    private static func progress(_ session: Session) -> StorageAnswer {
        StorageAnswer(
            status: 200,
            headers: [
                "x-goog-upload-status": session.isCancelled ? "cancelled" : "active",
                "x-goog-upload-size-received": "\(session.bytes.count)",
            ]
        )
    }

    // MARK: - Downloads

    private static func media(_ state: State, _ request: StorageRequest) -> StorageAnswer {
        guard let object = state.objects[name(request)] else { return StorageAnswer(status: 404) }
        let tag = "\"\(object.generation)\""
        var answer = StorageAnswer(status: 200, headers: ["etag": tag], body: object.bytes)
        if let range = value(request, "range"), value(request, "if-range") == tag,
            let start = Int(range.dropFirst(6).dropLast())
        {
            let count = object.bytes.count
            guard start < count else { return StorageAnswer(status: 416) }
            answer = StorageAnswer(
                status: 206,
                headers: ["etag": tag],
                body: object.bytes[start...]
            )
            answer.headers["content-range"] = "bytes \(start)-\(count - 1)/\(count)"
        }
        answer.headers["content-length"] = "\(answer.body.count)"
        return answer
    }

    /// Gives the body out in pieces, cut at times; the object may be another one afterwards.
    private func deliver(
        _ answer: StorageAnswer,
        _ receiver: (begin: StorageCall.Beginning, take: StorageCall.Receiver),
    ) throws(TransportFault) -> StorageAnswer {
        let head = StorageAnswer(status: answer.status, headers: answer.headers)
        var rest = answer.body
        if rest.isEmpty { return head }
        do throws(StorageError) {
            try receiver.begin(head)
            while !rest.isEmpty {
                let (size, isCut) = state.withLock { state in
                    (1 + state.random.index(100_000), state.random.index(400) < state.trouble)
                }
                if isCut {
                    let change = state.withLock { state in
                        defer { state.change = nil }
                        return state.random.index(3) == 0 ? state.change : nil
                    }
                    if let change {
                        _ = state.withLock { Self.store(&$0, "a", change) }
                    }
                    throw StorageError.internalError(message: "cut")
                }
                let piece = Array(rest.prefix(size))
                rest = rest.dropFirst(size)
                // Typed throws do not pass through the function of the standard library.
                let result: Result<Void, StorageError> = piece.withUnsafeBytes { bytes in
                    Result { () throws(StorageError) in try receiver.take(bytes) }
                }
                try result.get()
            }
        } catch {
            if case .internalError("cut") = error { throw .passing("cut") }
            throw .failed(error)
        }
        return head
    }
}

/// Files of an app of its own behind a twin, whose time passes only where something waits.
final class TwinFiles: Sendable {
    let app: HearthApp
    let server: TwinServer
    let storage: Storage
    let queue: DispatchQueue

    private static let count = Atomic(0)

    init(_ server: TwinServer, tokens: (any TokenSource)? = nil) throws {
        self.server = server
        let number = Self.count.add(1, ordering: .relaxed).newValue
        var options = HearthOptions(databaseURL: "http://localhost:1")
        options.persistsUser = false
        app = try HearthApp.make(name: "twin \(number)", options: options)
        app.tokenSource = tokens
        let time = ClockTime()
        let clock = StorageClock(
            now: { time.now },
            sleep: { duration in
                time.advance(duration)
                return !Task.isCancelled
            }
        )
        let service = StorageService(app, origin: "http://localhost:1", over: server, clock)
        storage = Storage(service, app, bucket: "B")
        queue = DispatchQueue(label: "twin \(number)")
        storage.callbackQueue = queue
    }

    deinit { app.delete { _ in } }

    func reference(_ name: String = "a") -> StorageReference { storage.reference(withPath: name) }
}

private final class ClockTime: Sendable {
    private let time = Mutex(Duration.zero)
    var now: Duration { time.withLock { $0 } }
    func advance(_ duration: Duration) { time.withLock { $0 += duration } }
}

/// Bytes that a seed repeats.
func randomBytes(_ count: Int, _ random: inout SeededGenerator) -> Data {
    var data = Data(capacity: count + 8)
    while data.count < count { withUnsafeBytes(of: random.next()) { data.append(contentsOf: $0) } }
    return data.prefix(count)
}
