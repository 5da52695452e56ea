// swift-format-ignore-file
import Foundation
import HearthDatabase

/// Notes of one user, written with `async` and `await`.
actor NotesStore {
    enum NotesError: Error {
        case noKey
        case notFound
    }

    private let ref: DatabaseReference

    init(uid: String) {
        ref = Database.database().reference().child("notes").child(uid)
    }

    func add(_ text: String) async throws -> String {
        let noteRef = ref.childByAutoId()
        guard let key = noteRef.key else { throw NotesError.noKey }
        try await noteRef.setValue(["text": text, "done": false] as [String: Any])
        return key
    }

    func text(of key: String) async throws -> String {
        let snapshot = try await ref.child(key).getData()
        guard let value = snapshot.value as? [String: Any], let text = value["text"] as? String
        else { throw NotesError.notFound }
        return text
    }

    func all() async throws -> [String] {
        let snapshot = try await ref.queryOrderedByKey().getData()
        return snapshot.children.allObjects
            .compactMap { $0 as? DataSnapshot }
            .compactMap { $0.childSnapshot(forPath: "text").value as? String }
    }

    func finish(_ key: String) async throws {
        try await ref.child(key).updateChildValues([
            "done": true, "finishedAt": ServerValue.timestamp(),
        ])
    }

    func delete(_ key: String) async throws {
        try await ref.child(key).removeValue()
    }

    /// Counts up by one, however many devices do so at once.
    func countUp() async throws -> Int {
        let (_, snapshot) = try await ref.child("counter").runTransactionBlock { data in
            data.value = (data.value as? Int ?? 0) + 1
            return TransactionResult.success(withValue: data)
        }
        return snapshot.value as? Int ?? 0
    }
}
