import JSONTree

/// What a token says, before or besides its verification.
package enum UnverifiedClaims {
    /// Who it is about: `sub`, else the `uid` in the data of a database-secret token; nil when it has neither.
    ///
    /// Nothing is verified here: use it only for work that waits until the token is verified.
    package static func subject(of token: String) -> String? {
        do throws(TokenError) {
            let claims = try CompactToken(token).claims
            return claims.member("sub").string ?? claims.member("d").member("uid").string
        } catch {
            return nil
        }
    }

    /// The JSON text of its claims, in which nulls and empty lists are kept; nil for what is not a token in form.
    package static func text(of token: String) -> [UInt8]? {
        let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 3 ? Base64.decodeURL(parts[1]) : nil
    }
}
