import JSONTree

/// One version of the rules of a database, as its server lists it.
struct PublishedVersion: Equatable {
    let number: Int
    /// When it came into force; nil if the server does not know.
    let time: Timestamp?
    /// Who published it; nil if the server does not know.
    let author: String?
    let isInForce: Bool
    let byteCount: Int
    /// Whether it is that of no rules of the database's own.
    let isDetached: Bool

    static let address = DatabasePath("/.settings/rules_history")

    /// The address of the rules of one version.
    static func address(of number: Int) -> DatabasePath { address.appending(["\(number)"]) }

    /// For people, in the middle of a sentence: `7 (by ann, 2026-01-31T23:59:59.999Z)`.
    var shown: String {
        let facts = [author.map { "by \($0)" }, time.map { ISO8601.text(of: $0.milliseconds) }]
        let known = facts.compactMap { $0 }
        return known.isEmpty ? "\(number)" : "\(number) (\(known.joined(separator: ", ")))"
    }

    /// Reads `{"versions":[...]}`; nil when it is something else.
    static func read(_ body: [UInt8]) -> [PublishedVersion]? {
        // A server that answers null to everything is not a database with a history.
        guard body.first == UInt8(ascii: "{"), let answer = Node(answer: body) else { return nil }
        let list = answer.member("versions")
        // An empty list is an absent node, as is one that contains only empty ones.
        guard !answer.isLeaf, !list.isLeaf else { return nil }
        let versions = list.elements.compactMap { PublishedVersion($0) }
        return versions.count == list.childCount ? versions : nil
    }

    private init?(_ entry: Node) {
        guard let number = entry.member("number").integer,
            let byteCount = entry.member("bytes").integer
        else { return nil }
        self.number = Int(number)
        self.byteCount = Int(byteCount)
        time = entry.member("time").integer.map { Timestamp(milliseconds: $0) }
        author = entry.member("author").string
        isInForce = entry.member("inForce").boolean ?? false
        isDetached = entry.member("detached").boolean ?? false
    }
}
