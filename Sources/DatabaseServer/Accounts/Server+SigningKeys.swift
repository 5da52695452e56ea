import JSONTree
import Logging
import Tokens
import Transport

/// The signing keys as time goes by.
///
/// What takes long, making a key and writing the file, is done by a worker; the file is written before a key counts.
extension Server {
    /// Seconds until making or writing keys is tried again.
    private nonisolated static let retryTime: Int64 = 60

    /// Looks once a second whether a key has to be made, written without its private half, or forgotten.
    func turnSigningKeys() {
        let keys = accounts.keys
        let now = Clock.now().milliseconds / 1000
        let isDue = now >= keys.nextTurn || now < keys.lastLook
        keys.lastLook = now
        // Without keys there is nothing to follow: in development the first one is made when somebody needs it.
        guard isDue, !keys.isTurning, !keys.signing.entries.isEmpty else { return }
        var signing = keys.signing
        let isTidied = signing.tidy(at: now)
        if isTidied { adopt(signing) }
        keys.nextTurn = signing.nextTurn(after: now)
        let makesKey = signing.isNextDue(at: now)
        if isTidied || makesKey || keys.isUnwritten {
            turn(makesKey: makesKey, isEarly: false) { _ in }
        }
    }

    /// Makes the key that follows, unless it is there; `then` is told once it is published, or that it could not be made.
    func beginNextSigningKey(then: @escaping @LoopActor (Bool) -> Void) {
        let keys = accounts.keys
        let now = Clock.now().milliseconds / 1000
        if keys.isTurning {
            keys.waiting.append { [self] in beginNextSigningKey(then: then) }
        } else if keys.signing.hasNext(at: now) {
            then(true)
        } else {
            turn(makesKey: true, isEarly: true, then: then)
        }
    }

    /// Gives what signs access tokens; makes the first key when there is none. Nil when that fails.
    func withSigner(then: @escaping @LoopActor (TokenSigner?) -> Void) {
        let keys = accounts.keys
        let now = Clock.now().milliseconds / 1000
        if let signer = keys.signer(at: now) {
            then(signer)
        } else if keys.isTurning {
            keys.waiting.append { [self] in
                then(accounts.keys.signer(at: Clock.now().milliseconds / 1000))
            }
        } else {
            turn(makesKey: true, isEarly: false) { [self] _ in
                then(accounts.keys.signer(at: Clock.now().milliseconds / 1000))
            }
        }
    }

    /// Brings the verifier up to date with keys, issuer and audience of the accounts service.
    func trustOwnKeys() {
        credentials.own = accounts.keys.issuer(accounts.policy)
    }

    private func adopt(_ signing: SigningKeys) {
        accounts.keys.adopt(signing)
        trustOwnKeys()
    }

    /// Has a worker make a key, where one is due, and write all of them; then they are in force.
    private func turn(
        makesKey: Bool,
        isEarly: Bool,
        then: @escaping @LoopActor (Bool) -> Void
    ) {
        let keys = accounts.keys
        let folder = keys.folder
        let signing = keys.signing
        keys.isTurning = true
        let done = Continuation<Result<SigningKeys, KeyFolderError>> { [self] outcome in
            finishTurn(outcome, isNew: makesKey)
            then(outcome.isSuccess)
            let waiting = keys.waiting
            keys.waiting = []
            for body in waiting { body() }
        }
        let isTaken = workers.archives.post(
            .read {
                let outcome = Result { () throws(KeyFolderError) -> SigningKeys in
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
                EventLoop.shared.enqueue { done.body(outcome) }
            }
        )
        if !isTaken { done.body(.failure(.noRandomness)) }
    }

    private func finishTurn(_ outcome: Result<SigningKeys, KeyFolderError>, isNew: Bool) {
        let keys = accounts.keys
        let now = Clock.now().milliseconds / 1000
        keys.isTurning = false
        keys.isUnwritten = !outcome.isSuccess
        switch outcome {
        case .success(let signing):
            adopt(signing)
            keys.nextTurn = signing.nextTurn(after: now)
            if isNew, let entry = signing.entries.last {
                log.notice(
                    "a signing key is published",
                    metadata: [
                        "kid": "\(entry.keyID)",
                        "signsFrom": "\(ISO8601.text(of: entry.signsFrom * 1000))",
                    ]
                )
            }
        case .failure(let error):
            keys.nextTurn = now + Server.retryTime
            log.error("the signing keys in force stay: \(error)")
        }
    }
}

extension Result {
    fileprivate var isSuccess: Bool {
        if case .success = self { true } else { false }
    }
}
