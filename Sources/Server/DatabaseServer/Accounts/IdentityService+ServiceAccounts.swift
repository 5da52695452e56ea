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
///     POST   /.accounts/service-accounts.json               {name, addKey?}: the key file, which is sent this once
///     DELETE /.accounts/service-accounts/NAME.json[?key=ID] the account with all its keys, or one key
extension IdentityService {
    /// Bytes of a body: a name and a flag.
    private nonisolated static let serviceAccountBodyByteLimit = 4096

    // MARK: - Listed

    /// Lists service accounts, or makes one.
    func answerServiceAccounts(_ exchange: HTTPExchange) {
        exchange.head.method == "POST" ? create(exchange) : list(exchange)
    }

    private func list(_ exchange: HTTPExchange) {
        let accounts = accountDirectory.serviceAccounts.map { account -> JSONValue in
            let keys = account.keys.map { key -> JSONValue in
                [
                    "id": .string(key.id), "createdAt": .integer(key.createdAt.milliseconds),
                    "ownUniverse": .boolean(key.isOfOwnUniverse),
                ]
            }
            return [
                "name": .string(account.name), "email": .string(account.email),
                "createdAt": .integer(account.createdAt.milliseconds),
                "disabled": .boolean(account.isDisabled), "keys": .list(keys),
            ]
        }
        let list: JSONValue = ["serviceAccounts": .list(accounts)]
        // What is seen here may not be durable yet.
        commit(AccountChanges()) { [self] _ in answer(exchange, .json(of: list)) }
    }

    // MARK: - Made

    /// What is asked for: a new service account, or one more key of one that is there.
    private struct ServiceAccountRequest: Sendable {
        let name: String
        let addsKey: Bool

        init(_ body: [UInt8]) throws(Refusal) {
            let byteLimit = IdentityService.serviceAccountBodyByteLimit
            guard body.count <= byteLimit else {
                throw Refusal(413, "The body has more than \(byteLimit) bytes.")
            }
            do throws(IdentityError) {
                let fields = try RequestFields(json: body)
                name = try fields.text("name") ?? ""
                addsKey = try fields.flag("addKey") ?? false
            } catch {
                throw Refusal(400, error.message)
            }
            guard ServiceAccount.isName(name) else {
                throw Refusal(
                    400,
                    "'name' must have 1 to 30 lower-case ASCII letters, digits and hyphens"
                )
            }
        }

        /// The account to which a key is to be added, as the accounts are now; else the answer that refuses.
        func account(
            in directory: AccountDirectory,
            _ project: String,
            _ now: Timestamp
        ) throws(Refusal) -> ServiceAccount {
            let present = directory.serviceAccount(named: name)
            switch (present, addsKey) {
            case (nil, true):
                throw Refusal(404, "There is no service account '\(name)'.")
            case (.some, false):
                throw Refusal(
                    409,
                    "There is a service account '\(name)' already; 'addKey' makes one more key of its."
                )
            case (nil, false):
                let count = directory.serviceAccounts.count
                guard count < ServiceAccount.countLimit else {
                    throw Refusal(
                        400,
                        "There are \(count) service accounts, and no more can be; revoke one."
                    )
                }
                return ServiceAccount(name: name, project: project, createdAt: now)
            case (.some(let account), true):
                guard account.keys.count < ServiceAccount.keyLimit else {
                    throw Refusal(
                        400,
                        "'\(name)' has \(account.keys.count) keys, and can have no more; revoke one."
                    )
                }
                return account
            }
        }
    }

    /// Why a service account is not made.
    private struct Refusal: Error {
        let status: Int
        let text: String

        init(_ status: Int, _ text: String) {
            self.status = status
            self.text = text
        }
    }

    private func create(_ exchange: HTTPExchange) {
        do throws(Refusal) {
            let request = try ServiceAccountRequest(exchange.takeBody())
            _ = try request.account(in: accountDirectory, accounts.policy.project, Clock.now())
            // Takes some 100 ms.
            let isTaken = workers.archives.perform {
                KeyPair.generateRSA()
            } then: { [self] key in
                storeKey(exchange, request, key)
            }
            if !isTaken { throw Refusal(503, "Too much is being done; try again.") }
        } catch {
            answer(exchange, .error(error.status, error.text))
        }
    }

    /// Stores the public half and sends the private one, which is kept nowhere.
    private func storeKey(
        _ exchange: HTTPExchange,
        _ request: ServiceAccountRequest,
        _ key: KeyPair?
    ) {
        // A client that has left gets no key, so none is stored.
        guard exchange.isAnswerable else { return }
        let now = Clock.now()
        let id = Hexadecimal.encode(Randomness.bytes(20))
        var account: ServiceAccount
        let file: ServiceAccountFile
        do throws(Refusal) {
            account = try request.account(in: accountDirectory, accounts.policy.project, now)
            guard let key, let privatePEM = key.pem, let publicPEM = key.publicKey.pem,
                account.add(
                    ServiceAccount.Key(
                        id: id,
                        publicPEM: String(decoding: publicPEM, as: UTF8.self),
                        createdAt: now,
                        isOfOwnUniverse: true
                    )
                )
            else { throw Refusal(503, "No key can be made now; try again.") }
            file = ServiceAccountFile(
                keyID: id,
                privatePEM: String(decoding: privatePEM, as: UTF8.self),
                email: account.email,
                address: publicAddress(of: exchange.head)
            )
        } catch {
            return answer(exchange, .error(error.status, error.text))
        }
        let name = account.name
        commit(accountDirectory.changes(storing: account)) { [self] refusal in
            if let refusal {
                return answer(exchange, .error(503, refusal))
            }
            trustServiceAccounts()
            log(
                deed("a service account has a new key", exchange),
                ["name": "\(name)", "key": "\(id)"],
                on: exchange
            )
            answer(exchange, .secret(file.text))
        }
    }

    // MARK: - Revoked

    /// Takes an account or a key away; when that is durable, what was had with it no longer counts.
    func revokeServiceAccount(_ exchange: HTTPExchange) {
        let name = ResolvedRequest.of(exchange).name
        let directory = accountDirectory
        guard var account = directory.serviceAccount(named: name) else {
            return answer(exchange, .error(404, "There is no service account '\(name)'."))
        }
        var changes = directory.changes(removing: account)
        var end = Int64.max
        let key = exchange.head.queryValue("key")
        if let key {
            guard account.removeKey(key, at: Clock.now()) else {
                return answer(exchange, .error(404, "'\(name)' has no key '\(key)'."))
            }
            changes = directory.changes(storing: account)
            end = account.validSince
        }
        commit(changes) { [self] refusal in
            if let refusal {
                return answer(exchange, .error(503, refusal))
            }
            trustServiceAccounts()
            revoke(.serviceAccount(account.email), issuedBefore: end)
            log(
                deed("a service account is revoked", exchange),
                ["name": "\(name)", "key": "\(key ?? "all")"],
                on: exchange
            )
            answer(exchange, .statusOK)
        }
    }

    // MARK: - Realm

    /// What the accounts of this server are: `GET /.accounts/realm.json`.
    func answerRealm(_ exchange: HTTPExchange) {
        let policy = accounts.policy
        let directory = accountDirectory
        let body: JSONValue = [
            "project": .string(policy.project), "issuer": .string(policy.issuer),
            "audience": .string(policy.audience),
            "signIn": .list(policy.methods.map(\.rawValue).sorted().map { .string($0) }),
            // Of other providers development believes anything, and production serves none.
            "providers": policy.isDevelopment ? "any" : "none",
            "signUp": policy.isSignUpOpen ? "open" : "admin",
            "emailGuard": .boolean(policy.guardsEmails),
            "accounts": .number(directory.accountCount),
            "serviceAccounts": .number(directory.serviceAccounts.count),
        ]
        answer(exchange, .json(of: body))
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

extension HTTPResponse {
    /// JSON that no cache may keep.
    static func secret(_ body: [UInt8], status: Int = 200) -> HTTPResponse {
        let headers = headers(type: "application/json; charset=utf-8", cache: "no-store")
        return HTTPResponse(status: status, headers: headers, body: body)
    }
}
