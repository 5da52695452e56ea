import JSONTree
import Logging
import Tokens
import Transport

/// The signing keys as time goes by.
///
/// What takes long, making a key and writing the file, is done by a worker; the file is written before a key counts.
extension IdentityService {
    /// Looks once a second whether a key has to be made, written without its private half, or forgotten.
    func rotateSigningKeys() {
        let keys = accounts.keys
        let now = Clock.now().milliseconds / 1000
        guard keys.isLookDue(at: now) else { return }
        var signing = keys.signing
        let isTidied = signing.tidy(at: now)
        keys.adopt(signing, at: now)
        if isTidied { trustOwnKeys() }
        let makesKey = signing.isNextDue(at: now)
        if isTidied || makesKey || keys.isUnwritten {
            rotate(makesKey: makesKey, isEarly: false) { _ in }
        }
    }

    /// Makes the key that follows, unless it is there; `then` is called once it is published, or could not be made.
    func beginNextSigningKey(then: @escaping @LoopActor (Bool) -> Void) {
        let keys = accounts.keys
        if keys.isRotating {
            keys.wait { [self] in beginNextSigningKey(then: then) }
        } else if keys.signing.hasNext(at: Clock.now().milliseconds / 1000) {
            then(true)
        } else {
            rotate(makesKey: true, isEarly: true, then: then)
        }
    }

    /// Gives what signs access tokens; makes the first key when there is none. Nil when that fails.
    func withSigner(then: @escaping @LoopActor (TokenSigner?) -> Void) {
        let keys = accounts.keys
        func signer() -> TokenSigner? { keys.signer(at: Clock.now().milliseconds / 1000) }
        if let signer = signer() {
            then(signer)
        } else if keys.isRotating {
            keys.wait { then(signer()) }
        } else {
            rotate(makesKey: true, isEarly: false) { _ in then(signer()) }
        }
    }

    /// Has a worker make a key, where one is due, and write all of them; then they are in force.
    private func rotate(makesKey: Bool, isEarly: Bool, then: @escaping @LoopActor (Bool) -> Void) {
        let keys = accounts.keys
        let folder = keys.folder
        let signing = keys.signing
        keys.beginRotation()
        let done: @LoopActor (Result<SigningKeys, KeyFolderError>) -> Void = { [self] outcome in
            keys.endRotation(outcome, at: Clock.now().milliseconds / 1000)
            follow(outcome, isNew: makesKey)
            then(!keys.isUnwritten)
            keys.callWaiting()
        }
        let work: @Sendable () -> Result<SigningKeys, KeyFolderError> = {
            Result { () throws(KeyFolderError) -> SigningKeys in
                var signing = signing
                if makesKey {
                    guard let pair = KeyPair.generateRSA() else { throw .noRandomness }
                    // The worker may have had something else to do for long.
                    let now = Clock.now().milliseconds / 1000
                    guard signing.add(pair, at: now, isEarly: isEarly) else { throw .full }
                }
                try folder?.write(signing)
                return signing
            }
        }
        if !workers.archives.perform(work, then: done) { done(.failure(.noRandomness)) }
    }

    private func follow(_ outcome: Result<SigningKeys, KeyFolderError>, isNew: Bool) {
        switch outcome {
        case .success(let signing):
            trustOwnKeys()
            server.cluster?.keysChanged()
            guard isNew, let entry = signing.entries.last else { return }
            log.notice(
                "a signing key is published",
                metadata: [
                    "kid": "\(entry.keyID)",
                    "signsFrom": "\(ISO8601.text(of: entry.signsFrom * 1000))",
                ]
            )
        case .failure(let error): log.error("the signing keys in force stay: \(error)")
        }
    }
}
