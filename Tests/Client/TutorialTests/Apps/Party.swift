// swift-format-ignore-file
import Foundation
import HearthDatabase

/// Invites friends to a party, and lets them answer by messages in each other's inbox.
class PartyService {
    let uid: String
    private let rootRef = Database.database().reference().child("party-app")
    private var inboxHandle: DatabaseHandle?

    private(set) var guests: [String: Any] = [:]
    private(set) var invitations: [(key: String, from: String, party: String)] = []
    var onChange: () -> Void = {}

    init(uid: String) {
        self.uid = uid
    }

    private var inboxRef: DatabaseReference {
        return rootRef.child("messages").child(uid)
    }

    func createParty(
        _ description: String, inviting friends: [String],
        completion: @escaping (String?) -> Void
    ) {
        let partyRef = rootRef.child("parties").childByAutoId()
        guard let party = partyRef.key else { return completion(nil) }
        let guests = Dictionary(uniqueKeysWithValues: friends.map { ($0, "invited") })
        var values: [String: Any] = [
            "parties/\(party)": [
                "owner": uid, "description": description, "guests": guests,
                "date": ServerValue.timestamp(),
            ] as [String: Any],
            "users/\(uid)/ownedParties/\(party)": true,
        ]
        for friend in friends {
            guard let key = rootRef.child("messages/\(friend)").childByAutoId().key else { continue }
            values["messages/\(friend)/\(key)"] = [
                "from": uid, "to": friend, "messageType": "party_invite",
                "messageContent": "invite", "party": party, "photo": "null",
            ]
        }
        rootRef.updateChildValues(values) { error, _ in
            completion(error == nil ? party : nil)
        }
        partyRef.child("guests").observe(.value, with: { snapshot in
            self.guests = snapshot.value as? [String: Any] ?? [:]
            self.onChange()
        })
    }

    func startReadingInbox() {
        inboxHandle = inboxRef.observe(.childAdded, with: { snapshot in
            guard let message = snapshot.value as? [String: String],
                let from = message["from"], let party = message["party"],
                let content = message["messageContent"]
            else { return }

            switch content {
            case "invite":
                self.invitations.append((snapshot.key, from, party))
            case "accept":
                self.rootRef.child("parties/\(party)/guests/\(from)").setValue(true)
                snapshot.ref.removeValue()
            default:
                self.rootRef.child("parties/\(party)/guests/\(from)").setValue(false)
                snapshot.ref.removeValue()
            }
            self.onChange()
        }, withCancel: { error in
            print("no inbox: \(error.localizedDescription)")
        })
    }

    func stopReadingInbox() {
        guard let handle = inboxHandle else { return }
        inboxRef.removeObserver(withHandle: handle)
        inboxHandle = nil
    }

    func answer(_ index: Int, isComing: Bool, completion: @escaping (Bool) -> Void) {
        let invitation = invitations.remove(at: index)
        let reply = rootRef.child("messages").child(invitation.from).childByAutoId()
        let values: [String: Any] = [
            "messages/\(invitation.from)/\(reply.key ?? "")": [
                "from": uid, "to": invitation.from, "messageType": "party_invite",
                "messageContent": isComing ? "accept" : "refuse",
                "party": invitation.party, "photo": "null",
            ],
            "messages/\(uid)/\(invitation.key)": NSNull(),
            "users/\(uid)/attendingParties/\(invitation.party)": isComing,
        ]
        rootRef.updateChildValues(values, withCompletionBlock: { error, ref in
            completion(error == nil)
        })
    }
}
