import Accounts
import JSONTree

/// An e-mail link:
///
///     https://db.example.com/.accounts/action?mode=resetPassword&lang=en&oobCode=CODE&apiKey=KEY[&continueUrl=URL]
///
/// In development it leads to `/emulator/action`, as that of an emulator does. SDKs parse such links; they need all of
/// `mode`, `oobCode` and `apiKey`. Source: firebase-js-sdk, `packages/auth/src/core/action_code_url.ts`.
enum ActionLink {
    static let pagePath = "/.accounts/action"
    static let emulatorPath = "/emulator/action"

    /// The link for a code.
    static func text(
        _ kind: OneTimeCode.Kind,
        code: String,
        apiKey: String?,
        continueURL: String?,
        _ context: IdentityContext
    ) -> String {
        let path = context.policy.isDevelopment ? emulatorPath : pagePath
        var parameters = [
            ("mode", kind.mode), ("lang", "en"), ("oobCode", code),
            ("apiKey", apiKey ?? "fake-api-key"),
        ]
        if let continueURL { parameters.append(("continueUrl", continueURL)) }
        return context.address + path + "?" + query(parameters)
    }

    /// Checks the domain that a request wants the link to have (`linkDomain`).
    ///
    /// Links lead to the server's own address, so in production only that is accepted; in development any is ignored,
    /// as the emulator does.
    ///
    /// - Throws: `INVALID_HOSTING_LINK_DOMAIN`.
    static func check(domain: String, _ context: IdentityContext) throws(IdentityError) {
        if context.policy.isDevelopment { return }
        let origins = ["https", "http"].map { "\($0)://\(domain.lowercased())" }
        guard let own = ContinueURL.origin(of: context.address), origins.contains(own) else {
            throw .code(
                .invalidHostingLinkDomain,
                "links of this server lead to \(context.address)"
            )
        }
    }

    /// Parameters as the query of an address.
    static func query(_ parameters: [(String, String)]) -> String {
        parameters.map { "\(PercentCoding.encode($0.0))=\(PercentCoding.encode($0.1))" }.joined(
            separator: "&"
        )
    }

    /// `url` with more parameters, which replace its own with the same names.
    static func adding(_ parameters: [(String, String)], to url: String) -> String {
        let fragment = url.firstIndex(of: "#").map { url[$0...] } ?? ""
        let bare = url.prefix { $0 != "#" }
        let mark = bare.firstIndex(of: "?")
        let names = Set(parameters.map { PercentCoding.encode($0.0) })
        let own = mark.map { bare[bare.index(after: $0)...].split(separator: "&") } ?? []
        let kept = own.filter { !names.contains(String($0.prefix { $0 != "=" })) }.map(String.init)
        let base = mark.map { bare[..<$0] } ?? bare
        let all = kept + [query(parameters)]
        return "\(base)?\(all.joined(separator: "&"))\(fragment)"
    }
}

extension OneTimeCode.Kind {
    /// What links call it.
    var mode: String {
        switch self {
        case .passwordReset: "resetPassword"
        case .verifyEmail: "verifyEmail"
        case .emailSignIn: "signIn"
        case .verifyAndChangeEmail: "verifyAndChangeEmail"
        case .recoverEmail: "recoverEmail"
        case .phone: "phone"
        }
    }

    /// The kind that a link means; phones have no links.
    init?(mode: String?) {
        guard let kind = Self.allCases.first(where: { $0.mode == mode }), kind != .phone else {
            return nil
        }
        self = kind
    }
}
