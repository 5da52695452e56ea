/// Executes identity requests: reads the accounts, and returns the answer and the changes.
///
/// Pure: time, randomness and accounts are in the context; slow work is requested by `IdentityStep`.
package enum IdentityToolkit {
    /// Begins a request.
    package static func begin(
        _ request: IdentityRequest,
        _ context: IdentityContext
    ) -> IdentityStep {
        .attempt { () throws(IdentityError) in try request.step(context) }
    }
}

extension IdentityRequest {
    /// The first step: what the method of the address does.
    fileprivate func step(_ context: IdentityContext) throws(IdentityError) -> IdentityStep {
        if route.tenant != nil { throw .code(.tenantNotFound) }
        guard try fields.givenText("tenantId") == nil else { throw .code(.tenantNotFound) }
        switch route.method {
        case .signUp: return try signUp(context)
        case .signInWithPassword: return try signInWithPassword(context)
        case .signInWithCustomToken: return try signInWithCustomToken(context)
        case .signInWithIdp: return try signInWithIdp(context)
        case .lookup: return try lookup(context)
        case .update where fields.has("oobCode"):
            return try applyCode(context)
        case .update: return try update(context)
        case .delete: return try delete(context)
        case .createAuthUri: return try createAuthURI(context)
        case .token: return try refresh(context)
        case .projectConfig: return projectConfig(context)
        case .recaptchaParams: return recaptchaParams()
        case .recaptchaConfig: return recaptchaConfig(context)
        case .passwordPolicy: return passwordPolicy(context)
        case .mfa: throw .notImplemented("Multi-factor sign-in")
        case .sendOobCode, .adminSendOobCode: return try sendOobCode(context)
        case .resetPassword: return try resetPassword(context)
        case .signInWithEmailLink: return try signInWithEmailLink(context)
        case .sendVerificationCode: return try sendVerificationCode(context)
        case .signInWithPhoneNumber: return try signInWithPhoneNumber(context)
        case .actionPage: return actionPage(context)
        case .emulatorAccounts: return deleteAllAccounts(context)
        case .emulatorConfig: return try emulatorConfig(context)
        case .emulatorOobCodes: return emulatorOobCodes(context)
        case .emulatorVerificationCodes: return emulatorVerificationCodes(context)
        case .emulatorAction: return try emulatorAction(context)
        case .adminCreate: return try adminCreate(context)
        case .adminLookup: return try adminLookup(context)
        case .adminUpdate: return try adminUpdate(context)
        case .adminDelete: return try adminDelete(context)
        case .batchDelete: return try batchDelete(context)
        case .batchGet: return try batchGet(context)
        case .batchCreate: return try batchCreate(context)
        case .query: return try queryAccounts(context)
        case .createSessionCookie: return try createSessionCookie(context)
        case .config: return try config(context)
        case .tenants: return try tenants()
        case .providerConfigs: throw .notImplemented("A provider's configuration")
        case .unknown: throw .notFound
        }
    }
}
