import Foundation
import Glibc
import Synchronization

/// A server of accounts that answers as a test says, over real sockets.
final class ScriptedServer: Sendable {
    struct Request: Sendable {
        /// Without the query.
        let path: String
        let head: String
        let body: String

        /// `signUp`, ..., or `token`.
        var method: String {
            String(path.split(whereSeparator: { $0 == ":" || $0 == "/" }).last ?? "")
        }
    }

    enum Reply: Sendable {
        case answer(Int, String)
        /// Bytes as they are, then the end of the connection.
        case raw(String)
        /// The end of the connection without a byte.
        case hangUp
    }

    private final class Seen: Sendable {
        let requests = Mutex<[Request]>([])
    }

    let port: Int
    var url: String { "http://127.0.0.1:\(port)" }
    private let descriptor: Int32
    private let seen: Seen

    /// Listens on a free port; `answer` is called on a thread of each connection, and may wait there.
    init(_ answer: @escaping @Sendable (Request) -> Reply) throws {
        (descriptor, port) = try Socket.listening()
        let listening = descriptor
        let seen = Seen()
        self.seen = seen
        // Owns the socket: closed by another thread, its number could be that of another server by the next `accept`.
        Thread.detachNewThread {
            defer { close(listening) }
            while true {
                let connection = accept(listening, nil, nil)
                guard connection >= 0 else {
                    if errno == EINVAL { return }
                    continue
                }
                Thread.detachNewThread {
                    Self.serve(connection) { request in
                        seen.requests.withLock { $0.append(request) }
                        return answer(request)
                    }
                }
            }
        }
    }

    /// Ends the thread that accepts.
    deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// What was asked so far, in its order.
    var requests: [Request] { seen.requests.withLock { $0 } }

    /// How often a method was asked for.
    func count(_ method: String) -> Int { requests.filter { $0.method == method }.count }

    private static func serve(_ connection: Int32, _ answer: (Request) -> Reply) {
        defer { close(connection) }
        var bytes = Data()
        while let more = Socket.read(from: connection) {
            bytes += more
            while let (request, byteCount) = request(bytes) {
                bytes = Data(bytes.dropFirst(byteCount))
                switch answer(request) {
                case .answer(let status, let body):
                    let text = """
                        HTTP/1.1 \(status) Scripted\r\nContent-Type: application/json\r
                        Content-Length: \(body.utf8.count)\r\n\r\n\(body)
                        """
                    Socket.write(Array(text.utf8), to: connection)
                case .raw(let text):
                    Socket.write(Array(text.utf8), to: connection)
                    return
                case .hangUp:
                    return
                }
            }
        }
    }

    private static func request(_ bytes: Data) -> (Request, byteCount: Int)? {
        guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        let length = head.lowercased().split(separator: "\r\n")
            .first { $0.hasPrefix("content-length:") }
            .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
        let rest = bytes[end.upperBound...]
        guard let length, rest.count >= length else { return nil }
        let target = head.split(separator: " ").dropFirst().first ?? ""
        let path = target.split(separator: "?").first.map { String($0) } ?? ""
        let body = String(decoding: rest.prefix(length), as: UTF8.self)
        let request = Request(path: path, head: head, body: body)
        return (request, bytes.distance(from: bytes.startIndex, to: end.upperBound) + length)
    }
}

/// Holds threads back until it is opened.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    /// Waits for `open`, a minute at most; lets one through, then the next.
    func pass() {
        if semaphore.wait(timeout: .now() + 300) == .success { semaphore.signal() }
    }
}

/// Accounts of one user, `ann`, whose tokens are numbered: `refresh-1`, then `refresh-2`, ...
final class ScriptedAccounts: Sendable {
    private let lastNumber = Atomic(0)
    /// `expiresIn` of what is given out.
    let seconds: Int

    init(seconds: Int = 3600) {
        self.seconds = seconds
    }

    /// An ID token with a lifetime; its number tells it from others.
    static func token(_ number: Int, lifetime: Int = 3600) -> String {
        let claims = """
            {"sub":"ann","iat":1000,"exp":\(1000 + lifetime),"auth_time":1000,"number":\(number),\
            "firebase":{"sign_in_provider":"password"},"team":"blue","levels":[1,2.5,null,true]}
            """
        let text = Data(claims.utf8).base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
        return "e30.\(text)."
    }

    static let account = """
        {"users":[{"localId":"ann","email":"ann@example.com","createdAt":"1000","lastLoginAt":"2000",\
        "providerUserInfo":[{"providerId":"password","rawId":"ann@example.com"}]}]}
        """

    /// A sign-in, refresh or lookup that succeeds.
    func reply(_ request: ScriptedServer.Request) -> ScriptedServer.Reply {
        switch request.method {
        case "lookup": return .answer(200, Self.account)
        case "token":
            let number = lastNumber.add(1, ordering: .relaxed).newValue
            return .answer(
                200,
                """
                {"id_token":"\(Self.token(number))","refresh_token":"refresh-\(number)",\
                "expires_in":"\(seconds)","user_id":"ann"}
                """
            )
        case _:
            let number = lastNumber.add(1, ordering: .relaxed).newValue
            return .answer(
                200,
                """
                {"localId":"ann","idToken":"\(Self.token(number))",\
                "refreshToken":"refresh-\(number)","expiresIn":"\(seconds)"}
                """
            )
        }
    }

    static func error(_ code: String, status: Int = 400) -> ScriptedServer.Reply {
        .answer(status, "{\"error\":{\"code\":\(status),\"message\":\"\(code)\"}}")
    }
}
