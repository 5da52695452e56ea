// swift-format-ignore-file
import Foundation
import HearthDatabase

struct GroceryItem {
    let ref: DatabaseReference?
    let key: String
    let name: String
    let addedByUser: String
    var completed: Bool

    // MARK: Initialize with Raw Data
    init(name: String, addedByUser: String, completed: Bool, key: String = "") {
        self.ref = nil
        self.key = key
        self.name = name
        self.addedByUser = addedByUser
        self.completed = completed
    }

    // MARK: Initialize with a Snapshot
    init?(snapshot: DataSnapshot) {
        guard
            let value = snapshot.value as? [String: AnyObject],
            let name = value["name"] as? String,
            let addedByUser = value["addedByUser"] as? String,
            let completed = value["completed"] as? Bool
        else {
            return nil
        }

        self.ref = snapshot.ref
        self.key = snapshot.key
        self.name = name
        self.addedByUser = addedByUser
        self.completed = completed
    }

    func toAnyObject() -> Any {
        return [
            "name": name,
            "addedByUser": addedByUser,
            "completed": completed,
        ] as [String: Any]
    }
}

/// A shopping list that everybody in the house sees, unfinished things first.
class GroceryListViewController {
    let ref = Database.database().reference(withPath: "grocery-items")
    let usersRef = Database.database().reference(withPath: "online")
    var refObservers: [DatabaseHandle] = []
    var usersRefObservers: [DatabaseHandle] = []

    var items: [GroceryItem] = []
    var onlineUserCount = 0
    var reloadData: () -> Void = {}
    let email: String

    init(email: String) {
        self.email = email
    }

    func viewWillAppear() {
        let completed = ref
            .queryOrdered(byChild: "completed")
            .observe(.value) { snapshot in
                var newItems: [GroceryItem] = []
                for child in snapshot.children {
                    if let snapshot = child as? DataSnapshot,
                        let groceryItem = GroceryItem(snapshot: snapshot)
                    {
                        newItems.append(groceryItem)
                    }
                }
                self.items = newItems
                self.reloadData()
            }
        refObservers.append(completed)

        let currentUserRef = usersRef.child("uid-of-me")
        currentUserRef.setValue(email)
        currentUserRef.onDisconnectRemoveValue()

        let users = usersRef.observe(.value) { snapshot in
            if snapshot.exists() {
                self.onlineUserCount = Int(snapshot.childrenCount)
            } else {
                self.onlineUserCount = 0
            }
            self.reloadData()
        }
        usersRefObservers.append(users)
    }

    func viewDidDisappear() {
        refObservers.forEach(ref.removeObserver(withHandle:))
        refObservers = []
        usersRefObservers.forEach(usersRef.removeObserver(withHandle:))
        usersRefObservers = []
    }

    func addItem(_ text: String) {
        let groceryItem = GroceryItem(name: text, addedByUser: email, completed: false)
        let groceryItemRef = self.ref.child(text.lowercased())
        groceryItemRef.setValue(groceryItem.toAnyObject())
    }

    func toggle(at row: Int) {
        let groceryItem = items[row]
        let toggledCompletion = !groceryItem.completed
        groceryItem.ref?.updateChildValues(["completed": toggledCompletion])
    }

    func delete(at row: Int) {
        items[row].ref?.removeValue()
    }
}
