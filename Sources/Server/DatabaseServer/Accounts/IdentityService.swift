import Accounts
import DatabaseCore
import JSONTree
import Logging
import Tokens
import Transport

/// Accounts, their tokens, and what credentials are worth.
@LoopActor
final class IdentityService: Service {
    let server: Server
    let accounts: AccountStore
    /// What decides over credentials, with the keys and policy in force.
    private(set) var credentials: CredentialService

    init(_ server: Server, _ accounts: AccountStore, _ credentials: CredentialService) {
        self.server = server
        self.accounts = accounts
        self.credentials = credentials
    }

    func addMetrics(to metrics: inout Metrics) {
        accounts.messages.addMetrics(to: &metrics)
        let count = accountDirectory.codeCount
        metrics.gauge("hearth_one_time_codes", "One-time codes kept now.", count)
        metrics.gauge("hearth_accounts", "Accounts of users.", accountDirectory.accountCount)
        let serviceCount = accountDirectory.serviceAccounts.count
        metrics.gauge("hearth_service_accounts", "Service accounts.", serviceCount)
    }

    /// Takes what others have signed by other keys from now on.
    func trust(outside tokens: OutsideTokens) { credentials.outside = tokens }

    /// Takes the keys of the group into force.
    func adopt(_ group: GroupKeys) {
        accounts.keys.adopt(group, at: Clock.now().milliseconds / 1000)
        trustOwnKeys()
        if let secret = group.adminSecret { credentials.check.adminSecret = secret }
    }

    /// Removes the keys of a group, whose copies in the data folder are those of a server that is alone. The group that is
    /// founded from it later has its own secret.
    func forgetGroupKeys() {
        guard accountDirectory.groupKeys != nil else { return }
        var changes = AccountChanges()
        changes.set(.absent, at: AccountDirectory.groupKeysPath)
        commit(changes) { [log] refusal in
            if let refusal { log.error("the keys of the former group stay: \(refusal)") }
        }
    }

    /// Whether a text is the administrator's secret.
    func isAdminSecret(_ text: String) -> Bool {
        guard case .decided(let outcome) = credentials.check(text), case .admin = outcome else {
            return false
        }
        return true
    }

    /// Brings the verifier up to date with keys, issuer and audience of the accounts service.
    func trustOwnKeys() {
        credentials.own = accounts.keys.issuer(accounts.policy)
    }

    /// Brings the verifier up to date with the keys of the service accounts: at the start, and when one comes or goes.
    ///
    /// It reads at most 1,000 keys, some 30 us each.
    func trustServiceAccounts() {
        credentials.serviceAccountKeys = KeySet(accountDirectory.serviceAccounts)
    }
}
