package import JSONTree

/// What a token that passed every check says.
package struct VerifiedToken: Sendable, Equatable {
    /// All claims, with members of any name.
    package let claims: Node
    /// Who it is about: `sub`; of a database-secret token the `uid` of its data.
    package let subject: String?
    /// How the subject signed in: `password`, `anonymous`, `custom`, `google.com`, ...
    package let provider: String?
    /// When it stops being good; nil for an unsigned token, whose times are not looked at.
    package let expiry: Timestamp?
    /// The value of the rules variable `auth`: `{uid, provider, token}`; the data of a database-secret token.
    ///
    /// Absent stands for an empty object (a database-secret token with `"d":{}`): signed in all the same.
    package let auth: Node
    /// Whether rules do not apply: a database-secret token with `"admin":true`.
    package let isAdmin: Bool
}
