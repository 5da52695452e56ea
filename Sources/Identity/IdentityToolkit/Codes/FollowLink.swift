import Accounts

extension IdentityRequest {
    /// Executes an e-mail link, as an SDK with the code would request it.
    ///
    /// `newPassword` is used only for a reset.
    func follow(
        _ code: OneTimeCode,
        _ secret: String,
        newPassword: String,
        _ context: IdentityContext
    ) -> IdentityStep {
        let isReset = code.kind == .passwordReset
        let fields = [("oobCode", secret)] + (isReset ? [("newPassword", newPassword)] : [])
        let inner = IdentityRequest(
            route: route,
            verb: "POST",
            fields: RequestFields(pairs: fields),
            query: [:],
            isAdmin: false
        )
        return .attempt { () throws(IdentityError) in
            isReset ? try inner.resetPassword(context) : try inner.applyCode(context)
        }
    }
}
