import Accounts
import DatabaseCore
import IdentityToolkit
import JSONTree
import Logging
import Tokens
import Transport

/// Who is signed in to the console: `/.console/session.json`.
///
///     GET                          what this browser may do: {"mode":...,"signedIn":...,"role":...,"name":...}
///     POST {"secret": ...}         signs in with the administrator's secret
///     POST {"idToken": ...}        signs in as an account whose claim "hearth" is "admin" or "viewer"
///     DELETE                       signs out
@LoopActor
final class ConsoleService: Service {
    let server: Server
    private var sessions = ConsoleSessions()

    /// The claim of accounts that may use the console; its value is a role.
    static let claim = "hearth"
    /// Bytes of a body: an ID token is the largest.
    nonisolated static let bodyByteLimit = 64 * 1024

    init(_ server: Server) {
        self.server = server
    }

    func addMetrics(to metrics: inout Metrics) {
        metrics.gauge("hearth_console_sessions", "Sessions of the console now.", sessions.count)
    }

    // MARK: - Which session

    /// Whether a request may use the console: it is served, and at this port.
    func isServed(to request: ResolvedRequest) -> Bool {
        configuration.servesConsole
            && (configuration.consolePort == nil || request.isOnConsolePort)
    }

    /// The session that a request of the console names by its cookie; nil where the cookie means nothing.
    ///
    /// This is the one place where a cookie becomes a credential. A credential that the request names itself goes first.
    func session(of request: ResolvedRequest) -> ConsoleSessions.Session? {
        guard !sessions.isEmpty, request.route.takesConsole, isServed(to: request) else {
            return nil
        }
        let head = request.head
        let namesCredential =
            head.hasHeader("authorization")
            || head.query.contains {
                !$0.value.isEmpty && ["auth", "access_token"].contains($0.name)
            }
        guard !namesCredential, let cookie = ConsoleCookie.value(in: head.headers("cookie")),
            server.isFromOwnPage(head),
            let session = sessions.session(cookie, now: Clock.now()), counts(session)
        else { return nil }
        return session
    }

    /// Whether its account still has the role, as accounts are now. O(log n).
    private func counts(_ session: ConsoleSessions.Session) -> Bool {
        guard case .account(let uid, let issuedAt) = session.holder else { return true }
        let accounts = server.identity.accountDirectory
        guard let start = accounts.tokenStart(uid), issuedAt >= start else { return false }
        return role(of: uid) == session.role
    }

    /// The role that an administrator has given to an account.
    private func role(of uid: String) -> ConsoleSessions.Role? {
        let claims = server.identity.accountDirectory.account(uid)?.customAttributes
        guard let claims else { return nil }
        do throws(JSONError) {
            let claim = try Node(json: Array(claims.utf8)).member(Self.claim)
            return claim.string.flatMap(ConsoleSessions.Role.init(rawValue:))
        } catch {
            return nil
        }
    }

    /// Ends the sessions of accounts that may no longer have one; called whenever accounts have changed.
    func accountsChanged() {
        if sessions.isEmpty { return }
        for session in sessions.end(where: { !counts($0) }) { revoke(session) }
    }

    /// Whether what goes on for this holder may still do so.
    func isOpen(_ number: Int) -> Bool { sessions.isOpen(number, now: Clock.now()) }

    private func revoke(_ session: ConsoleSessions.Session) {
        server.identity.revoke(.console(session.number))
    }

    // MARK: - The address

    func answerSession(_ exchange: HTTPExchange) {
        let request = ResolvedRequest.of(exchange)
        guard isServed(to: request) else { return answer(exchange, absence(for: request)) }
        switch request.method {
        case .post: signIn(exchange)
        case .delete: signOut(exchange)
        default: reply(exchange, request.consoleSession)
        }
    }

    /// The answer where the console is not served.
    func absence(for request: ResolvedRequest) -> HTTPResponse {
        let reason =
            configuration.servesConsole
            ? "is on a port of its own (--console-port)" : "is turned off (--no-console)"
        return .plain(404, "The console \(reason).\n")
    }

    private func reply(
        _ exchange: HTTPExchange,
        _ session: ConsoleSessions.Session?,
        cookie: (name: String, value: String)? = nil
    ) {
        let isDevelopment = configuration.mode == .development
        let body: JSONValue = [
            "mode": .string(isDevelopment ? "development" : "production"),
            "keepsCookie": .boolean(keepsCookie(exchange.head)),
            "signedIn": .boolean(session != nil),
            "role": session.map { .string($0.role.rawValue) },
            "name": session.map { .string($0.name) },
            "email": session.flatMap { email(of: $0) }.map { .string($0) },
            "expiresAt": session.map { .integer($0.expiry.milliseconds) },
        ]
        var response = HTTPResponse.secret(body.text)
        if let cookie { response.headers.append(cookie) }
        answer(exchange, response)
    }

    /// The address by which the holder of a session knows themselves.
    private func email(of session: ConsoleSessions.Session) -> String? {
        guard case .account(let uid, _) = session.holder else { return nil }
        return server.identity.accountDirectory.account(uid)?.email
    }

    /// Whether browsers keep the cookie that an answer to this request hands out: over TLS, and on this machine.
    private func keepsCookie(_ head: RequestHead) -> Bool {
        server.client(of: head).isSecure || Authority(head.host)?.host.isLoopback == true
    }

    // MARK: - Signing in

    private func signIn(_ exchange: HTTPExchange) {
        let head = exchange.head
        guard server.isFromOwnPage(head) else {
            let text =
                "Only the console's own page signs in; its Origin must be that of the address."
            return answer(exchange, .error(403, text))
        }
        guard keepsCookie(head) else { return answer(exchange, .error(400, Self.plainText)) }
        do throws(IdentityError) {
            let fields = try RequestFields(json: exchange.takeBody())
            if let token = try fields.text("idToken") { return signIn(exchange, idToken: token) }
            guard let secret = try fields.text("secret") else {
                throw .invalidPayload("Send a 'secret' or an 'idToken'.")
            }
            signIn(exchange, secret: secret)
        } catch {
            answer(exchange, .error(400, error.message))
        }
    }

    private static let plainText = """
        Browsers keep the cookie of a session over https only. Start the server with --tls-cert and --tls-key, or name \
        the proxy that speaks TLS in front of it with --trusted-proxy.
        """

    private func signIn(_ exchange: HTTPExchange, secret: String) {
        let network = server.identity.clientNetwork(of: exchange.head)
        let attempt = Attempt(.proof, from: network, subject: "the administrator's secret")
        let attempts = server.identity.accounts.attempts
        switch attempts.begin(attempt) {
        case .wait(let milliseconds): refuse(exchange, waiting: milliseconds)
        case .begun(let begun):
            let isRight = server.identity.isAdminSecret(secret)
            attempts.end(begun, isRight ? .succeeded : .failed)
            guard isRight else {
                log.warning(
                    "a sign-in to the console was refused: it is not the secret",
                    metadata: ["peer": "\(clientAddress(of: exchange.head))"]
                )
                return answer(exchange, .error(401, "This is not the administrator's secret."))
            }
            begin(.secret, .admin, exchange)
        }
    }

    private func signIn(_ exchange: HTTPExchange, idToken: String) {
        server.identity.check(idToken) { [self] outcome in
            guard case .user(_, let term) = outcome, let holder = term.holder,
                case .user(let uid) = holder.name
            else {
                let network = server.identity.clientNetwork(of: exchange.head)
                let attempt = Attempt(.token, from: network)
                if let wait = server.identity.accounts.attempts.countFailure(of: attempt) {
                    return refuse(exchange, waiting: wait)
                }
                return answer(exchange, .error(401, "This ID token does not count here."))
            }
            guard let role = role(of: uid) else {
                let text =
                    "This account may not use the console. An administrator lets it in with: "
                    + "hearth users claims \(uid) '{\"\(Self.claim)\":\"viewer\"}'"
                return answer(exchange, .error(403, text))
            }
            begin(.account(uid: uid, issuedAt: holder.issuedAt), role, exchange)
        }
    }

    private func refuse(_ exchange: HTTPExchange, waiting milliseconds: Int64) {
        let seconds = (milliseconds + 999) / 1000
        let text = "Too many attempts have failed; try again in \(seconds) s."
        answer(exchange, .error(429, text).adding("Retry-After", "\(seconds)"))
    }

    private func begin(
        _ holder: ConsoleSessions.Holder,
        _ role: ConsoleSessions.Role,
        _ exchange: HTTPExchange
    ) {
        // A session that this browser had ends, also that of another person.
        let earlier = ConsoleCookie.value(in: exchange.head.headers("cookie"))
        if let earlier, let ended = sessions.end(earlier) { revoke(ended) }
        let (cookie, session, ended) = sessions.begin(
            holder,
            role,
            now: Clock.now(),
            random: Randomness.bytes(ConsoleSessions.secretByteCount)
        )
        if let ended { revoke(ended) }
        note("signed in to the console", session, exchange)
        reply(exchange, session, cookie: ConsoleCookie.setting(cookie))
    }

    private func signOut(_ exchange: HTTPExchange) {
        guard server.isFromOwnPage(exchange.head) else {
            return answer(exchange, .error(403, "Only the console's own page signs out."))
        }
        let cookie = ConsoleCookie.value(in: exchange.head.headers("cookie"))
        if let cookie, let session = sessions.end(cookie) {
            revoke(session)
            note("signed out of the console", session, exchange)
        }
        reply(exchange, nil, cookie: ConsoleCookie.removing)
    }

    private func note(
        _ what: String,
        _ session: ConsoleSessions.Session,
        _ exchange: HTTPExchange
    ) {
        log.notice(
            "\(what)",
            metadata: [
                "by": "\(session.name)", "role": "\(session.role.rawValue)",
                "peer": "\(clientAddress(of: exchange.head))",
            ]
        )
        ResolvedRequest.of(exchange).deed = AuditDeed(what: what, author: AuditAuthor(session))
    }
}
