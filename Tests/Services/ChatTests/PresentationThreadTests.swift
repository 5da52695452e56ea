import Chat
import Foundation
import Testing

@Suite("lists of chats")
struct PresentationThreadTests {
    private let me = UserProfile(uid: "u1", username: "ann", name: "Ann Lee")

    private static func chat(
        _ key: String,
        with other: String = "u2",
        title: String = "ann, bob",
        last: String = "bob: hello",
        at seconds: Double = 1_000,
        unread: Int = 0,
    ) -> DirectChat {
        DirectChat(
            key: key,
            title: title,
            memberHash: MemberHash.of("u1", other),
            members: ["u1", other],
            lastMessage: last,
            // A device whose clock is wrong.
            lastMessageSent: Date(timeIntervalSince1970: 5_000 - seconds),
            lastMessageAt: Date(timeIntervalSince1970: seconds),
            lastMessageKey: "k",
            unread: unread,
        )
    }

    private static func room(
        _ key: String,
        name: String = "Garden",
        text: String = "hi",
        at seconds: Double = 1_000,
        unread: Int = 0,
    ) -> RoomSummary {
        RoomSummary(
            key: key,
            name: name,
            lastEventText: text,
            lastEventMilliseconds: seconds * 1_000,
            unread: unread,
        )
    }

    @Test("chats and rooms are one list, newest first by the server's time")
    func order() {
        let threads = ThreadList(me: me).merge(
            chats: [Self.chat("a", at: 1), Self.chat("b", at: 3), Self.chat("c", at: 2)],
            rooms: [Self.room("d", at: 2.5), Self.room("e", at: 9), Self.room("f", at: 2)],
        )
        #expect(
            threads.map(\.id) == ["room/e", "direct/b", "room/d", "room/f", "direct/c", "direct/a"]
        )
        #expect(threads.map(\.key) == ["e", "b", "d", "f", "c", "a"])
    }

    @Test("what is of one moment has one order, however it came")
    func ties() {
        let chats = ["a", "b", "c"].map { Self.chat($0) }
        let rooms = ["a", "b"].map { Self.room($0) }
        let list = ThreadList(me: me)
        let threads = list.merge(chats: chats, rooms: rooms)
        #expect(threads == list.merge(chats: chats.reversed(), rooms: rooms.reversed()))
        #expect(threads.map(\.id) == ["room/b", "room/a", "direct/c", "direct/b", "direct/a"])
    }

    // Stored title, the other's profile, what is shown.
    private static let titles: [(String, UserProfile?, String)] = [
        ("ann, bob", UserProfile(uid: "u2", username: "bob", name: "Bob Ray"), "Bob Ray"),
        ("ann, bob", UserProfile(uid: "u2", username: "bob"), "bob"),
        ("ann, bob", UserProfile(uid: "u2", username: "bob", name: " \n"), "bob"),
        // The person who starts a chat writes the title: a profile goes before it.
        ("Your bank", UserProfile(uid: "u2", username: "eve"), "eve"),
        ("ann, bob", nil, "bob"),
        ("Bob, ann", nil, "Bob"),
        ("anna, bob", nil, "anna, bob"),
        ("my dear", nil, "my dear"),
        ("ann, ann", nil, "ann, ann"),
        ("two\nlines \u{202E}turned", nil, "two lines turned"),
        // From right to left: the characters stay in their order.
        (
            "ann, bob", UserProfile(uid: "u2", username: "bob", name: "\u{5D3}\u{5E0}\u{5D4}"),
            "\u{5D3}\u{5E0}\u{5D4}"
        ),
        (
            "ann, bob",
            UserProfile(
                uid: "u2",
                username: "bob",
                name: "\u{202E}\u{645}\u{646}\u{649}\u{2069} 1"
            ),
            "\u{645}\u{646}\u{649} 1"
        ),
    ]

    @Test("a direct chat is called by the other's name", arguments: titles)
    func title(stored: String, other: UserProfile?, shown: String) {
        var list = ThreadList(me: me)
        list.people["u2"] = other
        #expect(list.thread(Self.chat("c", title: stored)).title == shown)
    }

    // Name of the room, members, what is shown.
    private static let rooms: [(String, [String], String)] = [
        ("Garden", ["u1", "u2"], "Garden"),
        (" The\tgarden\u{7}\u{2067} ", [], "The garden"),
        ("\u{200F}", ["u1"], "r"),
        (" ", ["u1", "u2"], "Bob"),
        (" ", ["u1", "u2", "u3"], "Bob and \u{5D3}\u{5E0}\u{5D4}"),
        (" ", ["u2", "u1", "u3", "u4", "u5"], "Bob, \u{5D3}\u{5E0}\u{5D4}, u4 and u5"),
        (" ", ["u2", "u3", "u4", "u5", "u6"], "Bob, \u{5D3}\u{5E0}\u{5D4}, u4 and 2 others"),
    ]

    @Test("a room whose name shows nothing is called by its members", arguments: rooms)
    func roomTitle(name: String, members: [String], shown: String) {
        let list = ThreadList(
            me: me,
            people: [
                "u2": UserProfile(uid: "u2", username: "bob", name: "Bob"),
                "u3": UserProfile(uid: "u3", username: "dina", name: "\u{5D3}\u{5E0}\u{5D4}"),
            ],
            members: ["r": members],
        )
        #expect(list.thread(Self.room("r", name: name)).title == shown)
    }

    @Test(
        "the latest message is on one line, and an own one is one's own",
        arguments: [
            ("bob: hello", "bob: hello"), ("ann: hello", "You: hello"),
            ("ann: ", "You:"), ("anna: x", "anna: x"), ("", ""), ("ann: ann: x", "You: ann: x"),
            ("bob: a\r\nb\u{0}\u{2028}c", "bob: a b c"), ("ann: \u{301}x", "ann: \u{301}x"),
        ]
    )
    func lastText(stored: String, shown: String) {
        #expect(ThreadList(me: me).thread(Self.chat("c", last: stored)).lastText == shown)
    }

    @Test("pictures, unread counts and mutes come from what is known")
    func details() {
        let list = ThreadList(
            me: me,
            people: ["u2": UserProfile(uid: "u2", username: "bob", picture: "http://x/y.png")],
            mutes: ["d", "r"],
        )
        let chat = list.thread(Self.chat("c", unread: 4))
        #expect(chat.picture == "http://x/y.png" && chat.unread == 4 && !chat.isMuted)
        let other = list.thread(Self.chat("d", with: "u9"))
        #expect(other.picture == nil && other.unread == 0 && other.isMuted)
        let room = list.thread(Self.room("r", text: "a\nb", unread: 7))
        #expect(room.unread == 7 && room.isMuted && room.lastText == "a b" && room.picture == nil)
        #expect(UnreadCount.total([chat, other, room]) == 4)
        let full = list.thread(Self.room("s", unread: .max))
        #expect(UnreadCount.total([chat, full, chat]) == .max)
    }

    @Test(
        "counts are said briefly",
        arguments: [
            (-1, "", ""), (0, "", ""), (1, "1", "1 unread message"), (2, "2", "2 unread messages"),
            (99, "99", "99 unread messages"), (100, "99+", "99+ unread messages"),
            (.max, "99+", "99+ unread messages"),
        ]
    )
    func counts(count: Int, text: String, sentence: String) {
        #expect(UnreadCount.text(count) == text)
        #expect(UnreadCount.sentence(count) == sentence)
    }

    @Test("names are joined as people join them")
    func names() {
        #expect(DisplayName.list([]) == "")
        #expect(DisplayName.list(["a"]) == "a")
        #expect(DisplayName.list(["a", "b"]) == "a and b")
        #expect(DisplayName.list(["a", "b", "c", "d"]) == "a, b, c and d")
        #expect(DisplayName.list(["a", "b", "c", "d", "e"]) == "a, b, c and 2 others")
    }
}
