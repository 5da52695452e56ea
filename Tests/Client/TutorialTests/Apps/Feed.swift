// swift-format-ignore-file
import Foundation
import HearthDatabase

/// Loads a long list in pages of a few, the newest first, as the user scrolls down.
class PagedFeed {
    struct Entry: Equatable {
        let key: String
        let title: String
    }

    private let pageSize: UInt
    private let ref = Database.database().reference().child("feed")
    private var lastKey: String?

    private(set) var entries: [Entry] = []
    private(set) var isAtEnd = false
    private(set) var isLoading = false

    init(pageSize: UInt) {
        self.pageSize = pageSize
    }

    func loadMore(completion: @escaping () -> Void) {
        guard !isLoading, !isAtEnd else { return completion() }
        isLoading = true

        var query = ref.queryOrderedByKey()
        if let lastKey = lastKey {
            // One more than a page: the last entry of the page before comes again.
            query = query.queryEnding(atValue: lastKey).queryLimited(toLast: pageSize + 1)
        } else {
            query = query.queryLimited(toLast: pageSize)
        }

        query.observeSingleEvent(of: .value) { snapshot in
            var page: [Entry] = []
            for case let child as DataSnapshot in snapshot.children where child.key != self.lastKey {
                let title = child.childSnapshot(forPath: "title").value as? String ?? ""
                page.append(Entry(key: child.key, title: title))
            }
            self.isLoading = false
            self.isAtEnd = page.count < Int(self.pageSize)
            self.entries += page.reversed()
            self.lastKey = self.entries.last?.key
            completion()
        }
    }

    /// The entries between two times, by a query instead of keys.
    func entries(
        from start: Int, to end: Int,
        completion: @escaping ([String]) -> Void
    ) {
        ref.queryOrdered(byChild: "createdAt")
            .queryStarting(atValue: start)
            .queryEnding(atValue: end)
            .observeSingleEvent(of: .value) { snapshot in
                let enumerator = snapshot.children
                var titles: [String] = []
                while let rest = enumerator.nextObject() as? DataSnapshot {
                    if let dict = rest.value as? [String: Any],
                        let title = dict["title"] as? String
                    {
                        titles.append(title)
                    }
                }
                completion(titles)
            }
    }

    /// Whose title begins with a text.
    func search(_ text: String, completion: @escaping ([String]) -> Void) {
        ref.queryOrdered(byChild: "title")
            .queryStarting(atValue: text)
            .queryEnding(atValue: text + "\u{f8ff}")
            .observeSingleEvent(of: .value) { snapshot in
                let children = snapshot.children.allObjects as? [DataSnapshot] ?? []
                completion(children.compactMap { $0.childSnapshot(forPath: "title").value as? String })
            }
    }
}
