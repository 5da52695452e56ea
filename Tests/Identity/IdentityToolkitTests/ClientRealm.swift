import TestSupport
import Accounts
import JSONTree
import Passwords
import Tokens

@testable import IdentityToolkit

/// A realm whose clients' requests are done at once: passwords are "hashed" into their own text, ID tokens are not
/// signed, and a refresh token is the number of its ticket.
struct ClientRealm {
    var directory = AccountDirectory(root: .absent)
    var now = Timestamp(milliseconds: 1_700_000_000_500)
    var policy: IdentityPolicy
    /// What comes of checking a custom token; a good one by default.
    var customCheck: TokenError?
    /// Whether the password thread has no room.
    var isBusy = false
    /// Does something to the accounts while a password is hashed or compared, or a token is checked: once.
    var meanwhile: ((inout ClientRealm) -> Void)?
    private(set) var tickets: [RefreshTicket] = []
    /// How often passwords were hashed or compared.
    private(set) var workCount = 0
    private var generator = TestSeed.generator(6)

    init(_ change: (inout IdentityPolicy) -> Void = { _ in }) {
        policy = IdentityPolicy()
        policy.isDevelopment = true
        change(&policy)
    }

    struct Reply {
        let status: Int
        let body: Node
        /// The body as it is written.
        let text: String
        var events: [AccountEvent] = []
        /// Whether something is stored.
        var isChange = false
        /// The claims of the ID token, and their text.
        var claims = Node.absent
        var claimsText = ""

        /// `error.message`.
        var message: String? { body.member("error").member("message").string }

        subscript(name: String) -> String { body.member(name).string ?? "" }
    }

    /// Does one request of a client; what it changes stays.
    mutating func call(_ method: IdentityMethod, _ json: String = "{}") throws -> Reply {
        try call(method, body: Array(json.utf8), contentType: "application/json")
    }

    mutating func call(
        _ method: IdentityMethod,
        body: [UInt8],
        contentType: String?
    ) throws -> Reply {
        let fields: RequestFields
        do throws(IdentityError) {
            fields = try RequestFields(body, contentType: contentType)
        } catch {
            return try Self.reply(error.status, error.body)
        }
        let path = Self.path(of: method)
        guard let route = IdentityRoute(path.split(separator: "/").map(String.init)) else {
            throw NoSuchRoute(path: path)
        }
        let request = IdentityRequest(
            route: route,
            verb: "POST",
            fields: fields,
            query: ["key": "k"],
            isAdmin: false
        )
        return try finish(IdentityToolkit.begin(request, context()))
    }

    private static func path(of method: IdentityMethod) -> String {
        switch method {
        case .token, .recaptchaParams: "v1/\(method.rawValue)"
        case .projectConfig: "v1/projects"
        case .recaptchaConfig, .passwordPolicy: "v2/\(method.rawValue)"
        case .mfa: "v2/accounts/mfaEnrollment:start"
        default: "v1/accounts:\(method.rawValue)"
        }
    }

    struct NoSuchRoute: Error {
        let path: String
    }

    private mutating func finish(_ first: IdentityStep) throws -> Reply {
        var step = first
        while true {
            switch step {
            case .answer(let answer): return try settle(answer)
            case .refuse(let error): return try Self.reply(error.status, error.body)
            case .away(let work): step = work()(later())
            case .password(let work, let then):
                workCount += 1
                let outcome = isBusy ? .busy : Self.outcome(of: work)
                step = then(outcome, later())
            case .check(.identity(let token), let then):
                let policy = TokenPolicy(acceptsUnsigned: true)
                let verifier = TokenVerifier(keys: .empty, policy: policy)
                step = then(verifier.verify(token, now: now), later())
            case .check(.custom, let then):
                if let customCheck {
                    step = then(.failure(customCheck), later())
                } else {
                    // What a custom token says is read from its text.
                    let policy = TokenPolicy(acceptsUnsigned: true)
                    let verifier = TokenVerifier(keys: .empty, policy: policy)
                    let stand = Self.token(#"{"sub":"x"}"#)
                    step = then(verifier.verify(stand, now: now), later())
                }
            }
        }
    }

    private mutating func settle(_ answer: IdentityAnswer) throws -> Reply {
        directory = AccountDirectory(root: answer.changes.applied(to: directory.root))
        var body = answer.body
        var claims: [UInt8]?
        if let grant = answer.grant {
            let text = grant.claims.text
            claims = text
            body.add("idToken", Self.token(String(decoding: text, as: UTF8.self)))
            if let ticket = grant.refresh {
                tickets.append(ticket)
                body.add("refreshToken", "\(tickets.count - 1)")
            }
        }
        var reply = try Self.reply(answer.status, body.value)
        reply.events = answer.events
        reply.isChange = !answer.changes.isEmpty
        if let claims {
            reply.claims = try Node.readingAnyJSON(claims)
            reply.claimsText = String(decoding: claims, as: UTF8.self)
        }
        return reply
    }

    /// A token that is not signed, with these claims.
    static func token(_ claims: String) -> String {
        let header = Base64.encode(Array(#"{"alg":"none","typ":"JWT"}"#.utf8), .url)
        return "\(header).\(Base64.encode(Array(claims.utf8), .url))."
    }

    static func stored(_ password: [UInt8], cost: PasswordCost = .standard) -> StoredPassword {
        StoredPassword("$test$\(cost.passes)$salt$\(Base64.encode(password, .url))")
    }

    private static func outcome(of work: PasswordWork) -> PasswordOutcome {
        switch work {
        case .hash(let password, let cost): return .hashed(stored(password, cost: cost))
        case .verify(let password, let stored, _, let cost):
            let parts = stored?.text.split(separator: "$") ?? []
            guard parts.last.map(String.init) == Base64.encode(password, .url) else {
                return .wrong
            }
            let fresh = Self.stored(password, cost: cost)
            return .right(renewed: fresh == stored ? nil : fresh)
        }
    }

    /// The context after a step.
    private mutating func later() -> IdentityContext {
        if let meanwhile {
            self.meanwhile = nil
            meanwhile(&self)
        }
        return context()
    }

    private mutating func context() -> IdentityContext {
        var generator = generator
        self.generator.advance()
        var context = IdentityContext(
            directory: directory,
            policy: policy,
            now: now,
            address: "http://127.0.0.1:9000",
            random: { count in
                (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
            }
        )
        let tickets = tickets
        context.openTicket = { token in
            Int(token).flatMap { tickets.indices.contains($0) ? tickets[$0] : nil }
        }
        return context
    }

    private static func reply(_ status: Int, _ body: JSONValue) throws -> Reply {
        let text = body.text
        return Reply(
            status: status,
            body: try Node.readingAnyJSON(text),
            text: String(decoding: text, as: UTF8.self)
        )
    }

    // MARK: - Accounts

    /// Changes an account, or makes it.
    mutating func set(_ uid: String, _ change: (inout Account) -> Void) {
        let old = directory.account(uid)
        var account = old ?? Account(uid: uid, createdAt: now)
        change(&account)
        directory = AccountDirectory(
            root: directory.changes(from: old, to: account).applied(to: directory.root)
        )
    }

    mutating func remove(_ uid: String) {
        guard let old = directory.account(uid) else { return }
        directory = AccountDirectory(
            root: directory.changes(from: old, to: nil).applied(to: directory.root)
        )
    }

    mutating func wait(seconds: Int64) { now.milliseconds += seconds * 1000 }
}
