import Foundation
import HearthDatabase
import Testing

@Suite("chat tutorials")
@MainActor
struct ChatTests {
    let friend = World.friend

    @Test("show a chat that was started, its messages, and the latest chat on top")
    func chatList() async throws {
        let ann = ChatUser(uid: "ann", username: "Ann")
        let bob = ChatUser(uid: "bob", username: "Bob")
        let eve = ChatUser(uid: "eve", username: "Eve")
        let screen = Screen()
        let list = ChatListViewController(user: ann)
        list.reloadData = screen.changed
        list.viewDidLoad()

        let none: Chat? = await outcome { done in
            ChatService.checkForExistingChat(with: bob, for: ann) { done($0) }
        }
        #expect(none == nil)
        let made: Chat? = await outcome { done in
            ChatService.create(from: "Hi!", by: ann, with: Chat(members: [ann, bob])) { done($0) }
        }
        let chat = try #require(made)
        let key = try #require(chat.key)
        try await screen.shows { list.chats.first?.lastMessage == "Ann: Hi!" }
        #expect(list.chats.map(\.title) == ["Ann, Bob"])

        let found: Chat? = await outcome { done in
            ChatService.checkForExistingChat(with: bob, for: ann) { done($0) }
        }
        #expect(found?.key == key)
        #expect(found?.memberUIDs.sorted() == ["ann", "bob"])

        let second: Chat? = await outcome { done in
            ChatService.create(from: "Hello", by: eve, with: Chat(members: [eve, ann])) { done($0) }
        }
        #expect(second != nil)
        try await screen.shows { list.chats.count == 2 }
        #expect(list.chats.first?.title == "Eve, Ann")

        let isSent: Bool = await outcome { done in
            ChatService.sendMessage("How are you?", by: bob, for: chat) { done($0) }
        }
        #expect(isSent)
        try await screen.shows { list.chats.first?.lastMessage == "Bob: How are you?" }
        let messages = try await friend.child("messages").child(key).getData()
        let contents = messages.children.allObjects
            .compactMap {
                ($0 as? DataSnapshot)?.childSnapshot(forPath: "content").value as? String
            }
        #expect(contents == ["Hi!", "How are you?"])
    }

    @Test("show messages once each in their order, edits, and who else is typing")
    func room() async throws {
        let theirs = friend.child("channels/kitchen")
        try await theirs.child("messages").childByAutoId().setValue([
            "senderId": "bob", "senderName": "Bob", "text": "Anybody there?",
        ])
        let screen = Screen()
        let room = ChatRoomViewController(
            channel: "kitchen",
            senderId: "ann",
            senderDisplayName: "Ann"
        )
        room.onChange = screen.changed
        room.viewDidAppear()
        try await screen.shows { room.messages.count == 1 }

        room.isTyping = true
        room.didPressSend(text: "Me")
        try await screen.shows { room.messages.count == 2 }
        #expect(room.messages.map(\.text) == ["Anybody there?", "Me"])
        #expect(room.messages.map(\.name) == ["Bob", "Ann"])
        // The app takes its own typing for a person's when it has stopped by the time it is reported.
        try await screen.shows { !room.isSomeoneElseTyping }

        try await theirs.child("typingIndicator/bob").setValue(true)
        try await screen.shows { room.isSomeoneElseTyping }
        try await theirs.child("typingIndicator/bob").removeValue()
        try await screen.shows { !room.isSomeoneElseTyping }

        let first = room.messages[0].id
        try await theirs.child("messages/\(first)/text").setValue("Is anybody there?")
        try await screen.shows { room.messages[0].text == "Is anybody there?" }
        room.didEdit(messageAt: 1, text: "Me!")
        #expect(room.messages.count == 2)
        try await screen.shows { room.messages[1].text == "Me!" }
    }
}
