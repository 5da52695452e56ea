/// Does identity requests: looks at the accounts, and says what is to be answered and changed.
///
/// Pure: time, randomness and accounts are in the context; slow work is asked for (`IdentityStep`).
package enum IdentityToolkit {
    /// Begins a request.
    package static func begin(_ request: IdentityRequest, _ context: IdentityContext)
        -> IdentityStep
    {
        .attempt { () throws(IdentityError) in try step(request, context) }
    }

    private static func step(
        _ request: IdentityRequest,
        _ context: IdentityContext
    ) throws(IdentityError) -> IdentityStep {
        if request.route.tenant != nil { throw .code(.tenantNotFound) }
        guard try request.fields.givenText("tenantId") == nil else { throw .code(.tenantNotFound) }
        switch request.route.method {
        case .signUp: return try signUp(request, context)
        case .signInWithPassword: return try signInWithPassword(request, context)
        case .signInWithCustomToken: return try signInWithCustomToken(request, context)
        case .signInWithIdp: return try signInWithIdp(request, context)
        case .lookup: return try lookup(request, context)
        case .update where request.fields.has("oobCode"):
            return try applyCode(request, context)
        case .update: return try update(request, context)
        case .delete: return try delete(request, context)
        case .createAuthUri: return try createAuthURI(request, context)
        case .token: return try refresh(request, context)
        case .projectConfig: return projectConfig(context)
        case .recaptchaParams: return recaptchaParams()
        case .recaptchaConfig: return recaptchaConfig(context)
        case .passwordPolicy: return passwordPolicy(context)
        case .mfa: throw .notImplemented("Multi-factor sign-in")
        case .sendOobCode, .adminSendOobCode: return try sendOobCode(request, context)
        case .resetPassword: return try resetPassword(request, context)
        case .signInWithEmailLink: return try signInWithEmailLink(request, context)
        case .sendVerificationCode: return try sendVerificationCode(request, context)
        case .signInWithPhoneNumber: return try signInWithPhoneNumber(request, context)
        case .actionPage: return actionPage(request, context)
        case .emulatorAccounts: return deleteAllAccounts(context)
        case .emulatorConfig: return try emulatorConfig(request, context)
        case .emulatorOobCodes: return emulatorOobCodes(context)
        case .emulatorVerificationCodes: return emulatorVerificationCodes(context)
        case .emulatorAction: return try emulatorAction(request, context)
        case .adminCreate: return try adminCreate(request, context)
        case .adminLookup: return try adminLookup(request, context)
        case .adminUpdate: return try adminUpdate(request, context)
        case .adminDelete: return try adminDelete(request, context)
        case .batchDelete: return try batchDelete(request, context)
        case .batchGet: return try batchGet(request, context)
        case .batchCreate: return try batchCreate(request, context)
        case .query: return try query(request, context)
        case .createSessionCookie: return try createSessionCookie(request, context)
        case .config: return try config(request, context)
        case .tenants: return try tenants(request)
        case .providerConfigs: throw .notImplemented("A provider's configuration")
        case .unknown: throw .notFound
        }
    }
}
