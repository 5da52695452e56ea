import Accounts
import DatabaseCore
import IdentityToolkit
import JSONTree
import Tokens
import Transport
import WireProtocol

extension DatabaseID {
    /// Where the accounts are kept: no name that a client can say has a colon in it.
    static let accounts = DatabaseID(":accounts")
}

/// What the accounts service knows beside the accounts themselves, which are in the reserved database.
@LoopActor
final class AccountStore {
    private(set) var policy: IdentityPolicy
    /// Keys of service accounts whose files are of an earlier version and that have been used; at most as many as there
    /// were keys.
    private var oldKeysUsed: Set<String> = []
    let settings: AccountSettings
    /// Whether the project is the first one that a request named.
    private var isProjectAdopted = false
    let keys: AccountKeys
    let messages: MessageService
    let attempts = AttemptService()

    nonisolated init(
        _ configuration: Configuration,
        _ keys: AccountKeys,
        _ messages: MessageService
    ) {
        self.messages = messages
        settings = configuration.accounts
        policy = configuration.accounts.policy
        self.keys = keys
    }

    /// Allows other things from now on.
    func set(_ policy: IdentityPolicy) { self.policy = policy }

    /// Notes the use of a key whose file is of an earlier version; whether it is the first one.
    func noteOldKey(_ id: String) -> Bool { oldKeysUsed.insert(id).inserted }

    /// Makes `name` the project if no project has been given yet, by a setting or in this way, and if it can be one.
    func adopt(_ name: String) -> Bool {
        guard !settings.isProjectGiven, !isProjectAdopted else { return false }
        do throws(DatabaseNameError) { _ = try DatabaseName(name) } catch { return false }
        isProjectAdopted = true
        // What a setting says stays.
        if policy.issuer == IdentityPolicy.issuer(of: policy.project) {
            policy.issuer = IdentityPolicy.issuer(of: name)
        }
        if policy.audience == policy.project { policy.audience = name }
        policy.project = name
        return true
    }
}

extension IdentityService {
    /// The accounts as they are now; what is seen in them may not be durable yet.
    var accountDirectory: AccountDirectory { AccountDirectory(root: engine.root(of: .accounts)) }

    /// Changes accounts; `then` is called once that is durable, or with the reason why it is not done, a sentence.
    ///
    /// Without changes it is called once everything that could be seen is durable.
    func commit(
        _ changes: AccountChanges,
        then: @escaping @LoopActor (_ refusal: String?) -> Void
    ) {
        let operation: Request.Operation =
            changes.isEmpty
            ? .confirm
            : .merge(
                .root,
                changes.writes.map { path, node in
                    MergeEntry(target: WriteTarget(path: path), draft: Draft(node))
                }
            )
        server.ask(operation, of: .accounts) { response in
            switch response {
            case .done, .merged: then(nil)
            case .refused(let refusal): then(refusal.text)
            default: then("The accounts cannot be changed now.")
            }
        }
    }
}
