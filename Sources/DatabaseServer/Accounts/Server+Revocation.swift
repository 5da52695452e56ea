import DatabaseCore
import IdentityToolkit
import Tokens
import Transport

/// Which credentials count, and what becomes of what goes on by one that no longer does.
///
/// Whoever asks for `judge` uses the outcome in the turn in which it is told. A revocation falls before that turn, and
/// then `admit` refuses, or behind it, and then the engine finds the session or the request by its holder.
extension Server {
    /// How long sessions of a user who has called their own tokens back go on: their new tokens come with the same
    /// answer, and an SDK that was disconnected before it has read them would ask with what no longer counts, and sign
    /// its user out. Only what has begun goes on; nothing new begins with an old token.
    static let ownRevocationGrace = Duration.milliseconds(500)

    /// Finds out what a credential is worth; `then` is told on the loop, never within this call.
    func judge(
        _ credential: String,
        then: @escaping @LoopActor (CredentialOutcome) -> Void
    ) {
        switch credentials.judge(credential) {
        case .decided(let outcome): EventLoop.shared.enqueue { then(outcome) }
        case .mustVerify(let verifier):
            let isTaken = workers.credentials.post(
                .verify(credential, verifier) { result in
                    EventLoop.shared.enqueue { [self] in then(admit(result)) }
                }
            )
            if isTaken { return }
            let busy = CredentialRefusal.invalid("Too many tokens are being checked; try again")
            EventLoop.shared.enqueue { then(.refused(busy)) }
        }
    }

    /// What a token whose signature has been checked is worth now.
    ///
    /// This is the one place where the state of an account judges a token that is shown for data. O(log n).
    func admit(_ result: Result<VerifiedToken, TokenError>) -> CredentialOutcome {
        CredentialOutcome(result, accountDirectory, issuer: accounts.policy.issuer)
    }

    /// Ends what goes on by credentials that were issued before a time, seconds since 1970.
    func revoke(_ holder: CredentialHolder.Name, issuedBefore time: Int64 = .max) {
        step(.revoked(holder, issuedBefore: time))
        endProfiles { $0.holder.map { $0.name == holder && $0.issuedAt < time } ?? false }
    }

    /// The same for tokens of a user, `grace` from now.
    func revoke(uid: String, issuedBefore time: Int64, isOwnDoing: Bool) {
        guard isOwnDoing else { return revoke(.user(uid), issuedBefore: time) }
        EventLoop.shared.after(Server.ownRevocationGrace) { [self] in
            revoke(.user(uid), issuedBefore: time)
        }
    }
}
