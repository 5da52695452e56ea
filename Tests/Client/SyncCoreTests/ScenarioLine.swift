import Foundation
import JSONTree
import SyncCore
import Synchronization
import WireProtocol

/// The rest of a line of a scenario, word by word.
struct ScenarioLine {
    private(set) var rest: String

    init(_ text: String) {
        rest = text
    }

    /// Takes the next word; empty at the end.
    mutating func word() -> String {
        let word = rest.prefix { $0 != " " }
        rest = String(rest.dropFirst(word.count).drop { $0 == " " })
        return String(word)
    }

    /// Takes a word like `#7` if that is next.
    private mutating func callID() -> CallID? {
        guard rest.hasPrefix("#"), let value = UInt64(word().dropFirst()) else { return nil }
        return CallID(value)
    }

    /// JSON and behind it perhaps `tag 1`.
    func tagged() -> (json: String, tag: String?) {
        guard let place = rest.range(of: " tag ", options: .backwards) else { return (rest, nil) }
        return (String(rest[..<place.lowerBound]), String(rest[place.upperBound...]))
    }

    /// A path; `/.info/connected` is one, too.
    static func path(_ text: String) throws -> Path {
        if !text.hasPrefix("/.info") { return try Path(text) }
        return Path(text.split(separator: "/").map { Key(unchecked: Array($0.utf8)) })
    }

    private mutating func target() throws -> ListenTarget {
        let path = try Self.path(word())
        if rest.isEmpty { return ListenTarget(path: path) }
        let query = rest
        rest = ""
        let text = #"{"t":"d","d":{"r":1,"a":"g","b":{"p":"/","q":\#(query)}}}"#
        let message = try ClientMessage.parse(Array(text.utf8))
        guard case .request(let request) = message, case .get(let target) = request.action else {
            throw ScenarioError.notUnderstood(query)
        }
        return ListenTarget(path: path, query: target.query, queryText: target.queryText)
    }

    private func draft() throws -> Draft { try Draft(json: Array(rest.utf8)) }

    private func entries(_ base: Path) throws -> [MergeEntry] {
        try MergeEntry.parse(Array(rest.utf8), base: base)
    }

    /// What the app asks for with this verb; nil if it is none.
    mutating func call(_ verb: String, _ runs: TransactionRuns) throws -> Call? {
        switch verb {
        case "observe":
            let id = ObserverID(UInt64(word()) ?? 0)
            let kinds = try kinds(word())
            return .observe(Observer(id: id, target: try target(), kinds: kinds))
        case "stop": return .stopObserving(ObserverID(UInt64(word()) ?? 0))
        case "keep": return .keepSynced(try target(), true)
        case "unkeep": return .keepSynced(try target(), false)
        case "purge": return .purgeOutstandingWrites
        case "offline": return .goOffline
        case "online": return .goOnline
        default: break
        }
        let id = callID()
        switch verb {
        case "set": return .set(try WriteTarget(word()), try draft(), id)
        case "update":
            let path = try Path(word())
            return .update(path, try entries(path), id)
        case "get": return .get(try target(), id ?? CallID(0))
        case "transact": return .runTransaction(try transaction(id ?? CallID(0), runs))
        case "later-set": return .onDisconnectSet(try WriteTarget(word()), try draft(), id)
        case "later-update":
            let path = try Path(word())
            return .onDisconnectUpdate(path, try entries(path), id)
        case "later-cancel": return .onDisconnectCancel(try Path(word()), id)
        default: return nil
        }
    }

    private func kinds(_ text: String) throws -> ObservedKinds {
        var kinds: ObservedKinds = []
        for word in text.split(separator: ",") {
            switch word {
            case "all": kinds.formUnion([.value, .children])
            case "children": kinds.formUnion(.children)
            case "value": kinds.insert(.value)
            case "added": kinds.insert(.childAdded)
            case "removed": kinds.insert(.childRemoved)
            case "changed": kinds.insert(.childChanged)
            case "moved": kinds.insert(.childMoved)
            default: throw ScenarioError.notUnderstood(text)
            }
        }
        return kinds
    }

    /// `add N`, `add-if-there N`, `put JSON`, `append TEXT` or `give-up`.
    private mutating func transaction(
        _ call: CallID,
        _ runs: TransactionRuns
    ) throws -> TransactionRequest {
        var path = word()
        let isHidden = path == "hidden"
        if isHidden { path = word() }
        let verb = word()
        let rest = rest
        return TransactionRequest(
            path: try Path(path),
            appliesLocally: !isHidden,
            call: call,
            update: { node in
                runs.note(call, node)
                switch verb {
                case "add-if-there" where node.isAbsent: return nil
                case "add", "add-if-there":
                    return Draft(Node(integer: (node.integer ?? 0) + (Int64(rest) ?? 0)))
                case "put": return try? Draft(json: Array(rest.utf8))
                case "append": return Draft(Node(string: (node.string ?? "") + rest))
                default: return nil
                }
            },
        )
    }

    /// `write 1 set /a 1`, `write 2 update /a {}`, `listen /a {"b":1}`, `active-listen /a {"b":1}`.
    mutating func restore(_ state: inout StoredState) throws {
        let kind = word()
        if kind == "write" {
            let id = WriteID(Int64(word()) ?? 0)
            if word() == "set" {
                let target = try WriteTarget(word())
                state.writes.append((id, .set(target, try draft())))
            } else {
                let path = try Path(word())
                state.writes.append((id, .update(path, try entries(path))))
            }
            return
        }
        let path = try Path(word())
        let node = try Node(json: Array(rest.utf8))
        let isActive = kind == "active-listen"
        state.listens.append(
            StoredListen(target: ListenTarget(path: path), node: node, isActive: isActive)
        )
    }
}

/// Remembers what transactions were run on, since they run within a step.
final class TransactionRuns: Sendable {
    private let lines = Mutex<[String]>([])

    func note(_ call: CallID, _ node: Node) {
        let text = String(decoding: node.json(), as: UTF8.self)
        lines.withLock { $0.append("  #\(call.value) runs on \(text)") }
    }

    func take() -> [String] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }
}
