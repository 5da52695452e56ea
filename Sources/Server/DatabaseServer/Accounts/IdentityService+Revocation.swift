import Accounts
import DatabaseCore
import IdentityToolkit
import JSONTree
import Tokens
import Transport

/// Which credentials count, and the end of sessions and requests whose credential no longer does.
///
/// A caller of `check` uses the outcome in the tick in which it arrives. A revocation falls before that tick, and then
/// `admit` refuses, or behind it, and then the engine finds the session or the request by its holder.
extension IdentityService {
    /// How long sessions of a user who has called their own tokens back go on: their new tokens come with the same
    /// answer, and an SDK that was disconnected before it has read them would ask with what no longer counts, and sign
    /// its user out. Only what has begun goes on; nothing new begins with an old token.
    static let ownRevocationGrace = Duration.milliseconds(500)

    /// Finds out what a credential is worth; `then` is called on the loop, never within this call.
    func check(_ credential: String, then: @escaping @LoopActor (CredentialOutcome) -> Void) {
        switch credentials.check(credential) {
        case .decided(let outcome): EventLoop.shared.enqueue { then(outcome) }
        case .mustVerify(let verifier):
            let isTaken = workers.credentials.perform {
                verifier.verify(credential, now: Clock.now())
            } then: { [self] result in
                then(admit(result))
            }
            if isTaken { return }
            let busy = CredentialRefusal.invalid("Too many tokens are being checked; try again")
            EventLoop.shared.enqueue { then(.refused(busy)) }
        }
    }

    /// What a token whose signature has been checked is worth now.
    ///
    /// Only here the state of an account decides on a token that is sent for data. O(log n).
    func admit(_ result: Result<VerifiedToken, TokenError>) -> CredentialOutcome {
        CredentialOutcome(result, accountDirectory, issuer: accounts.policy.issuer)
    }

    /// Whether what goes on for this term may still do so, as accounts and sessions of the console are now.
    func stillCounts(_ term: CredentialTerm) -> Bool {
        if case .console(let number) = term.holder?.name { return server.console.isOpen(number) }
        return accountDirectory.stillCounts(term)
    }

    /// Ends what goes on by credentials that were issued before a time, seconds since 1970.
    func revoke(_ holder: CredentialHolder.Name, issuedBefore time: Int64 = .max) {
        step(.revoked(holder, issuedBefore: time))
        server.profiler.end { $0.holder.map { $0.name == holder && $0.issuedAt < time } ?? false }
    }

    /// Takes into force what the owner of the group has changed of accounts, at these locations.
    func changed(_ locations: [WriteTarget]) {
        for location in locations where location.path.keyCount > 1 {
            let name = AccountKey.text(location.path.key(at: 1).string)
            switch location.path.key(at: 0).string {
            case "accounts":
                // The client whose own doing it is has new tokens with the answer, which comes later.
                let start = accountDirectory.tokenStart(name) ?? .max
                revoke(uid: name, issuedBefore: start, isOwnDoing: true)
            case "serviceAccounts":
                trustServiceAccounts()
                let email = ServiceAccount.email(of: name, in: accounts.policy.project)
                let account = accountDirectory.serviceAccount(email: email)
                revoke(.serviceAccount(email), issuedBefore: account?.validSince ?? .max)
            default: break
            }
        }
    }

    /// The same for tokens of a user, `grace` from now.
    func revoke(uid: String, issuedBefore time: Int64, isOwnDoing: Bool) {
        guard isOwnDoing else { return revoke(.user(uid), issuedBefore: time) }
        EventLoop.shared.after(IdentityService.ownRevocationGrace) { [self] in
            revoke(.user(uid), issuedBefore: time)
        }
    }
}
