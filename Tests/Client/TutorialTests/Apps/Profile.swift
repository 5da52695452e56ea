// swift-format-ignore-file
import Foundation
import HearthDatabase

/// Reads and writes the profile of a user, one value at a time.
class ProfileEditor {
    var ref: DatabaseReference = Database.database().reference()
    let uid: String

    var username = ""
    var age = 0
    var height = 0.0
    var isPublic = false
    var tags: [String] = []
    var failures: [String] = []

    init(uid: String) {
        self.uid = uid
    }

    func register(username: String, completion: @escaping () -> Void) {
        ref.child("users").child(uid).setValue(["username": username])
        ref.child("users/\(uid)/age").setValue(42)
        ref.child("users/\(uid)/height").setValue(1.75)
        ref.child("users/\(uid)/isPublic").setValue(true)
        ref.child("users/\(uid)/tags").setValue(["swift", "tea"]) {
            (error: Error?, ref: DatabaseReference) in
            if let error = error {
                self.failures.append("Data could not be saved: \(error).")
            }
            completion()
        }
    }

    func load(completion: @escaping () -> Void) {
        ref.child("users").child(uid).observeSingleEvent(
            of: .value,
            with: { (snapshot) in
                let value = snapshot.value as? NSDictionary
                self.username = value?["username"] as? String ?? ""
                self.age = value?["age"] as? Int ?? 0
                self.height = value?["height"] as? Double ?? 0
                self.isPublic = value?["isPublic"] as? Bool ?? false
                self.tags = value?["tags"] as? [String] ?? []
                completion()
            }
        ) { (error) in
            self.failures.append(error.localizedDescription)
            completion()
        }
    }

    func loadName(completion: @escaping (String?) -> Void) {
        ref.child("users/\(uid)/username").getData(completion: { error, snapshot in
            guard error == nil else {
                self.failures.append(error?.localizedDescription ?? "")
                return completion(nil)
            }
            let userName = snapshot?.value as? String ?? "Unknown"
            completion(userName)
        })
    }

    /// Writes a post at two places at once.
    func publish(title: String, body: String, completion: @escaping (String?) -> Void) {
        guard let key = ref.child("blog").childByAutoId().key else { return completion(nil) }
        let post =
            [
                "uid": uid,
                "author": username,
                "title": title,
                "body": body,
            ] as [String: Any]
        let childUpdates = [
            "/blog/\(key)": post,
            "/user-posts/\(uid)/\(key)/": post,
        ]
        ref.updateChildValues(childUpdates) { error, _ in
            completion(error == nil ? key : nil)
        }
    }

    /// Deletes the profile; `NSNull` deletes as `removeValue` does.
    func unregister(completion: @escaping (Error?) -> Void) {
        ref.child("users").child(uid).updateChildValues(["username": NSNull(), "tags": NSNull()])
        ref.child("users").child(uid).removeValue { error, _ in
            completion(error)
        }
    }
}
