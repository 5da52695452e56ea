import JSONTree
import Queries
import WireProtocol

@testable import SyncCore

/// Drives a tree by texts and gives what it puts out as texts.
final class TreeScript {
    let tree: SyncTree
    private var lastID: UInt64 = 0
    private var lastWrite: Int64 = 0

    init(isStored: Bool = false, closedByteCount: Int = TreeLimits.closedByteCount) {
        tree = SyncTree(isStored: isStored, closedByteCount: closedByteCount)
    }

    static func target(_ path: String, _ spec: QuerySpec = .everything) -> ListenTarget {
        let text = spec == .everything ? nil : Array("\(spec)".utf8)
        return ListenTarget(path: place(path).path, query: spec, queryText: text)
    }

    static func place(_ text: String) -> WriteTarget {
        guard let target = try? WriteTarget(text) else { preconditionFailure("a path: \(text)") }
        return target
    }

    static func node(_ json: String) -> Node {
        guard let node = try? Node(json: json) else { preconditionFailure("JSON: \(json)") }
        return node
    }

    static func places(_ entries: [String: String]) -> [(target: WriteTarget, node: Node)] {
        entries.keys.sorted().map { (place($0), node(entries[$0] ?? "null")) }
    }

    // MARK: Steps. Observers and writes are numbered from 1.

    func observe(
        _ path: String,
        _ spec: QuerySpec = .everything,
        _ kinds: ObservedKinds = [.value, .children],
    ) -> [String] {
        lastID += 1
        let id = ObserverID(lastID)
        let observer = Observer(id: id, target: Self.target(path, spec), kinds: kinds)
        return run { tree.add(observer, &$0) }
    }

    func stop(_ id: UInt64) -> [String] { run { tree.remove(ObserverID(id), &$0) } }

    func revoke(_ path: String, _ spec: QuerySpec = .everything) -> [String] {
        let failure = SyncFailure.refused(status: "permission_denied", message: "")
        return run { tree.revoke(Self.target(path, spec), failure, &$0) }
    }

    func set(_ path: String, _ json: String, isVisible: Bool = true) -> [String] {
        lastWrite += 1
        let write = [LocatedNode(target: Self.place(path), node: Self.node(json))]
        return run { tree.write(WriteID(lastWrite), write, isVisible: isVisible, &$0) }
    }

    func update(_ entries: [String: String]) -> [String] {
        lastWrite += 1
        let write = Self.places(entries).map { LocatedNode(target: $0.target, node: $0.node) }
        return run { tree.write(WriteID(lastWrite), write, isVisible: true, &$0) }
    }

    func accept(_ id: Int64) -> [String] {
        run { tree.settle(WriteID(id), isRefused: false, &$0) }
    }

    func refuse(_ id: Int64) -> [String] {
        run { tree.settle(WriteID(id), isRefused: true, &$0) }
    }

    func put(_ path: String, _ json: String, tag: Int64? = nil) -> [String] {
        run { tree.apply(Self.place(path), Self.node(json), tag: tag, &$0) }
    }

    func merge(_ path: String, _ entries: [String: String], tag: Int64? = nil) -> [String] {
        run { tree.merge(Self.place(path).path, Self.places(entries), tag: tag, &$0) }
    }

    func answered(_ path: String, _ spec: QuerySpec = .everything, tag: Int64? = nil) -> [String] {
        run { tree.listenAnswered(Self.target(path, spec), tag: tag, &$0) }
    }

    func hash(_ path: String, _ spec: QuerySpec = .everything) -> String {
        tree.hash(Self.target(path, spec)).hash
    }

    func run(_ step: (inout TreeOutput) -> Void) -> [String] {
        var output = TreeOutput()
        step(&output)
        return output.listens.map(Self.text) + output.events.map(Self.text)
            + output.stored.map(Self.text)
    }

    // MARK: Texts

    static func text(_ node: Node) -> String { String(decoding: node.json(), as: UTF8.self) }

    private static func text(_ change: ListenChange) -> String {
        switch change {
        case .start(let target, let tag): "start \(target.path)\(tag.map { " \($0)" } ?? "")"
        case .stop(let target, let tag): "stop \(target.path)\(tag.map { " \($0)" } ?? "")"
        }
    }

    private static func text(_ event: (observer: ObserverID, event: ObservedEvent)) -> String {
        switch event.event {
        case .value(let node): "\(event.observer.value) value \(text(node))"
        case .cancelled: "\(event.observer.value) cancelled"
        case .child(let child):
            "\(event.observer.value) \(child.kind) \(child.key)"
                + (child.kind == .removed ? "" : " after \(child.previousKey?.string ?? "-")")
                + " \(text(child.node))"
        }
    }

    private static func text(_ change: StoreChange) -> String {
        switch change {
        case .saveListen(let target, let node): "save \(target.path) \(text(node))"
        case .saveChildren(let target, let children):
            "save \(target.path) children "
                + children.map { "\($0.key) \(text($0.node))" }.joined(separator: ", ")
        case .useListen(let target, let isActive): "\(isActive ? "use" : "leave") \(target.path)"
        case .removeListen(let target): "forget \(target.path)"
        case .removeAll: "forget all"
        case .saveWrite, .removeWrite, .account: "not the tree's"
        }
    }
}
