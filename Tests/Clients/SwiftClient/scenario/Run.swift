import Foundation
import HearthDatabase

/// One client that goes through all kinds of writes behind a proxy that disturbs it, and notes the events that it received.
///
/// Everything happens on the main actor, where the client's callbacks arrive.
@MainActor
final class Run {
    /// Where its data is, and its name in what is printed.
    let path: String
    private let reference: DatabaseReference

    /// What each completion was called with; more than one entry is a fault of the client.
    private var completions: [String: [String]] = [:]
    private var pushed: [String] = []
    private var added: [String] = []
    private var removed: [String] = []
    private var waiting: [(names: Set<String>, continuation: CheckedContinuation<Void, Never>)] = []

    /// Makes the client of one proxy: an app of its own, so a connection of its own.
    init(url: String, path: String) throws {
        self.path = path
        var options = HearthOptions(databaseURL: url)
        options.persistsUser = false
        let app = try HearthApp.make(name: path, options: options)
        reference = Database.database(app: app).reference(withPath: path)
    }

    /// Goes through the scenario, and gives what was seen as an object for JSON.
    func result() async -> [String: Any] {
        observe()
        reference.child("presence")
            .onDisconnectSetValue("gone", withCompletionBlock: completion("promise"))
        let other = reference.child("other")
        other.onDisconnectSetValue("gone", withCompletionBlock: completion("other promise"))
        other.cancelDisconnectOperations(completionBlock: completion("cancel"))
        await wait(for: ["promise", "other promise", "cancel"])

        reference.child("a").setValue(1, withCompletionBlock: completion("set a"))
        await wait(for: ["set a"])

        let changes: [String: Any] = ["b": 2, "c/x": 3]
        reference.updateChildValues(changes, withCompletionBlock: completion("update"))
        pushThree(from: 0)
        await wait(for: ["update", "push 0", "push 1", "push 2"])

        countUp("transaction 0")
        await wait(for: ["transaction 0"])
        countUp("transaction 1")
        reference.child("a").setValue(2, withCompletionBlock: completion("set a again"))
        reference.child("a").setValue(3, withCompletionBlock: completion("set a at last"))
        countUp("transaction 2")
        pushThree(from: 3)
        reference.child("c").removeValue(completionBlock: completion("remove c"))
        await wait(
            for: [
                "transaction 1", "transaction 2", "set a again", "set a at last", "push 3",
                "push 4", "push 5", "remove c",
            ]
        )

        reference.child("done").setValue(true, withCompletionBlock: completion("done"))
        await wait(for: ["done"])
        let found = await withCheckedContinuation { continuation in
            reference.observeSingleEvent(of: .value) { snapshot in
                let value = MainActor.assumeIsolated { Self.json(snapshot.value) }
                continuation.resume(returning: value)
            }
        }
        return [
            "path": path, "completions": completions, "pushed": pushed, "added": added,
            "removed": removed, "final": found,
        ]
    }

    private func observe() {
        let list = reference.child("list")
        list.observe(.childAdded) { [weak self] snapshot in
            let key = snapshot.key
            MainActor.assumeIsolated { self?.added.append(key) }
        }
        list.observe(.childRemoved) { [weak self] snapshot in
            let key = snapshot.key
            MainActor.assumeIsolated { self?.removed.append(key) }
        }
        // So that the whole is known here, as in an app that shows it.
        reference.observe(.value) { _ in }
    }

    private func pushThree(from first: Int) {
        for number in first..<first + 3 {
            let child = reference.child("list").childByAutoId()
            pushed.append(child.key ?? "")
            child.setValue(number, withCompletionBlock: completion("push \(number)"))
        }
    }

    private func countUp(_ name: String) {
        reference.child("counter").runTransactionBlock(
            { data in
                data.value = (data.value as? Int ?? 0) + 1
                return .success(withValue: data)
            },
            andCompletionBlock: { [weak self] error, isCommitted, _ in
                let outcome = error.map { "\($0)" } ?? (isCommitted ? "committed" : "aborted")
                MainActor.assumeIsolated { self?.note(name, outcome) }
            }
        )
    }

    private func completion(_ name: String) -> (Error?, DatabaseReference) -> Void {
        { [weak self] error, _ in
            let outcome = error.map { "\($0)" } ?? "done"
            MainActor.assumeIsolated { self?.note(name, outcome) }
        }
    }

    private func note(_ name: String, _ outcome: String) {
        completions[name, default: []].append(outcome)
        let ready = waiting.filter { $0.names.allSatisfy { completions[$0] != nil } }
        waiting.removeAll { $0.names.allSatisfy { completions[$0] != nil } }
        for wait in ready { wait.continuation.resume() }
    }

    private func wait(for names: Set<String>) async {
        if names.allSatisfy({ completions[$0] != nil }) { return }
        await withCheckedContinuation { waiting.append((names, $0)) }
    }

    /// A value as JSON text: it crosses to another isolation as that.
    private nonisolated static func json(_ value: Any?) -> String {
        let data = try? JSONSerialization.data(
            withJSONObject: value ?? NSNull(),
            options: [.fragmentsAllowed, .sortedKeys]
        )
        return data.map { String(decoding: $0, as: UTF8.self) } ?? "unreadable"
    }
}
