import JSONTree

/// Who a token says it is about.
package enum ClaimedSubject {
    /// `sub`, else the `uid` in the data of a database-secret token; nil when it says nothing of the kind.
    ///
    /// Nothing is verified here: it counts only for somebody who does nothing before the token is.
    package static func read(_ token: String) -> String? {
        do throws(TokenError) {
            let claims = try CompactToken(token).claims
            return claims.member("sub").string ?? claims.member("d").member("uid").string
        } catch {
            return nil
        }
    }
}
