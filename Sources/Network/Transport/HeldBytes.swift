/// Bytes of unfinished bodies and messages, counted for each client.
///
/// All together have a limit. A client that holds several has a second one, so that one client cannot take all the
/// room; a single body or message has its own limit elsewhere.
package struct HeldBytes: Sendable {
    /// The result of a change.
    package enum Outcome: Equatable, Sendable {
        case held
        /// The client would hold too much in several; nothing is changed.
        case overShare
        /// All clients would hold too much, and this one holds most; nothing is changed.
        case overLimit(greediest: String)
    }

    private struct Client {
        var byteCount = 0
        var thingCount = 0
    }

    /// The limit for all clients.
    package let byteLimit: Int
    /// The limit for one client that holds several.
    package let shareByteCount: Int
    /// Bytes now.
    package private(set) var byteCount = 0
    private var clients: [String: Client] = [:]

    /// Makes an empty count.
    package init(byteLimit: Int, shareByteCount: Int) {
        self.byteLimit = byteLimit
        self.shareByteCount = shareByteCount
    }

    /// Counts `total` bytes for one item of a client that counted as `held` until now.
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

    /// The client that holds most once `client` holds `added` more; the first by name if several do. O(clients).
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
