import Foundation
import HearthDatabase
import Testing

@Suite("tutorials with lists")
@MainActor
struct ListTests {
    let friend = World.friend

    @Test("show what is to buy, unfinished things first, and who is online")
    func groceries() async throws {
        let screen = Screen()
        let list = GroceryListViewController(email: "ann@example.com")
        list.reloadData = screen.changed
        list.viewWillAppear()
        try await screen.shows { list.onlineUserCount == 1 }

        list.addItem("Apples")
        list.addItem("Bread")
        try await screen.shows { list.items.count == 2 }
        #expect(list.items.map(\.name) == ["Apples", "Bread"])
        list.toggle(at: 0)
        try await screen.shows { list.items.last?.completed == true }
        #expect(list.items.map(\.name) == ["Bread", "Apples"])
        #expect(list.items.map(\.addedByUser) == ["ann@example.com", "ann@example.com"])

        let butter: [String: Any] = [
            "name": "Butter", "addedByUser": "bob@example.com", "completed": false,
        ]
        try await friend.child("grocery-items/butter").setValue(butter)
        try await friend.child("online/uid-of-bob").setValue("bob@example.com")
        try await screen.shows { list.items.count == 3 && list.onlineUserCount == 2 }
        #expect(list.items.map(\.name) == ["Bread", "Butter", "Apples"])

        list.delete(at: 2)
        try await screen.shows { list.items.count == 2 }
        list.viewDidDisappear()
        try await friend.child("grocery-items/cheese").setValue(butter)
        try await friend.child("grocery-items").becomes {
            ($0.value as? [String: Any])?.keys.sorted() == ["bread", "butter", "cheese"]
        }
        #expect(list.items.count == 2)
    }

    @Test("take Foundation from the one import, begin with nothing, and cast as on Apple's systems")
    func diary() async throws {
        let screen = Screen()
        let diary = DiaryViewController()
        #expect(!diary.latest.exists())
        diary.reloadData = screen.changed
        diary.viewDidLoad()
        diary.write("rain", at: Date(timeIntervalSince1970: 1_000), height: 20.5)
        try await screen.shows { diary.entryHeight == 20.5 }
        #expect(diary.latest.childSnapshot(forPath: "text").value as? String == "rain")
        #expect(diary.title == "Diary at \(diary.ref.url)")
        await diary.write(toPage: "page.1")
        #expect(diary.message.hasPrefix("com.firebase 11: \"page.1\" is no path"))
    }

    @Test("load pages of the newest, a range, and a search")
    func paging() async throws {
        var entries: [String: Any] = [:]
        for number in 1...7 {
            entries["entry\(number)"] = [
                "title": number.isMultiple(of: 2) ? "Even \(number)" : "Odd \(number)",
                "createdAt": number * 100,
            ]
        }
        try await friend.child("feed").setValue(entries)
        let feed = PagedFeed(pageSize: 3)
        let expected = [
            ["Odd 7", "Even 6", "Odd 5"], ["Even 4", "Odd 3", "Even 2"], ["Odd 1"],
        ]
        var all: [String] = []
        for page in expected {
            #expect(!feed.isAtEnd)
            let _: Void = await outcome { done in feed.loadMore { done(()) } }
            all += page
            #expect(feed.entries.map(\.title) == all)
        }
        #expect(feed.isAtEnd)
        let middle: [String] = await outcome { feed.entries(from: 200, to: 400, completion: $0) }
        #expect(middle == ["Even 2", "Odd 3", "Even 4"])
        let found: [String] = await outcome { feed.search("Eve", completion: $0) }
        #expect(found == ["Even 2", "Even 4", "Even 6"])
    }

    @Test("keep the best players in order while they play")
    func leaderboard() async throws {
        let screen = Screen()
        let board = Leaderboard()
        board.tableView = screen.changed
        board.show(2)
        for (uid, score) in [("ann", 10), ("bob", 20), ("eve", 5)] {
            let isBest: Bool = await outcome { done in
                board.submit(score, for: uid, named: uid) { done($0) }
            }
            #expect(isBest)
        }
        try await screen.shows { board.top.map(\.name) == ["bob", "ann"] }

        let isBest: Bool = await outcome { done in
            board.submit(3, for: "ann", named: "ann") { done($0) }
        }
        #expect(!isBest)
        // The one from below pushes another out of the window.
        try await friend.child("leaderboard/eve/score").setValue(30)
        try await screen.shows { board.top.map(\.name) == ["eve", "bob"] }
        // Both stay, in another order.
        try await friend.child("leaderboard/bob/score").setValue(40)
        try await screen.shows {
            board.top.map(\.name) == ["bob", "eve"] && board.top[0].score == 40
        }
        #expect(board.log.suffix(3) == ["-ann", "+eve", "~bob"])
        board.hide()
    }
}
