import Accounts
import DatabaseCore
import Glibc
import JSONTree
import Logging
import Transport

/// The keys that the group has in common: its owner writes them into the log, the others take them from there.
///
///     first owner ──seals──► :accounts, group/keys ──opens──► each node: in force at once, then in its folder `keys`
extension ClusterService {
    /// Those of the log are in force: the start has taken them.
    func beginKeys() { keysInForce = server.identity.accountDirectory.groupKeys }

    /// Takes the keys of the log into force when they are others than before.
    func followKeys() {
        let keys = server.identity.accounts.keys
        guard let text = server.identity.accountDirectory.groupKeys, text != keysInForce,
            let folder = keys.folder
        else { return }
        let group: GroupKeys
        do throws(ClusterStartError) {
            guard let seal = keys.groupSecret else { throw .noSecret }
            group = try seal.open(text)
        } catch {
            log.critical("this node ends: \(error)")
            _exit(Self.strangeKeysExitCode)
        }
        keysInForce = text
        server.identity.adopt(group)
        let secretFolder = configuration.secretFolder
        let work: @Sendable () -> String? = {
            do {
                try group.write(to: folder, secretFolder: secretFolder)
                return nil
            } catch {
                return "\(error)"
            }
        }
        let isTaken = workers.archives.perform(work) { [self] failure in
            guard let failure else { return log.notice("has the keys of its group") }
            // The log has them, so the next start tries again.
            log.error("the keys of the group are in force, and not in the data folder: \(failure)")
        }
        if !isTaken { log.error("the keys of the group are in force, and not in the data folder") }
    }

    /// The keys of this node are others than the log has.
    func keysChanged() { keysAreDue = true }

    /// Gives the log this node's keys where it has none, or older ones; called each second by an owner.
    func shareKeys() {
        let keys = server.identity.accounts.keys
        guard leads, let seal = keys.groupSecret, let folder = keys.folder else { return }
        if server.identity.accountDirectory.groupKeys == nil { keysAreDue = true }
        guard keysAreDue else { return }
        keysAreDue = false
        do {
            let own = try GroupKeys(
                folder,
                keys.signing,
                secretFolder: configuration.secretFolder
            )
            let text = try seal.seal(own)
            keysInForce = text
            var changes = AccountChanges()
            changes.set(Node(string: text), at: AccountDirectory.groupKeysPath)
            server.identity.commit(changes) { [self] refusal in
                guard let refusal else { return }
                keysAreDue = true
                log.error("the group does not get this node's keys: \(refusal)")
            }
        } catch {
            keysAreDue = true
            log.error("the group does not get this node's keys: \(error)")
        }
    }

    /// The exit code of a node whose secret is not that of its group; it fails at its next start too.
    private static var strangeKeysExitCode: Int32 { 1 }
}
