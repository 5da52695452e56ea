package import DataCommands
package import Files
import JSONTree

/// `hearth users claims`: what an administrator says about a user, which rules see in `auth.token`.
package enum UserClaims {
    /// What is to be done with them.
    package enum Change: Sendable {
        /// Print them.
        case show
        /// Put the JSON object in their place.
        case set(String)
        case clear
    }

    /// Prints or replaces the claims of a user.
    ///
    /// - Throws: `CommandError` of the kind `usage` for claims that are no JSON object.
    package static func apply(
        _ change: Change,
        to selector: UserSelector,
        _ service: AccountService
    ) throws(CommandError) -> CommandOutcome {
        let text: String
        switch change {
        case .show:
            let user = try service.find(selector, in: service.project()).user
            return .done(user.claims ?? "{}")
        case .set(let claims):
            try check(claims)
            text = claims
        case .clear: text = "{}"
        }
        let user = try UserChange.change(selector, service) { $0.add("customAttributes", text) }
        return .done(
            "\(user.uid) (\(user.shown)) has the claims \(text) from the next token on; it had "
                + (user.claims ?? "none")
        )
    }

    private static func check(_ claims: String) throws(CommandError) {
        do throws(JSONError) {
            _ = try JSONParts.members(of: Array(claims.utf8))
        } catch {
            throw .usage(
                "the claims are no JSON object (byte \(error.offset)); write them like '{\"admin\":true}'"
            )
        }
    }
}
