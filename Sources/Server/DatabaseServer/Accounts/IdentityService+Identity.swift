import Accounts
import DatabaseCore
import IdentityToolkit
import JSONTree
import Passwords
import Tokens
import Transport

/// Identity requests on their way: caller, body, steps, changes, tokens, answer.
extension IdentityService {
    func receive(_ exchange: HTTPExchange) {
        guard case .identity(let route) = ResolvedRequest.of(exchange).location else {
            return refuse(exchange, .notFound)
        }
        do throws(IdentityError) {
            let head = exchange.head
            try requireVerb(head, route.method)
            switch route.method.audience {
            case .administrators: try admitAdministrator(exchange, route)
            case .clients where head.queryValue("key")?.isEmpty != false: throw .missingKey
            case .clients, .people, .development: readBody(exchange, route)
            }
        } catch {
            refuse(exchange, error)
        }
    }

    /// Begins a request whose caller has been let through: a large body is read away from the loop first.
    private func readBody(_ exchange: HTTPExchange, _ route: IdentityRoute) {
        let head = exchange.head
        let body = exchange.takeBody()
        let byteLimit = route.method.bodyByteLimit
        guard body.count <= byteLimit else {
            return refuse(exchange, .tooLarge(byteLimit: byteLimit))
        }
        // Some clients send a body where none is asked for.
        let readsBody = head.method == "POST" || head.method == "PATCH"
        let contentType = head.header("content-type")
        let read: @Sendable () -> Result<RequestFields, IdentityError> = {
            Result { () throws(IdentityError) in
                try RequestFields(readsBody ? body : [], contentType: contentType)
            }
        }
        guard readsBody, body.count >= Server.readAwayByteCount else {
            return begin(exchange, route, read())
        }
        let isTaken = readAway(body.count, of: exchange, read) { [self] fields in
            guard exchange.isAnswerable else { return }
            begin(exchange, route, fields)
        }
        if !isTaken { refuse(exchange, .unavailable("Too many large bodies are being read.")) }
    }

    /// Begins a request whose body has been read.
    private func begin(
        _ exchange: HTTPExchange,
        _ route: IdentityRoute,
        _ fields: Result<RequestFields, IdentityError>
    ) {
        do throws(IdentityError) {
            let (fields, head) = (try fields.get(), exchange.head)
            try settleProject(of: route)
            let request = IdentityRequest(
                route: route,
                verb: head.method,
                fields: fields,
                query: Dictionary(head.query.map { ($0.name, $0.value) }) { $1 },
                isAdmin: route.method.audience == .administrators
            )
            try throttle(request, exchange)
            go(IdentityToolkit.begin(request, identityContext(exchange)), exchange)
        } catch {
            refuse(exchange, error)
        }
    }

    /// Begins a request once its caller has proved to be an administrator, with the secret or an access token.
    private func admitAdministrator(
        _ exchange: HTTPExchange,
        _ route: IdentityRoute
    ) throws(IdentityError) {
        guard let header = exchange.head.header("authorization") else {
            guard ResolvedRequest.of(exchange).consoleSession != nil else {
                throw .missingCredential
            }
            return readBody(exchange, route)
        }
        let token = header.hasPrefix("Bearer ") ? String(header.dropFirst(7)) : ""
        check(token) { [self] outcome in
            guard exchange.isAnswerable else { return }
            guard case .admin = outcome else {
                return refuse(exchange, .badCredential)
            }
            readBody(exchange, route)
        }
    }

    private func identityContext(_ exchange: HTTPExchange) -> IdentityContext {
        var context = IdentityContext(
            directory: accountDirectory,
            policy: accounts.policy,
            now: Clock.now(),
            address: publicAddress(of: exchange.head),
            random: Randomness.bytes
        )
        context.messages = accounts.messages.listed
        let session = ResolvedRequest.of(exchange).consoleSession
        context.showsPasswordHashes = session?.role != .viewer
        let seal = accounts.keys.seal
        context.openTicket = { seal.open($0) }
        return context
    }

    // MARK: - Steps

    /// Goes on with a request until it is answered.
    private func go(_ step: IdentityStep, _ exchange: HTTPExchange) {
        switch step {
        case .answer(let answer): finish(exchange, answer)
        case .refuse(let error):
            // What the refusal tells of the accounts may not be durable yet.
            commit(AccountChanges()) { [self] _ in refuse(exchange, error) }
        case .password(let work, let then):
            performPasswordWork(work, for: exchange) { [self] outcome in
                guard exchange.isAnswerable else { return settleUnheard(exchange) }
                go(then(outcome, identityContext(exchange)), exchange)
            }
        case .check(let check, let then):
            verify(check) { [self] outcome in
                guard exchange.isAnswerable else { return settleUnheard(exchange) }
                guard let outcome else {
                    return refuse(exchange, .unavailable("Too many tokens are being checked."))
                }
                go(then(outcome, identityContext(exchange)), exchange)
            }
        case .away(let work):
            let isTaken = readAway(0, of: exchange, work) { [self] then in
                guard exchange.isAnswerable else { return settleUnheard(exchange) }
                go(then(identityContext(exchange)), exchange)
            }
            if !isTaken { refuse(exchange, .unavailable("Too many long lists are being read.")) }
        }
    }

    // MARK: - Answers

    /// Commits what the answer changes, has its tokens signed, and sends it.
    private func finish(_ exchange: HTTPExchange, _ answer: IdentityAnswer) {
        commit(answer.changes) { [self] refusal in
            if let refusal {
                return refuse(exchange, .unavailable(refusal))
            }
            for event in answer.events { follow(event, isOwnDoing: answer.grant != nil) }
            if !answer.changes.isEmpty { server.console.accountsChanged() }
            guard let grant = answer.grant else {
                return respond(exchange, answer)
            }
            mint(grant) { [self] tokens in
                guard let tokens else {
                    return refuse(exchange, .unavailable("No token can be signed now."))
                }
                var answer = answer
                for member in tokens { answer.body.add(member.name, member.value) }
                respond(exchange, answer)
            }
        }
    }

    /// What else follows from changed accounts; `isOwnDoing` says that the answer has new tokens for who did it.
    private func follow(_ event: AccountEvent, isOwnDoing: Bool) {
        switch event {
        case .revoked(let uid, let time):
            revoke(uid: uid, issuedBefore: time, isOwnDoing: isOwnDoing)
        case .shutOut(let uid): revoke(.user(uid))
        case .policyChanged(let policy):
            accounts.set(policy)
            trustOwnKeys()
        case .deliver(let message):
            // In development the client may read the code at once. In production the time of the answer must not show
            // whether a message is sent.
            if configuration.mode == .development {
                return accounts.messages.deliver(message)
            }
            EventLoop.shared.enqueue { [self] in accounts.messages.deliver(message) }
        case .signedIn: break
        }
    }

    func respond(_ exchange: HTTPExchange, _ answer: IdentityAnswer) {
        if let request = accounts.attempts.administratorsRequest(exchange) {
            noteDeed(request, answer, exchange)
        }
        settleAnswered(exchange, answer)
        if let page = answer.page { return respondPage(exchange, answer, page) }
        let response = HTTPResponse.json(of: answer.body.value, status: answer.status)
        self.answer(exchange, answer.location.map { response.adding("Location", $0) } ?? response)
    }

    func refuse(_ exchange: HTTPExchange, _ error: IdentityError) {
        answer(exchange, IdentityService.identityAnswer(settleRefused(exchange, error)))
    }
}
