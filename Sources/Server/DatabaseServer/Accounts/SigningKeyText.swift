import JSONTree
import Tokens

/// The text of the file of signing keys; `KeyFolder` has its form.
enum SigningKeyText {
    /// What is wrong with a text.
    enum Fault: Error, Equatable, Sendable {
        case notJSON(offset: Int)
        /// Not of version 1, or without a list of keys.
        case unknownForm
        /// The entry, counted from 1, has this member missing or bad.
        case badEntry(Int, String)

        var text: String {
            switch self {
            case .notJSON(let offset): "it is not JSON at byte \(offset)"
            case .unknownForm: "it is not a list of keys of version 1"
            case .badEntry(let number, let member): "key \(number) has a bad '\(member)'"
            }
        }
    }

    /// The keys of a text, each checked: its name fits it, and both its halves fit each other.
    static func read(_ text: [UInt8]) throws(Fault) -> [SigningKeys.Entry] {
        let root: Node
        do throws(JSONError) {
            root = try Node.readingAnyJSON(text)
        } catch {
            throw .notJSON(offset: error.offset)
        }
        let list = root.member("keys")
        guard root.member("version").integer == 1, list.isMap,
            list.childCount <= SigningKeys.keyCount
        else { throw .unknownForm }
        var nodes: [Node] = []
        list.visitChildren { _, node in
            nodes.append(node)
            return true
        }
        var entries: [SigningKeys.Entry] = []
        for (index, node) in nodes.enumerated() { entries.append(try entry(node, index + 1)) }
        guard entries.contains(where: { $0.pair != nil }) else { throw .unknownForm }
        return entries
    }

    /// The text of keys; nil when OpenSSL is out of memory.
    static func write(_ keys: SigningKeys) -> [UInt8]? {
        var text = Array("{\"version\":1,\"keys\":[\n".utf8)
        for (index, entry) in keys.entries.enumerated() {
            guard let pem = entry.pair.map(\.pem) ?? entry.publicKey.pem else { return nil }
            if index > 0 { text += Array(",\n".utf8) }
            let head = """
                {"kid":"\(entry.keyID)","created":\(entry.createdAt),"signsFrom":\(entry.signsFrom),"key":
                """
            text += Array(head.utf8)
            appendJSONString(String(decoding: pem, as: UTF8.self), to: &text)
            text.append(UInt8(ascii: "}"))
        }
        return text + Array("\n]}\n".utf8)
    }

    private static func entry(_ node: Node, _ number: Int) throws(Fault) -> SigningKeys.Entry {
        guard let createdAt = seconds(node.member("created")) else {
            throw .badEntry(number, "created")
        }
        guard let signsFrom = seconds(node.member("signsFrom")) else {
            throw .badEntry(number, "signsFrom")
        }
        guard let pem = node.member("key").string.map({ Array($0.utf8) }) else {
            throw .badEntry(number, "key")
        }
        var entry: SigningKeys.Entry?
        if let pair = KeyPair(pem: pem) {
            guard pair.isSound else { throw .badEntry(number, "key") }
            entry = SigningKeys.Entry(pair, createdAt: createdAt, signsFrom: signsFrom)
        } else if let key = PublicKey(pem: pem) {
            entry = SigningKeys.Entry(superseded: key, createdAt: createdAt, signsFrom: signsFrom)
        }
        guard let entry else { throw .badEntry(number, "key") }
        guard node.member("kid").string == entry.keyID else { throw .badEntry(number, "kid") }
        return entry
    }

    private static func seconds(_ node: Node) -> Int64? {
        node.integer.flatMap { TokenLimits.claimedSeconds.contains($0) ? $0 : nil }
    }
}
