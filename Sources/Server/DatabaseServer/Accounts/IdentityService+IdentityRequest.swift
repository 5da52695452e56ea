import IdentityToolkit
import JSONTree
import Logging
import Transport

/// Identity requests before they are looked at: HTTP method, body, project.
extension IdentityService {
    /// Whether the address is there, and takes this HTTP method.
    func requireVerb(_ head: RequestHead, _ method: IdentityMethod) throws(IdentityError) {
        if method == .unknown { throw .notFound }
        if method.audience == .development, configuration.mode != .development {
            throw .notFound
        }
        guard method.verbs.contains(head.method) else { throw .methodNotAllowed(method.verbs) }
    }

    // MARK: - Refusals

    /// The answer that refuses an identity request.
    static func identityAnswer(_ error: IdentityError) -> HTTPResponse {
        var answer = HTTPResponse.json(error.body.text, status: error.status)
        if !error.verbs.isEmpty {
            answer.headers.append(("Allow", (error.verbs + ["OPTIONS"]).joined(separator: ", ")))
        }
        if let seconds = error.retryAfter {
            answer.headers.append(("Retry-After", "\(seconds)"))
        }
        return answer
    }

    // MARK: - Project

    /// Decides over the project that an address names: a server has one.
    ///
    /// In development any name will do, as with the official emulator: the first one becomes the project where none
    /// is given (`--project`), so that tokens have the issuer and the audience that its SDKs check.
    func settleProject(of route: IdentityRoute) throws(IdentityError) {
        guard let project = route.project, project != accounts.policy.project else { return }
        guard configuration.mode == .development else {
            throw .wrongProject(accounts.policy.project)
        }
        guard accounts.adopt(project) else { return }
        trustOwnKeys()
        log.notice(
            "the first project that an administrator names is this server's; --project sets it",
            metadata: ["project": "\(project)"]
        )
    }
}
