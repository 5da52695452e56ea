// swift-format-ignore-file
import Foundation
import HearthDatabase

/// One chat room: its messages as they come, who is typing, and sending.
class ChatRoomViewController {
    let senderId: String
    let senderDisplayName: String

    var messages: [(id: String, name: String, text: String)] = []
    var isSomeoneElseTyping = false
    var onChange: () -> Void = {}

    private lazy var channelRef = Database.database().reference().child("channels").child(channel)
    private lazy var messageRef: DatabaseReference = self.channelRef.child("messages")
    private lazy var userIsTypingRef: DatabaseReference =
        self.channelRef.child("typingIndicator").child(self.senderId)
    private lazy var usersTypingQuery: DatabaseQuery =
        self.channelRef.child("typingIndicator").queryOrderedByValue().queryEqual(toValue: true)
    private var newMessageRefHandle: DatabaseHandle?
    private var updatedMessageRefHandle: DatabaseHandle?
    private var typingRefHandle: DatabaseHandle?
    private let channel: String

    private var localTyping = false
    var isTyping: Bool {
        get {
            return localTyping
        }
        set {
            localTyping = newValue
            userIsTypingRef.setValue(newValue)
        }
    }

    init(channel: String, senderId: String, senderDisplayName: String) {
        self.channel = channel
        self.senderId = senderId
        self.senderDisplayName = senderDisplayName
    }

    deinit {
        if let refHandle = newMessageRefHandle {
            messageRef.removeObserver(withHandle: refHandle)
        }
        if let refHandle = updatedMessageRefHandle {
            messageRef.removeObserver(withHandle: refHandle)
        }
        if let refHandle = typingRefHandle {
            usersTypingQuery.removeObserver(withHandle: refHandle)
        }
    }

    func viewDidAppear() {
        observeMessages()
        observeTyping()
    }

    func didPressSend(text: String) {
        let itemRef = messageRef.childByAutoId()
        let messageItem = [
            "senderId": senderId,
            "senderName": senderDisplayName,
            "text": text,
        ]
        itemRef.setValue(messageItem)
        isTyping = false
    }

    func didEdit(messageAt index: Int, text: String) {
        messageRef.child(messages[index].id).child("text").setValue(text)
    }

    private func observeMessages() {
        let messageQuery = messageRef.queryLimited(toLast: 25)

        newMessageRefHandle = messageQuery.observe(.childAdded, with: { (snapshot) -> Void in
            guard let messageData = snapshot.value as? [String: String] else { return }

            if let name = messageData["senderName"], let text = messageData["text"],
                text.count > 0
            {
                self.messages.append((id: snapshot.key, name: name, text: text))
                self.onChange()
            } else {
                print("Error! Could not decode message data")
            }
        })

        updatedMessageRefHandle = messageRef.observe(.childChanged, with: { (snapshot) in
            guard let text = snapshot.childSnapshot(forPath: "text").value as? String,
                let index = self.messages.firstIndex(where: { $0.id == snapshot.key })
            else { return }
            self.messages[index].text = text
            self.onChange()
        })
    }

    private func observeTyping() {
        userIsTypingRef.onDisconnectRemoveValue()

        typingRefHandle = usersTypingQuery.observe(.value) { (data: DataSnapshot) in
            // It is only me, do not show the indicator.
            if data.childrenCount == 1 && self.isTyping {
                return
            }
            self.isSomeoneElseTyping = data.childrenCount > 0
            self.onChange()
        }
    }
}
