import Accounts
import DatabaseCore
import IdentityToolkit
import JSONTree
import Logging
import Tokens
import Transport

/// A line of the log for what administrators do: who, where from, what, how much. No data, no addresses of people.
extension Server {
    /// Who an administrator is, by a token that has proved to be one's.
    func administrator(_ token: String?) -> String {
        guard let token, token != CredentialCheck.ownerLiteral else {
            return CredentialCheck.ownerLiteral
        }
        guard let subject = ClaimedSubject.read(token) else { return RulesAuthor.admin }
        do throws(BadRequest) {
            return try RulesAuthor.read(subject)
        } catch {
            return RulesAuthor.admin
        }
    }

    /// What the administrator who sent a request does.
    func deed(
        _ what: String,
        _ head: RequestHead,
        token: String? = nil,
        database: DatabaseID? = nil
    ) -> AdministratorLog.Deed {
        AdministratorLog.Deed(
            what: what,
            by: administrator(token ?? RESTParameters.bearer(head)),
            peer: clientAddress(of: head),
            database: database?.name
        )
    }

    /// Writes a line at once.
    func log(_ deed: AdministratorLog.Deed, _ details: Logger.Metadata = [:]) {
        log.notice("\(deed.what)", metadata: deed.metadata.merging(details) { $1 })
    }

    /// Adds to the series of a deed.
    func count(_ deed: AdministratorLog.Deed, path: String? = nil, _ amounts: [String: Int]) {
        if let ended = administratorLog.add(deed, path: path, amounts) { write(ended) }
    }

    /// Writes the lines of series that have ended; with `isOver` of all.
    func logEndedSeries(isOver: Bool = false) {
        for line in administratorLog.takeEnded(isOver: isOver) { write(line) }
    }

    private func write(_ line: AdministratorLog.Line) {
        log.notice("\(line.deed.what)", metadata: line.metadata)
    }

    // MARK: - Data and settings

    /// Notes what an administrator's request to a database has done.
    func noteDeed(_ response: Response, _ pending: PendingExchange) {
        guard let database = pending.administered else { return }
        let head = pending.exchange.head
        let token = pending.parameters.token
        switch response {
        case .written, .merged, .pushed:
            count(
                deed("data written", head, token: token, database: database),
                path: pending.path.description,
                ["bytes": head.bodyByteCount ?? 0]
            )
        case .done:
            log(
                deed("a setting is changed", head, token: token, database: database),
                ["setting": "/\(head.pathSegments.joined(separator: "/"))"]
            )
        default: break
        }
    }

    /// Notes that an administrator is answered with a value that leaves the server as a whole, or is large.
    func noteExport(_ pending: PendingExchange, _ byteCount: Int) {
        guard let database = pending.administered else { return }
        let parameters = pending.parameters
        let isEverything = pending.path.isRoot && !parameters.choosesChildren
        guard parameters.isExport || isEverything || byteCount >= Server.exportByteCount else {
            return
        }
        count(
            deed(
                "data exported",
                pending.exchange.head,
                token: parameters.token,
                database: database
            ),
            path: pending.path.description,
            ["bytes": byteCount]
        )
    }

    /// Bytes of an answer from which on it counts as an export, however it is asked for.
    private static let exportByteCount = 1 << 20

    // MARK: - Accounts

    /// Members of an account that a line may name; others could be anything.
    private static let accountMembers: Set<String> = [
        "email", "emailVerified", "password", "displayName", "photoUrl", "phoneNumber",
        "disableUser", "customAttributes", "validSince", "deleteAttribute", "deleteProvider",
        "linkProviderUserInfo",
    ]

    /// Notes what an administrator's identity request has done.
    func noteDeed(_ request: IdentityRequest, _ answer: IdentityAnswer, _ head: RequestHead) {
        let fields = request.fields
        func once(_ what: String, _ details: Logger.Metadata) { log(deed(what, head), details) }
        switch request.route.method {
        case .adminCreate:
            once("an account is made", ["uid": "\(answer.body.text("localId") ?? "-")"])
        case .adminUpdate:
            var names: [String] = []
            fields.body.visitChildren { key, _ in
                names.append(Key(key).string)
                return true
            }
            let known = names.filter { Self.accountMembers.contains($0) }.sorted()
            once(
                "an account is changed",
                [
                    "uid": "\(answer.body.text("localId") ?? "-")",
                    "members": "\(known.joined(separator: ","))",
                ]
            )
        case .adminDelete:
            once("an account is removed", ["uid": "\(fields.node("localId").string ?? "-")"])
        case .batchDelete:
            count(deed("accounts removed", head), ["accounts": fields.node("localIds").childCount])
        case .adminSendOobCode:
            once(
                "a link for an account is made",
                [
                    "kind": "\(fields.node("requestType").string ?? "-")",
                    "uid": "\(uid(ofEmail: fields.node("email").string) ?? "-")",
                ]
            )
        case .batchCreate:
            let refused = answer.body.count("error")
            let taken = fields.node("users").childCount - refused
            count(deed("accounts imported", head), ["accounts": taken, "refused": refused])
        case .batchGet:
            count(deed("accounts exported", head), ["accounts": answer.listedCount])
        default: break
        }
    }

    private func uid(ofEmail email: String?) -> String? {
        email.flatMap { EmailAddress.normalized($0) }
            .flatMap { accountDirectory.account(email: $0)?.uid }
    }
}
