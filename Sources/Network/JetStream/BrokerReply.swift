import JSONTree

/// A JSON object that a broker sent, read member by member.
struct BrokerReply {
    private let node: Node

    /// Reads an object; nil when `bytes` are none.
    init?(_ bytes: [UInt8]) {
        do throws(JSONError) {
            let node = try bytes.withBytes { (text) throws(JSONError) in
                var scanner = JSONScanner(text)
                let node = try scanner.readNode(anyKeys: true)
                try scanner.expectEnd()
                return node
            }
            self.init(node)
        } catch {
            return nil
        }
    }

    private init(_ node: Node) { self.node = node }

    /// A member; absent members, nulls and empty objects are alike, and have no members.
    subscript(_ name: String) -> BrokerReply {
        BrokerReply(name.withBytes { node.child($0) })
    }

    var isAbsent: Bool { node.isAbsent }
    var integer: Int64? { node.integer }
    var text: String? { node.string }
    /// Whether it is `true`; brokers leave out what is false.
    var isTrue: Bool { node.boolean ?? false }
    /// Members of an object, or elements of a list.
    var count: Int { node.childCount }
    /// The value as JSON text, for errors.
    var json: String { node.isAbsent ? "null" : String(decoding: node.json(), as: UTF8.self) }

    /// A sequence number; nil for anything else.
    var sequence: UInt64? { integer.flatMap { UInt64(exactly: $0) } }
}
