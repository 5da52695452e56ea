import Accounts
import DatabaseCore
import IdentityToolkit
import JSONTree
import Passwords
import Tokens
import Transport

/// Identity requests on their way: caller, body, steps, changes, tokens, answer.
extension Server {
    func receive(_ exchange: HTTPExchange, identity route: IdentityRoute) {
        do throws(IdentityError) {
            let head = exchange.head
            try requireVerb(head, route.method)
            if route.method.audience == .administrators {
                try admitAdministrator(exchange, route)
            } else {
                try admit(head, route)
                begin(exchange, route)
            }
        } catch {
            refuse(exchange, error)
        }
    }

    /// Begins a request whose caller has been let through: a large body is read away from the loop first.
    private func begin(_ exchange: HTTPExchange, _ route: IdentityRoute) {
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
            let request = try identityRequest(exchange, route, try fields.get())
            try throttle(request, exchange)
            go(IdentityToolkit.begin(request, identityContext(exchange.head)), exchange)
        } catch {
            refuse(exchange, error)
        }
    }

    /// Whether the caller may call this method at all.
    private func admit(_ head: RequestHead, _ route: IdentityRoute) throws(IdentityError) {
        switch route.method.audience {
        case .clients:
            guard head.queryValue("key")?.isEmpty == false else { throw .missingKey }
        case .people, .administrators: break
        case .development:
            guard configuration.mode == .development else { throw .notFound }
        }
    }

    /// Begins a request once its caller has proved to be an administrator, with the secret or an access token.
    private func admitAdministrator(
        _ exchange: HTTPExchange,
        _ route: IdentityRoute
    ) throws(IdentityError) {
        guard let header = exchange.head.header("authorization") else { throw .missingCredential }
        let token = header.hasPrefix("Bearer ") ? String(header.dropFirst(7)) : ""
        judge(token) { [self] outcome in
            guard exchange.isAnswerable else { return }
            guard case .admin = outcome else {
                refuse(exchange, .badCredential)
                return
            }
            begin(exchange, route)
        }
    }

    private func identityContext(_ head: RequestHead) -> IdentityContext {
        var context = IdentityContext(
            directory: accountDirectory,
            policy: accounts.policy,
            now: Clock.now(),
            address: publicAddress(of: head),
            random: AccountDesk.randomBytes
        )
        context.messages = accounts.messages.listed
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
            perform(work, for: exchange) { [self] outcome in
                guard exchange.isAnswerable else { return settleUnheard(exchange) }
                go(then(outcome, identityContext(exchange.head)), exchange)
            }
        case .check(let check, let then):
            verify(check) { [self] outcome in
                guard exchange.isAnswerable else { return settleUnheard(exchange) }
                guard let outcome else {
                    refuse(exchange, .unavailable("Too many tokens are being checked."))
                    return
                }
                go(then(outcome, identityContext(exchange.head)), exchange)
            }
        case .away(let work):
            let isTaken = readAway(0, of: exchange, work) { [self] then in
                guard exchange.isAnswerable else { return settleUnheard(exchange) }
                go(then(identityContext(exchange.head)), exchange)
            }
            if !isTaken { refuse(exchange, .unavailable("Too many long lists are being read.")) }
        }
    }

    // MARK: - Answers

    /// Commits what the answer changes, has its tokens signed, and sends it.
    private func finish(_ exchange: HTTPExchange, _ answer: IdentityAnswer) {
        commit(answer.changes) { [self] refusal in
            if let refusal {
                refuse(exchange, .unavailable(refusal))
                return
            }
            for event in answer.events { perform(event, isOwnDoing: answer.grant != nil) }
            guard let grant = answer.grant else {
                respond(exchange, answer)
                return
            }
            mint(grant) { [self] tokens in
                guard let tokens else {
                    refuse(exchange, .unavailable("No token can be signed now."))
                    return
                }
                var answer = answer
                for member in tokens { answer.body.add(member.name, member.value) }
                respond(exchange, answer)
            }
        }
    }

    /// What else follows from changed accounts; `isOwnDoing` says that the answer has new tokens for who did it.
    private func perform(_ event: AccountEvent, isOwnDoing: Bool) {
        switch event {
        case .revoked(let uid, let time):
            revoke(uid: uid, issuedBefore: time, isOwnDoing: isOwnDoing)
        case .shutOut(let uid): revoke(.user(uid))
        case .policyChanged(let policy):
            accounts.policy = policy
            trustOwnKeys()
        case .deliver(let message):
            // In development whoever has the answer may read the code. In production how soon the answer comes must not
            // tell whether anybody is written to.
            if configuration.mode == .development { return accounts.messages.deliver(message) }
            EventLoop.shared.enqueue { [self] in accounts.messages.deliver(message) }
        case .signedIn: break
        }
    }

    func respond(_ exchange: HTTPExchange, _ answer: IdentityAnswer) {
        if let request = accounts.attempts.administratorsRequest(exchange) {
            noteDeed(request, answer, exchange.head)
        }
        settle(exchange, answer)
        if let page = answer.page { return respond(exchange, answer, page) }
        var response = RESTAnswer.json(answer.body.value.text, status: answer.status)
        if let location = answer.location {
            response.headers.append((name: "Location", value: location))
        }
        self.answer(exchange, response)
    }

    func refuse(_ exchange: HTTPExchange, _ error: IdentityError) {
        answer(exchange, Server.identityAnswer(settle(exchange, error)))
    }
}
