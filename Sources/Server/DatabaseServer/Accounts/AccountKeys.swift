import IdentityToolkit
import JSONTree
import Tokens
import Transport

/// The keys of the accounts service: those of the data folder, or new ones for a server that keeps nothing.
///
/// In production ID tokens are signed, so there is a signing key before the server is ready. In development they are
/// not, as clients expect of an emulator; a key is made when a service account first asks for an access token.
@LoopActor
final class AccountKeys {
    /// Makes refresh tokens and opens them.
    private(set) var seal: RefreshSeal
    private(set) var signing: SigningKeys
    /// The published keys, as JWKS text.
    private(set) var published: [UInt8]
    /// Where they are kept; nil for a server that keeps nothing.
    let folder: KeyFolder?
    /// The secret of the group; nil without a group, or when keys are copied by hand.
    let groupSecret: GroupSecret?
    /// Whether ID tokens are signed.
    let signsIdentity: Bool
    /// When the keys have to be looked at again, seconds since 1970.
    private var nextRotation: Int64 = 0
    /// When that was last asked: a clock that went back does not delay a rotation.
    private var lastLook: Int64 = 0
    /// Whether the keys in force could not be written.
    private(set) var isUnwritten = false
    /// Whether a worker makes the next key, or writes them.
    private(set) var isRotating = false
    /// The requests that wait for the key that is being made.
    private var waiting: [@LoopActor () -> Void] = []

    /// Seconds until making or writing keys is tried again.
    private static let retryTime: Int64 = 60

    private init(
        _ seal: RefreshSeal,
        _ signing: SigningKeys,
        _ folder: KeyFolder?,
        _ groupSecret: GroupSecret?,
        signsIdentity: Bool
    ) {
        self.groupSecret = groupSecret
        self.seal = seal
        self.signing = signing
        self.folder = folder
        self.signsIdentity = signsIdentity
        published = signing.jwks
    }

    /// The keys that a configuration has, made now where they are needed from the start.
    ///
    /// Those of the group, as the log has them, come before those of the data folder. Making the first signing key takes
    /// some 100 ms.
    static func open(_ configuration: Configuration, group: String? = nil) throws -> AccountKeys {
        let now = Clock.now().milliseconds / 1000
        let lifetime = configuration.accounts.signingKeyLifetime.components.seconds
        let isProduction = configuration.mode == .production
        var folder: KeyFolder?
        var signing = SigningKeys(lifetime: lifetime)
        var seal = RefreshSeal(key: Randomness.bytes(TokenLimits.sealKeyByteCount))
        let groupSecret = try configuration.cluster?.secretFile.map {
            try GroupSecret(file: $0, keyLifetime: lifetime)
        }
        if case .folder(let path) = configuration.storage {
            let opened = try KeyFolder.open(inDataFolder: path)
            if let group, configuration.cluster != nil {
                guard let groupSecret else { throw ClusterStartError.noSecret }
                let keys = try groupSecret.open(group)
                try keys.write(to: opened, secretFolder: configuration.secretFolder)
            }
            seal = RefreshSeal(key: try opened.sealKey(orElse: Randomness.bytes))
            signing = try opened.signingKeys(lifetime: lifetime)
            folder = opened
        }
        // What verifies no more must not do so until the first tick either.
        var isChanged = signing.tidy(at: now)
        if isProduction, signing.entries.isEmpty {
            guard let pair = KeyPair.generateRSA(), signing.add(pair, at: now) else {
                throw KeyFolderError.noRandomness
            }
            isChanged = true
        }
        if isChanged { try folder?.write(signing) }
        return AccountKeys(seal, signing, folder, groupSecret, signsIdentity: isProduction)
    }

    /// Takes the keys of the group into force.
    func adopt(_ group: GroupKeys, at now: Int64) {
        seal = RefreshSeal(key: group.sealKey)
        if !group.signing.entries.isEmpty { adopt(group.signing, at: now) }
    }

    /// Takes signing keys into force.
    func adopt(_ keys: SigningKeys, at now: Int64) {
        signing = keys
        published = keys.jwks
        nextRotation = keys.nextChange(after: now)
    }

    /// Whether the keys have to be looked at; asked once a second.
    func isLookDue(at now: Int64) -> Bool {
        defer { lastLook = now }
        // Without keys there is nothing to follow: in development the first one is made when it is needed.
        return (now >= nextRotation || now < lastLook) && !isRotating && !signing.entries.isEmpty
    }

    /// A worker begins to make a key, or to write them.
    func beginRotation() { isRotating = true }

    /// The worker is done: its keys are in force, or those of before stay.
    func endRotation(_ outcome: Result<SigningKeys, KeyFolderError>, at now: Int64) {
        isRotating = false
        switch outcome {
        case .success(let keys):
            isUnwritten = false
            adopt(keys, at: now)
        case .failure:
            isUnwritten = true
            nextRotation = now + Self.retryTime
        }
    }

    /// Calls `body` once the worker is done.
    func wait(_ body: @escaping @LoopActor () -> Void) { waiting.append(body) }

    /// Calls those that wait for the worker.
    func callWaiting() {
        let bodies = waiting
        waiting = []
        for body in bodies { body() }
    }

    /// Who this server is as an issuer of tokens.
    func issuer(_ policy: IdentityPolicy) -> TrustedIssuer {
        TrustedIssuer(.own, keys: signing.keySet, issuer: policy.issuer, audience: policy.audience)
    }

    /// Signs with the current key; nil while there is none.
    func signer(at now: Int64) -> TokenSigner? {
        guard let entry = signing.current(at: now), let pair = entry.pair else { return nil }
        return TokenSigner(.keyPair(pair), keyID: entry.keyID)
    }

    /// Signs ID tokens, or does not, as development wants it; nil while there is no key.
    func identitySigner(at now: Int64) -> TokenSigner? {
        signsIdentity ? signer(at: now) : TokenSigner(.none)
    }
}
