// swift-format-ignore-file
import Foundation
import HearthDatabase

struct ChatUser {
    let uid: String
    let username: String

    var dictValue: [String: Any] {
        return ["uid": uid, "username": username]
    }

    init(uid: String, username: String) {
        self.uid = uid
        self.username = username
    }

    init?(snapshot: DataSnapshot) {
        guard let dict = snapshot.value as? [String: Any],
            let username = dict["username"] as? String
        else { return nil }

        self.uid = snapshot.key
        self.username = username
    }
}

final class Chat {
    var key: String?
    let title: String
    let memberHash: String
    let memberUIDs: [String]
    var lastMessage: String?
    var lastMessageSent: Date?

    init(members: [ChatUser]) {
        title = members.map { $0.username }.joined(separator: ", ")
        memberUIDs = members.map { $0.uid }
        memberHash = memberUIDs.sorted().joined(separator: "_")
    }

    init?(snapshot: DataSnapshot) {
        guard !snapshot.key.isEmpty,
            let dict = snapshot.value as? [String: Any],
            let title = dict["title"] as? String,
            let memberHash = dict["memberHash"] as? String,
            let membersDict = dict["members"] as? [String: Bool],
            let lastMessage = dict["lastMessage"] as? String,
            let lastMessageSent = dict["lastMessageSent"] as? TimeInterval
        else { return nil }

        self.key = snapshot.key
        self.title = title
        self.memberHash = memberHash
        self.memberUIDs = Array(membersDict.keys)
        self.lastMessage = lastMessage
        self.lastMessageSent = Date(timeIntervalSince1970: lastMessageSent)
    }
}

enum ChatService {
    static func create(
        from message: String,
        by sender: ChatUser,
        with chat: Chat,
        completion: @escaping (Chat?) -> Void
    ) {
        var membersDict = [String: Bool]()
        for uid in chat.memberUIDs {
            membersDict[uid] = true
        }

        let now = Date()
        let lastMessage = "\(sender.username): \(message)"
        let chatDict: [String: Any] = [
            "title": chat.title,
            "memberHash": chat.memberHash,
            "members": membersDict,
            "lastMessage": lastMessage,
            "lastMessageSent": now.timeIntervalSince1970,
        ]

        let chatRef = Database.database().reference().child("chats").child(sender.uid)
            .childByAutoId()
        guard let chatKey = chatRef.key else { return completion(nil) }

        var multiUpdateValue = [String: Any]()
        for uid in chat.memberUIDs {
            multiUpdateValue["chats/\(uid)/\(chatKey)"] = chatDict
        }

        let messagesRef = Database.database().reference().child("messages").child(chatKey)
        guard let messageKey = messagesRef.childByAutoId().key else { return completion(nil) }
        multiUpdateValue["messages/\(chatKey)/\(messageKey)"] = [
            "content": message,
            "timestamp": now.timeIntervalSince1970,
            "sender": sender.dictValue,
        ] as [String: Any]

        let rootRef = Database.database().reference()
        rootRef.updateChildValues(multiUpdateValue) { (error, ref) in
            if let error = error {
                print("could not create the chat: \(error.localizedDescription)")
                return completion(nil)
            }
            chat.key = chatKey
            chat.lastMessage = lastMessage
            chat.lastMessageSent = now
            completion(chat)
        }
    }

    static func checkForExistingChat(
        with user: ChatUser,
        for currentUser: ChatUser,
        completion: @escaping (Chat?) -> Void
    ) {
        let hashValue = Chat(members: [user, currentUser]).memberHash
        let chatRef = Database.database().reference().child("chats").child(currentUser.uid)
        let queryRef = chatRef.queryOrdered(byChild: "memberHash").queryEqual(toValue: hashValue)

        queryRef.observeSingleEvent(of: .value, with: { (snapshot) in
            guard let chatSnap = snapshot.children.allObjects.first as? DataSnapshot,
                let chat = Chat(snapshot: chatSnap)
            else { return completion(nil) }

            completion(chat)
        })
    }

    static func sendMessage(
        _ message: String,
        by sender: ChatUser,
        for chat: Chat,
        success: ((Bool) -> Void)? = nil
    ) {
        guard let chatKey = chat.key else {
            success?(false)
            return
        }

        let rootRef = Database.database().reference()
        let messageRef = rootRef.child("messages/\(chatKey)").childByAutoId()
        var update = [String: Any]()
        for uid in chat.memberUIDs {
            update["chats/\(uid)/\(chatKey)/lastMessage"] = "\(sender.username): \(message)"
            update["chats/\(uid)/\(chatKey)/lastMessageSent"] = Date().timeIntervalSince1970
        }
        update["messages/\(chatKey)/\(messageRef.key ?? "")"] = [
            "content": message,
            "timestamp": ServerValue.timestamp(),
            "sender": sender.dictValue,
        ] as [String: Any]

        rootRef.updateChildValues(update, withCompletionBlock: { (error, _) in
            success?(error == nil)
        })
    }
}

/// The screen with all chats of one user, the latest on top.
final class ChatListViewController {
    private(set) var chats = [Chat]()
    var reloadData: () -> Void = {}

    private let user: ChatUser
    private var userChatsHandle: DatabaseHandle = 0
    private var userChatsRef: DatabaseReference?

    init(user: ChatUser) {
        self.user = user
    }

    func viewDidLoad() {
        userChatsRef = Database.database().reference().child("chats").child(user.uid)
        userChatsHandle =
            userChatsRef?.observe(.value, with: { [weak self] (snapshot) in
                guard let snapshot = snapshot.children.allObjects as? [DataSnapshot] else { return }
                self?.chats = snapshot.compactMap(Chat.init).sorted {
                    ($0.lastMessageSent ?? .distantPast) > ($1.lastMessageSent ?? .distantPast)
                }
                self?.reloadData()
            }) ?? 0
    }

    deinit {
        userChatsRef?.removeObserver(withHandle: userChatsHandle)
    }
}
