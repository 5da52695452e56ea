import JSONTree
import Queries
import WireProtocol

@testable import SyncCore

/// A server of one client, without a network: it keeps a tree and answers requests in order, when the test asks.
struct ClientServer {
    /// The data.
    var root = Node.absent
    /// Milliseconds since 1970, by its own clock.
    var now = Timestamp(milliseconds: 5_000_000)
    /// Writes at, above and below these places are refused.
    var readOnly: [Path] = []
    /// Reads at and below these places are refused.
    var secret: [Path] = []
    /// Every hashed write finds other data.
    var isAlwaysStale = false
    /// What arrived and was not answered.
    private(set) var waiting: [ClientRequest] = []
    /// All that arrived, in words.
    private(set) var log: [String] = []

    private var listens: [(target: ListenTarget, tag: Int64?)] = []
    private var onDisconnect: [MergeEntry] = []
    private var assembler = FrameAssembler(byteLimit: 1 << 24)

    init(_ json: String = "null") throws {
        root = try Node(json: json)
    }

    mutating func receive(_ frame: [UInt8]) throws {
        guard case .message(let text) = try assembler.receive(frame) else { return }
        guard case .request(let request) = try ClientMessage.parse(text) else { return }
        waiting.append(request)
        log.append(request.action.words)
    }

    /// Answers what waits longest; nil if nothing does.
    mutating func answer() -> [ServerMessage]? {
        if waiting.isEmpty { return nil }
        let request = waiting.removeFirst()
        var messages: [ServerMessage] = []
        let body = answer(request.action, &messages)
        return messages + [.reply(request.number, body)]
    }

    /// Another person writes.
    mutating func write(_ path: Path, _ node: Node) -> [ServerMessage] {
        var messages: [ServerMessage] = []
        commit([(WriteTarget(path: path), node)], &messages)
        return messages
    }

    /// The connection is lost: no one listens any more, and on-disconnect writes are done.
    mutating func lose() {
        var messages: [ServerMessage] = []
        for entry in onDisconnect { commit([resolve(entry)], &messages) }
        onDisconnect = []
        listens = []
        waiting = []
        assembler = FrameAssembler(byteLimit: 1 << 24)
    }

    private mutating func answer(
        _ action: ClientRequest.Action,
        _ messages: inout [ServerMessage]
    ) -> ReplyBody {
        switch action {
        case .listen(let target, let tag, let hash):
            if isSecret(target.path) { return .refused(.permissionDenied, "Permission denied") }
            listens.append((target, tag))
            let node = selected(target, root)
            if node.hash() != hash?.hash {
                messages.append(.put(WriteTarget(path: target.path), node, tag: tag))
            }
            return .listening(warnings: [])
        case .unlisten(let target, let tag):
            listens.removeAll { $0.target == target && $0.tag == tag }
            return .ok
        case .get(let target):
            if isSecret(target.path) { return .refused(.permissionDenied, "Permission denied") }
            return .value(selected(target, root))
        case .put(let target, let draft, let hash):
            if let hash, isAlwaysStale || root.descendant(at: target.path).hash() != hash {
                return .refused(.dataStale, "Transaction hash does not match")
            }
            return write([MergeEntry(target: target, draft: draft)], &messages)
        case .merge(_, let entries, _): return write(entries, &messages)
        case .onDisconnectPut(let target, let draft):
            return keep([MergeEntry(target: target, draft: draft)])
        case .onDisconnectMerge(_, let entries): return keep(entries)
        case .onDisconnectCancel(let target):
            onDisconnect.removeAll { target.isAncestorOrEqual(of: $0.target) }
            return .ok
        case .auth, .gauth: return .authenticated(nil)
        case .stats, .unauth, .appCheck, .unAppCheck: return .ok
        case .echo, .unknown, .malformed, .tooBig: return .refused(.error, "unknown")
        }
    }

    private func isSecret(_ path: Path) -> Bool { secret.contains { $0.isPrefix(of: path) } }

    private func isReadOnly(_ entries: [MergeEntry]) -> Bool {
        entries.contains { entry in readOnly.contains { $0.isAboveOrBelow(entry.target.path) } }
    }

    private mutating func keep(_ entries: [MergeEntry]) -> ReplyBody {
        if isReadOnly(entries) { return .refused(.permissionDenied, "Permission denied") }
        onDisconnect += entries
        return .ok
    }

    private mutating func write(
        _ entries: [MergeEntry],
        _ messages: inout [ServerMessage]
    ) -> ReplyBody {
        if isReadOnly(entries) { return .refused(.permissionDenied, "Permission denied") }
        commit(entries.map { resolve($0) }, &messages)
        return .ok
    }

    private func resolve(_ entry: MergeEntry) -> (target: WriteTarget, node: Node) {
        let old = root.descendant(at: entry.target.path)
        let existing = entry.target.isPriority ? old.priority : old
        return (entry.target, entry.draft.resolved(existing: existing, now: now))
    }

    private mutating func commit(
        _ places: [(target: WriteTarget, node: Node)],
        _ messages: inout [ServerMessage]
    ) {
        let old = root
        for (target, node) in places {
            if target.isPriority {
                root.setPriority(node, at: target.path)
            } else {
                root.set(node, at: target.path)
            }
        }
        for (target, tag) in listens {
            let node = selected(target, root)
            if selected(target, old) == node { continue }
            messages.append(.put(WriteTarget(path: target.path), node, tag: tag))
        }
    }

    private func selected(_ target: ListenTarget, _ root: Node) -> Node {
        let node = root.descendant(at: target.path)
        if target.query.loadsEverything { return node }
        let children = OrderedChildren(node, index: nil)
        return QueryView(target.query, children).result(in: children)
    }
}

extension ClientRequest.Action {
    /// What is asked, in words.
    fileprivate var words: String {
        switch self {
        case .stats: "stats"
        case .auth(let credential): "auth \(credential.token)"
        case .gauth(let credential): "gauth \(credential.token)"
        case .unauth: "unauth"
        case .appCheck, .unAppCheck: "appCheck"
        case .listen(let target, _, _): "listen \(target.path)"
        case .unlisten(let target, _): "unlisten \(target.path)"
        case .get(let target): "get \(target.path)"
        case .put(let target, let draft, let hash):
            "\(hash == nil ? "put" : "put if") \(target) \(draft.node.text)"
        case .merge(let path, let entries, _):
            "merge \(path) "
                + entries.map { "\($0.target)=\($0.draft.node.text)" }.joined(separator: " ")
        case .onDisconnectPut(let target, let draft): "onDisconnect \(target) \(draft.node.text)"
        case .onDisconnectMerge(let path, _): "onDisconnect merge \(path)"
        case .onDisconnectCancel(let target): "onDisconnect cancel \(target)"
        case .echo: "echo"
        case .unknown(let action): "unknown \(action)"
        case .tooBig: "too big"
        case .malformed(let fault): "malformed \(fault)"
        }
    }
}

extension Node {
    /// The export form.
    var text: String { String(decoding: json(), as: UTF8.self) }
}
