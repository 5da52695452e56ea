import IdentityToolkit
import Passwords

/// What is allowed and probably not meant.
extension Configuration {
    /// Memory times passes below which a stolen hash is tried too fast. Source: OWASP, Password Storage Cheat Sheet:
    /// Argon2id with 19 MiB and 2 passes at least.
    static let leastPasswordWork = (19 << 10) * 2

    /// Adds what the settings alone tell; files are looked at by `ConfigurationCheck`.
    mutating func warnOfUnsafeSettings(_ reader: inout SettingReader) {
        if mode == .development, !bindIsLoopback {
            warnings.append(
                "other machines reach this --dev server (--dev-exposed), which trusts everybody who does"
            )
        }
        guard mode == .production else { return }
        warnOfReach()
        warnOfTokens()
        warnOfAccounts()
        warnOfMessages()
    }

    private mutating func warnOfReach() {
        if !bindIsLoopback, tls == nil, trustedProxies.isEmpty {
            warnings.append(
                "other machines reach this server without TLS; set --tls-cert and --tls-key, "
                    + "or put a proxy that has them before it"
            )
        }
        if trustedProxies.contains(where: { $0.bitCount == 0 }) {
            warnings.append(
                "--trusted-proxy names every address, so every client can claim any address; "
                    + "name those of your proxies"
            )
        }
        if let url = accounts.publicURL, let origin = WebOrigin(url), origin.scheme == "http",
            !origin.authority.host.isLoopback
        {
            warnings.append(
                "--public-url is not https, so passwords and tokens can be read on their way"
            )
        }
        if durability == .memory {
            warnings.append(
                "--durability memory: a power cut takes back writes that clients have an answer to"
            )
        }
    }

    private mutating func warnOfTokens() {
        guard tokens.jwksFile != nil, tokens.issuer == nil || tokens.audience == nil else { return }
        warnings.append(
            "tokens of every issuer and audience that the JWKS file can check are taken; "
                + "set --token-issuer and --token-audience"
        )
    }

    private mutating func warnOfAccounts() {
        let policy = accounts.policy
        if policy.isSignUpOpen, policy.methods.contains(.anonymous) {
            warnings.append(
                "every client that reaches this server can make accounts without end, since sign-up is open and "
                    + "--sign-in has anonymous"
            )
        }
        if policy.cost.memoryKiB * policy.cost.passes < Self.leastPasswordWork {
            warnings.append(
                "passwords are hashed with less work than a thief of the hashes should meet; "
                    + "use 19MiB and 2 passes at least (--password-memory, --password-passes)"
            )
        }
        if !policy.guardsEmails {
            warnings.append("answers tell who has an account here, since --no-email-guard is given")
        }
    }

    private mutating func warnOfMessages() {
        let policy = accounts.policy
        let needing = policy.methods.intersection([.emailLink, .phone]).map(\.rawValue).sorted()
        guard accounts.webhook == nil, !needing.isEmpty else { return }
        warnings.append(
            "there is no delivery for the codes that --sign-in \(needing.joined(separator: " and ")) needs; "
                + "set --accounts-webhook"
        )
    }
}
