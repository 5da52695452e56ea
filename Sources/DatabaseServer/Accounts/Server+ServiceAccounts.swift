import Accounts
import DatabaseCore
import IdentityToolkit
import JSONTree
import Logging
import Tokens
import Transport

/// Service accounts as administrators see them: list, make, revoke.
///
///     GET    /.accounts/service-accounts.json               {"serviceAccounts":[{name, email, createdAt, keys:[{id, createdAt, ownUniverse}]}]}
///     POST   /.accounts/service-accounts.json               {name, addKey?}: the key file, which is told this once
///     DELETE /.accounts/service-accounts/NAME.json[?key=ID] the account with all its keys, or one key
extension Server {
    /// Bytes of a body: a name and a flag.
    private static let serviceAccountBodyByteLimit = 4096

    func receive(_ exchange: HTTPExchange, serviceAccounts route: AccountsRoute) {
        switch (exchange.head.method, route) {
        case ("POST", _): createServiceAccount(exchange)
        case (_, .serviceAccount(let name)): revokeServiceAccount(exchange, name)
        default: listServiceAccounts(exchange)
        }
    }

    // MARK: - Listed

    private func listServiceAccounts(_ exchange: HTTPExchange) {
        let accounts = accountDirectory.serviceAccounts.map { account in
            let keys = account.keys.map { key in
                var members = JSONMembers()
                members.add("id", key.id)
                members.add("createdAt", .integer(key.createdAt.milliseconds))
                members.add("ownUniverse", .boolean(key.isOfOwnUniverse))
                return members.value
            }
            var members = JSONMembers()
            members.add("name", account.name)
            members.add("email", account.email)
            members.add("createdAt", .integer(account.createdAt.milliseconds))
            members.add("disabled", .boolean(account.isDisabled))
            members.add("keys", .list(keys))
            return members.value
        }
        var body = JSONMembers()
        body.add("serviceAccounts", .list(accounts))
        let text = body.value.text
        // What is seen here may not be durable yet.
        commit(AccountChanges()) { [self] _ in answer(exchange, RESTAnswer.json(text)) }
    }

    // MARK: - Made

    /// What is asked for: a new service account, or one more key of one that is there.
    private struct ServiceAccountRequest: Sendable {
        let name: String
        let addsKey: Bool

        init(_ body: [UInt8]) throws(BadRequest) {
            do throws(IdentityError) {
                let fields = try RequestFields(json: body)
                name = try fields.text("name") ?? ""
                addsKey = try fields.flag("addKey") ?? false
            } catch {
                throw BadRequest(error.message)
            }
            guard ServiceAccount.isName(name) else {
                throw BadRequest(
                    "'name' must have 1 to 30 lower-case letters, digits and hyphens"
                )
            }
        }

        /// The account to which a key is to be added, as the accounts are now; else the answer that refuses.
        func account(
            in directory: AccountDirectory,
            project: String,
            now: Timestamp
        ) throws(ServiceAccountRefusal) -> ServiceAccount {
            let present = directory.serviceAccount(named: name)
            switch (present, addsKey) {
            case (nil, true):
                throw ServiceAccountRefusal(404, "There is no service account '\(name)'.")
            case (.some, false):
                throw ServiceAccountRefusal(
                    409,
                    "There is a service account '\(name)' already; 'addKey' makes one more key of its."
                )
            case (nil, false):
                let count = directory.serviceAccounts.count
                guard count < ServiceAccount.countLimit else {
                    throw ServiceAccountRefusal(
                        400,
                        "There are \(count) service accounts, and no more can be; revoke one."
                    )
                }
                return ServiceAccount(name: name, project: project, createdAt: now)
            case (.some(let account), true):
                guard account.keys.count < ServiceAccount.keyLimit else {
                    throw ServiceAccountRefusal(
                        400,
                        "'\(name)' has \(account.keys.count) keys, and can have no more; revoke one."
                    )
                }
                return account
            }
        }
    }

    /// Why a service account is not made.
    private struct ServiceAccountRefusal: Error {
        let status: Int
        let text: String

        init(_ status: Int, _ text: String) {
            self.status = status
            self.text = text
        }
    }

    /// The two halves of a new key, as PEM text.
    private struct NewKey: Sendable {
        let privatePEM: String
        let publicPEM: String

        /// Takes some 100 ms; nil when OpenSSL has no memory or randomness.
        static func make() -> NewKey? {
            guard let pair = KeyPair.generateRSA(), let privatePEM = pair.pem,
                let publicPEM = pair.publicKey.pem
            else { return nil }
            return NewKey(
                privatePEM: String(decoding: privatePEM, as: UTF8.self),
                publicPEM: String(decoding: publicPEM, as: UTF8.self)
            )
        }
    }

    private func createServiceAccount(_ exchange: HTTPExchange) {
        let body = exchange.takeBody()
        do {
            guard body.count <= Server.serviceAccountBodyByteLimit else {
                throw ServiceAccountRefusal(
                    413,
                    "The body has more than \(Server.serviceAccountBodyByteLimit) bytes."
                )
            }
            let request = try ServiceAccountRequest(body)
            _ = try request.account(
                in: accountDirectory,
                project: accounts.policy.project,
                now: Clock.now()
            )
            let goOn = Continuation<NewKey?> { [self] key in finish(exchange, request, key) }
            let isTaken = workers.archives.post(
                .read {
                    let key = NewKey.make()
                    EventLoop.shared.enqueue { goOn.body(key) }
                }
            )
            if !isTaken {
                answer(exchange, RESTAnswer.error(503, "Too much is being done; try again."))
            }
        } catch let refusal as ServiceAccountRefusal {
            answer(exchange, RESTAnswer.error(refusal.status, refusal.text))
        } catch let error as BadRequest {
            answer(exchange, RESTAnswer.bad(error))
        } catch {
            answer(exchange, RESTAnswer.error(500, "The service account cannot be made."))
        }
    }

    /// Stores the public half, and tells the private one to who asked; nobody else ever sees it.
    private func finish(_ exchange: HTTPExchange, _ request: ServiceAccountRequest, _ key: NewKey?)
    {
        // Somebody who is gone does not get a key, so there is none.
        guard exchange.isAnswerable else { return }
        guard let key else {
            answer(exchange, RESTAnswer.error(503, "No key can be made now; try again."))
            return
        }
        let now = Clock.now()
        var account: ServiceAccount
        do throws(ServiceAccountRefusal) {
            account = try request.account(
                in: accountDirectory,
                project: accounts.policy.project,
                now: now
            )
        } catch {
            answer(exchange, RESTAnswer.error(error.status, error.text))
            return
        }
        let id = AccountDesk.randomBytes(20).hexadecimal
        let half = ServiceAccount.Key(
            id: id,
            publicPEM: key.publicPEM,
            createdAt: now,
            isOfOwnUniverse: true
        )
        guard account.add(half) else {
            answer(exchange, RESTAnswer.error(503, "No key can be made now; try again."))
            return
        }
        let file = ServiceAccountFile(
            keyID: id,
            privatePEM: key.privatePEM,
            email: account.email,
            address: publicAddress(of: exchange.head)
        )
        commit(accountDirectory.changes(storing: account)) { [self] refusal in
            if let refusal {
                answer(exchange, RESTAnswer.error(503, refusal))
                return
            }
            trustServiceAccounts()
            log(
                deed("a service account has a new key", exchange.head),
                ["name": "\(account.name)", "key": "\(id)"]
            )
            answer(exchange, RESTAnswer.secret(file.text))
        }
    }

    // MARK: - Revoked

    /// Takes an account or a key away; when that is durable, what was had with it no longer counts.
    private func revokeServiceAccount(_ exchange: HTTPExchange, _ name: String) {
        let directory = accountDirectory
        guard var account = directory.serviceAccount(named: name) else {
            answer(exchange, RESTAnswer.error(404, "There is no service account '\(name)'."))
            return
        }
        var changes = directory.changes(removing: account)
        var end = Int64.max
        let key = exchange.head.queryValue("key")
        if let key {
            guard account.removeKey(key, at: Clock.now()) else {
                answer(exchange, RESTAnswer.error(404, "'\(name)' has no key '\(key)'."))
                return
            }
            changes = directory.changes(storing: account)
            end = account.validSince
        }
        commit(changes) { [self] refusal in
            if let refusal {
                answer(exchange, RESTAnswer.error(503, refusal))
                return
            }
            trustServiceAccounts()
            revoke(.serviceAccount(account.email), issuedBefore: end)
            log(
                deed("a service account is revoked", exchange.head),
                ["name": "\(name)", "key": "\(key ?? "all")"]
            )
            answer(exchange, RESTAnswer.statusOK)
        }
    }

    // MARK: - Realm

    /// What the accounts of this server are: `GET /.accounts/realm.json`.
    func answerRealm(_ exchange: HTTPExchange) {
        let policy = accounts.policy
        let directory = accountDirectory
        var body = JSONMembers()
        body.add("project", policy.project)
        body.add("issuer", policy.issuer)
        body.add("audience", policy.audience)
        body.add("signIn", .list(policy.methods.map(\.rawValue).sorted().map { .string($0) }))
        // Of other providers development believes anything, and production serves none.
        body.add("providers", policy.isDevelopment ? "any" : "none")
        body.add("signUp", policy.isSignUpOpen ? "open" : "admin")
        body.add("emailGuard", .boolean(policy.guardsEmails))
        body.add("accounts", .integer(Int64(directory.accountCount)))
        body.add("serviceAccounts", .integer(Int64(directory.serviceAccounts.count)))
        answer(exchange, RESTAnswer.json(body.value.text))
    }
}

/// The key file of a service account, in the form that Google's libraries read, so made that they send nothing to Google:
///
/// - `universe_domain` is not Google's. Since 2.62 or before, `google-auth` asks an address of Google's for the regions of
///   each service account of Google's universe, with the account's access token. In another universe it does not ask, and
///   signs its access tokens itself. Libraries of Google Cloud refuse a key of another universe.
/// - There is no `project_id`. What the Admin SDKs send to Google's own addresses (accounts, messages) needs one, and is
///   refused by the SDK itself without.
///
/// Source: Google Cloud IAM, "Create and delete service account keys"; google-auth, `service_account`.
struct ServiceAccountFile {
    let keyID: String
    let privatePEM: String
    let email: String
    /// Scheme, host and port that the account's program reaches the server by.
    let address: String

    /// JSON text, a line for each member.
    var text: [UInt8] {
        let members = [
            ("type", "service_account"), ("private_key_id", keyID),
            ("private_key", privatePEM), ("client_email", email), ("client_id", keyID),
            ("auth_uri", address), ("token_uri", AccessTokenAddress.of(address)),
            ("universe_domain", SelfSignedAccess.universe),
        ]
        var text = Array("{".utf8)
        for (name, value) in members {
            text += Array((text.count == 1 ? "\n  " : ",\n  ").utf8)
            appendJSONString(name, to: &text)
            text += Array(": ".utf8)
            appendJSONString(value, to: &text)
        }
        return text + Array("\n}\n".utf8)
    }
}

extension RESTAnswer {
    /// JSON that nobody on its way may keep.
    static func secret(_ body: [UInt8], status: Int = 200) -> HTTPResponse {
        let headers = [
            (name: "Content-Type", value: "application/json; charset=utf-8"),
            (name: "Cache-Control", value: "no-store"),
        ]
        return HTTPResponse(status: status, headers: headers, body: body)
    }
}

extension [UInt8] {
    /// Two digits for each byte.
    fileprivate var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
            as: UTF8.self
        )
    }
}
