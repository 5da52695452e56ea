import IdentityToolkit
import Passwords

/// The settings of the accounts service.
struct AccountSettings: Equatable, Sendable {
    var policy = IdentityPolicy()
    /// Whether `--project` was given; else the first project that an administrator names is the one, in development.
    var isProjectGiven = false
    /// A port of its own, as SDKs expect of the emulator; the service is on the server's port in any case.
    var port: Int?
    /// The address of the webhook that gets codes and links.
    var webhook: String?
    var webhookSecretFile: String?
    /// The address that clients reach the server by: `https://db.example.com`; nil for that of each request.
    var publicURL: String?
    /// How long a key signs ID tokens.
    var signingKeyLifetime = Duration.seconds(90 * 86_400)
}

extension Configuration {
    /// Reads who may sign in, how, and what for.
    mutating func readAccounts(_ reader: inout SettingReader) {
        var policy = IdentityPolicy()
        policy.isDevelopment = mode == .development
        if let project = reader.name(.project)?.text {
            policy.project = project
            accounts.isProjectGiven = true
            emulator.project = mode == .development ? project : nil
        }
        policy.issuer =
            readClaim(.accountsIssuer, &reader) ?? IdentityPolicy.issuer(of: policy.project)
        policy.audience = readClaim(.accountsAudience, &reader) ?? policy.project
        readMethods(&reader, &policy)
        readPasswords(&reader, &policy)
        policy.guardsEmails =
            reader.isSet(.emailGuard) ? reader.toggle(.emailGuard) : mode == .production
        accounts.policy = policy
        accounts.port = reader.integer(.accountsPort, in: 0...65535)
        accounts.publicURL = readPublicURL(&reader)
        readDelivery(&reader)
        accounts.signingKeyLifetime =
            reader.duration(.signingKeyLifetime, inSeconds: 3600...(3650 * 86_400))
            ?? accounts.signingKeyLifetime
        trustedProxies = reader.list(
            .trustedProxy,
            "Write an address, or one with the number of leading bits that count, such as 10.0.0.0/8."
        ) { AddressRange($0) }
    }

    private mutating func readMethods(
        _ reader: inout SettingReader,
        _ policy: inout IdentityPolicy
    ) {
        // A client can make any number of accounts without a name.
        if mode == .production { policy.methods = [.password, .custom] }
        if reader.isSet(.signIn), reader.isEmpty(.signIn) {
            reader.fault(.signIn, "is empty", "Name a way to sign in, or leave it out.")
        } else if reader.isSet(.signIn) {
            let names = IdentityPolicy.SignInMethod.allCases.map(\.rawValue).joined(separator: ", ")
            policy.methods = Set(
                reader.list(.signIn, "Write some of: \(names).") {
                    IdentityPolicy.SignInMethod(rawValue: $0)
                }
            )
        }
        switch reader.text(.signUp) {
        case nil, "open": policy.isSignUpOpen = true
        case "admin": policy.isSignUpOpen = false
        case .some(let text):
            reader.fault(.signUp, "'\(text)' is not known", "Write one of: open, admin.")
        }
    }

    private func readPasswords(_ reader: inout SettingReader, _ policy: inout IdentityPolicy) {
        if let length = reader.integer(.passwordLength, in: 6...128) {
            policy.passwords.lengths = length...policy.passwords.lengths.upperBound
        }
        let kinds = IdentityPolicy.CharacterKind.allCases.map(\.rawValue).joined(separator: ", ")
        policy.passwords.required = Set(
            reader.list(.passwordRequires, "Write some of: \(kinds).") {
                IdentityPolicy.CharacterKind(rawValue: $0)
            }
        )
        let range = PasswordCost.memoryRange
        let bytes = (range.lowerBound << 10)...(range.upperBound << 10)
        let memory = reader.byteCount(.passwordMemory, in: bytes)
        let passes = reader.integer(.passwordPasses, in: PasswordCost.passRange)
        policy.cost = PasswordCost(
            memoryKiB: memory.map { $0 >> 10 } ?? policy.cost.memoryKiB,
            passes: passes ?? policy.cost.passes
        )
    }

    /// What stands in a token as it is here: printable ASCII, so that it needs no escapes.
    private func readClaim(_ setting: Setting, _ reader: inout SettingReader) -> String? {
        guard let text = reader.text(setting) else { return nil }
        guard text.utf8.count <= Self.claimByteLimit,
            text.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else {
            reader.fault(
                setting,
                "'\(text.prefix(80))' cannot stand in a token",
                "Write up to \(Self.claimByteLimit) printable ASCII characters without spaces."
            )
            return nil
        }
        return text
    }

    private static let claimByteLimit = 1024

    private func readPublicURL(_ reader: inout SettingReader) -> String? {
        guard let text = reader.text(.publicURL) else { return nil }
        guard let origin = WebOrigin(text), origin.isHTTP else {
            reader.fault(
                .publicURL,
                "'\(text)' is no address",
                "Write scheme, host and port, such as https://db.example.com."
            )
            return nil
        }
        return text
    }
}
