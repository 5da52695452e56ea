import DatabaseCore
import JSONTree
import Logging
import Queries
import Tokens
import Transport

/// A line of the log for what administrators do: who, where from, what, how much. No data, no addresses of people.
extension AdminService {
    /// Who an administrator is, by a token that has proved to be one's.
    func administrator(_ token: String?) -> String {
        guard let token, token != CredentialCheck.ownerLiteral else {
            return CredentialCheck.ownerLiteral
        }
        guard let subject = UnverifiedClaims.subject(of: token) else { return RulesAuthor.admin }
        do throws(BadRequest) {
            return try RulesAuthor.read(subject)
        } catch {
            return RulesAuthor.admin
        }
    }

    /// Who an administrator is that has sent a request.
    func administrator(of exchange: HTTPExchange, token: String? = nil) -> String {
        if let session = ResolvedRequest.of(exchange).consoleSession { return session.name }
        return administrator(token ?? RESTParameters.bearer(exchange.head))
    }

    /// What the administrator who sent a request does.
    func deed(
        _ what: String,
        _ exchange: HTTPExchange,
        token: String? = nil,
        database: DatabaseID? = nil,
        door: String? = nil,
    ) -> AdministratorLog.Deed {
        AdministratorLog.Deed(
            what: what,
            by: administrator(of: exchange, token: token),
            peer: clientAddress(of: exchange.head),
            database: database?.name,
            door: door
        )
    }

    /// What a token has proved to be worth, with the name of an administrator.
    func named(_ outcome: CredentialOutcome, by token: String) -> CredentialOutcome {
        guard case .admin(let term) = outcome else { return outcome }
        return .admin(
            CredentialTerm(
                expiry: term.expiry,
                holder: term.holder,
                administrator: administrator(token)
            )
        )
    }

    /// Writes a line at once, and has the audit log say the same of the request.
    func log(
        _ deed: AdministratorLog.Deed,
        _ details: Logger.Metadata = [:],
        on exchange: HTTPExchange
    ) {
        log.notice("\(deed.what)", metadata: deed.metadata.merging(details) { $1 })
        ResolvedRequest.of(exchange).deed = AuditDeed(
            what: deed.what,
            database: deed.database,
            details: details.mapValues(\.description)
        )
    }

    // MARK: - Data and settings

    /// Notes what an administrator's request to a database has done.
    func noteDeed(_ response: Response, _ pending: PendingExchange) {
        if case .rulesPut(let version) = response { noteRules(version, pending) }
        guard let database = pending.administered else { return }
        let (request, head) = (pending.request, pending.exchange.head)
        func deed(_ what: String, door: String? = nil) -> AdministratorLog.Deed {
            let token = pending.parameters.token
            return self.deed(
                what,
                pending.exchange,
                token: token,
                database: database,
                door: door
            )
        }
        switch response {
        case .written, .merged, .pushed:
            let amounts = ["bytes": head.bodyByteCount ?? 0]
            count(deed(Self.written), path: pending.path.description, amounts)
            guard request.route.isForAdmins || server.audit.isFromConsole(request) else { break }
            request.deed = AuditDeed(
                what: Self.written,
                path: pending.target.description,
                details: ["kind": kind(of: pending), "bytes": "\(head.bodyByteCount ?? 0)"]
            )
        case .done:
            let setting = "/\(head.pathSegments.joined(separator: "/"))"
            log(deed("a setting is changed"), ["setting": "\(setting)"], on: pending.exchange)
        case .streaming where pending.path.isRoot && pending.parameters.query.loadsEverything:
            count(deed(Self.exported, door: "stream"), path: pending.path.description, [:])
        default: break
        }
    }

    /// How a request of its own changes data.
    private func kind(of pending: PendingExchange) -> String {
        let kind: WriteKind =
            switch pending.method {
            case .patch: .update
            case .post: pending.request.route.isForAdmins ? .set : .push
            case .delete: .remove
            case .put, .get, .head: .set
            }
        return kind.rawValue
    }

    /// Notes that the rules of a database are those of another version.
    private func noteRules(_ version: Int, _ pending: PendingExchange) {
        guard pending.request.isChange else { return }
        let isRemoval = pending.method == .delete
        pending.request.deed = AuditDeed(
            what: isRemoval ? "the database's own rules are removed" : "the rules are replaced",
            details: ["version": "\(version)", "before": "\(version - 1)"]
        )
    }

    /// Notes what an administrator has done over a connection.
    func noteDeed(
        _ act: AdministratorAct,
        _ id: ConnectionID,
        of database: DatabaseID,
        by name: String,
    ) {
        guard let peer = server.sockets.peer(of: id) else { return }
        func deed(_ what: String) -> AdministratorLog.Deed {
            AdministratorLog.Deed(
                what: what,
                by: name,
                peer: peer.address,
                database: database.name,
                door: peer.door
            )
        }
        switch act {
        case .write(let kind, let path, let byteCount):
            count(deed(Self.written), path: path.description, ["bytes": byteCount])
            guard let author = peer.author else { break }
            server.audit.record(
                AuditEntry(
                    time: Clock.now(),
                    author: author,
                    peer: peer.address,
                    door: "console",
                    deed: AuditDeed(
                        what: Self.written,
                        database: database.name,
                        path: path.description,
                        details: ["kind": kind.rawValue, "bytes": "\(byteCount)"]
                    )
                )
            )
        case .readAll: count(deed(Self.exported), path: Path.root.description, [:])
        }
    }

    /// Notes that an administrator searches. What for may be someone's name, so it is not said.
    func noteSearch(_ pending: PendingExchange, below path: Path) {
        guard let database = pending.administered else { return }
        let token = pending.parameters.token
        let deed = deed("data searched", pending.exchange, token: token, database: database)
        count(deed, path: path.description, [:])
    }

    private static let written = "data written"
    private static let exported = "data exported"

    /// Notes that an administrator is answered with a value that leaves the server as a whole, or is large.
    func noteExport(_ pending: PendingExchange, _ byteCount: Int) {
        guard let database = pending.administered else { return }
        let parameters = pending.parameters
        let isEverything = pending.path.isRoot && !parameters.choosesChildren
        guard parameters.isExport || isEverything || byteCount >= Self.exportByteCount else {
            return
        }
        count(
            deed(Self.exported, pending.exchange, token: parameters.token, database: database),
            path: pending.path.description,
            ["bytes": byteCount]
        )
    }

    /// Bytes of an answer from which on it counts as an export, however it is asked for.
    private static let exportByteCount = 1 << 20
}
