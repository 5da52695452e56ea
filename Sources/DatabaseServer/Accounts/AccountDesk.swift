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
final class AccountDesk {
    var policy: IdentityPolicy
    /// Who asks for access tokens with assertions that are no good.
    var assertions = AttemptLimiter()
    /// Keys of service accounts whose files are of an earlier version and that have been used; at most as many as there
    /// were keys.
    var oldKeysUsed: Set<String> = []
    let settings: AccountSettings
    /// Whether the project is the first one that somebody named.
    var isProjectAdopted = false
    let keys: AccountKeys
    let messages: MessageDesk
    let attempts = AttemptDesk()

    nonisolated init(
        _ configuration: Configuration,
        _ keys: AccountKeys,
        _ messages: MessageDesk
    ) {
        self.messages = messages
        settings = configuration.accounts
        policy = configuration.accounts.policy
        self.keys = keys
    }

    nonisolated static func randomBytes(_ count: Int) -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
}

extension Server {
    /// The accounts as they are now; what is seen in them may not be durable yet.
    var accountDirectory: AccountDirectory { AccountDirectory(root: engine.root(of: .accounts)) }

    /// Changes accounts; `then` is told once that is durable, or why it is not done, in a sentence.
    ///
    /// Without changes it is told once everything that could be seen is durable.
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
                    MergeEntry(
                        target: WriteTarget(path: path, isPriority: false),
                        draft: Draft(node)
                    )
                }
            )
        ask(operation, of: .accounts) { response in
            switch response {
            case .done, .merged: then(nil)
            case .refused(let refusal): then(refusal.text)
            default: then("The accounts cannot be changed now.")
            }
        }
    }
}
