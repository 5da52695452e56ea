package import JSONTree

extension Account {
    /// From now on only sign-ins that come after this count.
    ///
    /// Tokens are dated in whole seconds, so `validSince` becomes a second that no token has yet: the one after `now`,
    /// or after that of the revocation before, whose second new tokens are dated by (`TokenGrant.signIn`).
    package mutating func revoke(at now: Timestamp) {
        validSince = max(now.milliseconds / 1000, validSince) + 1
    }

    /// Does as `revoke` for a moment that is not yet past, in seconds since 1970. An earlier one is taken as it is, unless
    /// it would bring back what was revoked.
    package mutating func setValidSince(_ seconds: Int64, at now: Timestamp) {
        if seconds >= now.milliseconds / 1000 {
            revoke(at: now)
        } else {
            validSince = max(seconds, validSince)
        }
    }
}
