import Accounts

extension IdentityToolkit {
    /// Does what the link of a letter is for, as an SDK would ask for it that was handed the code.
    ///
    /// `newPassword` counts for a reset alone.
    static func follow(
        _ code: OneTimeCode,
        _ secret: String,
        newPassword: String,
        _ request: IdentityRequest,
        _ context: IdentityContext
    ) -> IdentityStep {
        let isReset = code.kind == .passwordReset
        let fields = [("oobCode", secret)] + (isReset ? [("newPassword", newPassword)] : [])
        let inner = IdentityRequest(
            route: request.route,
            verb: "POST",
            fields: RequestFields(pairs: fields),
            query: [:],
            isAdmin: false
        )
        return .attempt { () throws(IdentityError) in
            isReset ? try resetPassword(inner, context) : try applyCode(inner, context)
        }
    }
}
