/// Bytes that wait for the rest of something, counted by whose they are.
///
/// Together they have a limit, and so has each client as soon as it holds several things: one thing alone has a limit
/// of its own elsewhere, and one client must not take the room of all.
package struct HeldBytes: Sendable {
    /// How a change was taken.
    package enum Outcome: Equatable, Sendable {
        case held
        /// The client would hold too much in several things; nothing is changed.
        case overShare
        /// All together would hold too much, and this client holds most; nothing is changed.
        case overLimit(greediest: String)
    }

    private struct Client {
        var byteCount = 0
        var thingCount = 0
    }

    /// Bytes that all may hold.
    package let byteLimit: Int
    /// Bytes that one client may hold in several things.
    package let shareByteCount: Int
    /// Bytes held now.
    package private(set) var byteCount = 0
    private var clients: [String: Client] = [:]

    /// Makes an account in which nothing is held.
    package init(byteLimit: Int, shareByteCount: Int) {
        self.byteLimit = byteLimit
        self.shareByteCount = shareByteCount
    }

    /// Counts `total` bytes for one thing of a client that was counted with `held` so far.
    package mutating func hold(_ total: Int, for held: inout Int, of client: String) -> Outcome {
        if total <= held {
            release(held - total, of: client, isOver: total == 0 && held > 0)
            held = total
            return .held
        }
        var present = clients[client] ?? Client()
        let added = total - held
        let isNew = held == 0
        let isShared = present.thingCount + (isNew ? 1 : 0) > 1
        if isShared, present.byteCount + added > shareByteCount { return .overShare }
        if byteCount + added > byteLimit { return .overLimit(greediest: greediest(client, added)) }
        present.byteCount += added
        if isNew { present.thingCount += 1 }
        clients[client] = present
        byteCount += added
        held = total
        return .held
    }

    private mutating func release(_ released: Int, of client: String, isOver: Bool) {
        guard released > 0, var present = clients[client] else { return }
        byteCount -= released
        present.byteCount -= released
        if isOver { present.thingCount -= 1 }
        clients[client] = present.thingCount > 0 ? present : nil
    }

    /// Who holds most once `client` holds so much more; the first in the order of their names where several do. O(clients).
    private func greediest(_ client: String, _ added: Int) -> String {
        var greatest = (name: client, byteCount: (clients[client]?.byteCount ?? 0) + added)
        for (name, other) in clients where name != client {
            if other.byteCount > greatest.byteCount
                || (other.byteCount == greatest.byteCount && name < greatest.name)
            {
                greatest = (name, other.byteCount)
            }
        }
        return greatest.name
    }
}
