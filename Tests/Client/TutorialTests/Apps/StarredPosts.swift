// swift-format-ignore-file
import Foundation
import HearthDatabase

/// A post with stars: who gave one is kept beside their number, so both change in one transaction.
class StarredPost {
    let postRef: DatabaseReference
    let uid: String

    var starCount = 0
    var stars: [String: Bool] = [:]
    var onChange: () -> Void = {}
    private var refHandle: DatabaseHandle?

    init(key: String, uid: String) {
        postRef = Database.database().reference().child("starred-posts").child(key)
        self.uid = uid
    }

    func viewWillAppear() {
        refHandle = postRef.observe(
            DataEventType.value,
            with: { snapshot in
                let postDict = snapshot.value as? [String: AnyObject] ?? [:]
                self.starCount = postDict["starCount"] as? Int ?? 0
                self.stars = postDict["stars"] as? [String: Bool] ?? [:]
                self.onChange()
            })
    }

    func viewWillDisappear() {
        if let refHandle = refHandle {
            postRef.removeObserver(withHandle: refHandle)
        }
    }

    func toggleStar(completion: @escaping (Error?, Bool) -> Void) {
        postRef.runTransactionBlock({ (currentData: MutableData) -> TransactionResult in
            if var post = currentData.value as? [String: AnyObject] {
                var stars: [String: Bool]
                stars = post["stars"] as? [String: Bool] ?? [:]
                var starCount = post["starCount"] as? Int ?? 0
                if let _ = stars[self.uid] {
                    // Unstar the post and remove self from stars.
                    starCount -= 1
                    stars.removeValue(forKey: self.uid)
                } else {
                    // Star the post and add self to stars.
                    starCount += 1
                    stars[self.uid] = true
                }
                post["starCount"] = starCount as AnyObject?
                post["stars"] = stars as AnyObject?

                // Set value and report transaction success.
                currentData.value = post
                return TransactionResult.success(withValue: currentData)
            }
            return TransactionResult.success(withValue: currentData)
        }) { error, committed, snapshot in
            if let error = error {
                print(error.localizedDescription)
            }
            completion(error, committed)
        }
    }

    /// Takes the last seat, if there is one.
    func takeSeat(completion: @escaping (_ isTaken: Bool, _ seatsLeft: Int) -> Void) {
        postRef.child("seats").runTransactionBlock({ currentData in
            guard let seats = currentData.value as? Int else {
                return TransactionResult.success(withValue: currentData)
            }
            if seats == 0 {
                return TransactionResult.abort()
            }
            currentData.value = seats - 1
            return TransactionResult.success(withValue: currentData)
        }) { _, committed, snapshot in
            completion(committed, snapshot?.value as? Int ?? -1)
        }
    }

    /// The same without looking: the server adds.
    func addView() {
        let updates = [
            "views": ServerValue.increment(1),
            "lastViewed": ServerValue.timestamp(),
        ] as [String: Any]
        postRef.updateChildValues(updates)
    }
}
