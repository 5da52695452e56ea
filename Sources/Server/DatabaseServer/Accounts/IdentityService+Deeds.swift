import Accounts
import IdentityToolkit
import JSONTree
import Logging
import Transport

/// The lines of the log for what administrators do with accounts.
extension IdentityService {
    /// Members of an account that a line may name; others could be anything.
    private static let accountMembers: Set<String> = [
        "email", "emailVerified", "password", "displayName", "photoUrl", "phoneNumber",
        "disableUser", "customAttributes", "validSince", "deleteAttribute", "deleteProvider",
        "linkProviderUserInfo",
    ]

    /// Notes what an administrator's identity request has done.
    func noteDeed(_ request: IdentityRequest, _ answer: IdentityAnswer, _ exchange: HTTPExchange) {
        let fields = request.fields
        func once(_ what: String, _ details: Logger.Metadata) {
            log(deed(what, exchange), details, on: exchange)
        }
        func count(_ what: String, _ amounts: [String: Int]) {
            server.admin.count(deed(what, exchange), amounts)
            let isChange = ResolvedRequest.of(exchange).isChange
            if isChange {
                let details = amounts.mapValues { "\($0)" }
                ResolvedRequest.of(exchange).deed = AuditDeed(what: what, details: details)
            }
        }
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
            count("accounts removed", ["accounts": fields.node("localIds").childCount])
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
            count("accounts imported", ["accounts": taken, "refused": refused])
        case .batchGet:
            count("accounts exported", ["accounts": answer.listedCount])
        default: break
        }
    }

    private func uid(ofEmail email: String?) -> String? {
        email.flatMap { EmailAddress.normalized($0) }
            .flatMap { accountDirectory.account(email: $0)?.uid }
    }
}
