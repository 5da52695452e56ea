import DatabaseCore
import Transport

/// Addresses that are for administrators and that the engine has no part in.
extension IdentityService {
    /// Goes on with a request of an administrator, whose credential is in the `Authorization` header; answers others. In
    /// development, callers on this machine need no credential.
    func asAdministrator(_ exchange: HTTPExchange, then: @escaping @LoopActor () -> Void) {
        let head = exchange.head
        let isInAddress = head.query.contains { name, value in
            !value.isEmpty && (name == "auth" || name == "access_token")
        }
        if isInAddress {
            // Addresses are in the logs of proxies and the histories of browsers.
            let text = "An administrator's credential belongs into the Authorization header"
            return answer(exchange, .error(401, text))
        }
        guard let credential = RESTParameters.bearer(head) else {
            if ResolvedRequest.of(exchange).consoleSession != nil { return then() }
            let isOpen = server.requests.opensAdminRoutes(to: head)
            return isOpen ? then() : answer(exchange, .error(401, "Permission denied"))
        }
        check(credential) { [self] outcome in
            guard exchange.isAnswerable else { return }
            switch outcome {
            case .admin: then()
            case .user: answer(exchange, .error(401, "Permission denied"))
            case .refused(.invalid(let text)), .refused(.expired(let text)):
                answer(exchange, .error(401, text))
            }
        }
    }
}
