import Foundation
import JSONTree
import Queries
import Synchronization
import SyncCore
import TestSupport
import WireProtocol

@testable import DiskCache

/// What a cache should hold, kept in memory and made anew with every change.
struct CacheModel {
    private(set) var state = StoredState()
    private var active: Set<ListenTarget> = []

    mutating func apply(_ change: StoreChange) {
        switch change {
        case .saveWrite(let id, let write):
            state.writes.append((id, write))
        case .removeWrite(let id):
            state.writes.removeAll { $0.id == id }
        case .saveListen(let target, let node):
            active.insert(target)
            state.listens.removeAll { $0.target == target }
            put(target, node)
        case .saveChildren(let target, let children):
            guard let index = index(of: target) else { return }
            var node = state.listens[index].node
            // One change: a map keeps its priority when its last child goes as another comes, in whatever order.
            for phase in WritePhase.allCases {
                for child in children {
                    let target = WriteTarget(path: Path([child.key]))
                    guard WritePhase(writing: child.node, at: target) == phase else { continue }
                    node.set(child.node, at: target.path)
                }
            }
            let old = state.listens.remove(at: index)
            let new = StoredListen(target: target, node: node, isActive: old.isActive)
            state.listens.insert(new, at: index)
        case .useListen(let target, let isActive):
            if isActive { active.insert(target) } else { active.remove(target) }
            guard let index = index(of: target) else { return }
            put(target, state.listens.remove(at: index).node)
        case .removeListen(let target):
            active.remove(target)
            state.listens.removeAll { $0.target == target }
        case .removeAll:
            state.writes = []
            state.listens = []
            active = []
        case .account(let name):
            state.account = name
        }
    }

    /// A process has ended.
    mutating func forgetUse() { active = [] }

    private func index(of target: ListenTarget) -> Int? {
        state.listens.firstIndex { $0.target == target }
    }

    private mutating func put(_ target: ListenTarget, _ node: Node) {
        let isActive = active.contains(target)
        state.listens.append(StoredListen(target: target, node: node, isActive: isActive))
    }
}

extension StoredState {
    /// Every part of it in words, to compare and to print.
    var lines: [String] {
        ["account \(account ?? "-")"] + writeLines
            + listens.map { listen in
                let text = String(decoding: listen.target.text, as: UTF8.self)
                return "listen \(text) \(listen.isActive) \(listen.node.exported)"
            }
    }

    var writeLines: [String] {
        writes.map { "write \($0.id.value) \(String(decoding: $0.write.text, as: UTF8.self))" }
    }
}

extension Node {
    func setting(_ key: Key, _ child: Node) -> Node {
        var node = self
        node.set(child, at: Path([key]))
        return node
    }

    fileprivate var exported: String {
        var bytes: [UInt8] = []
        appendJSON(to: &bytes, .export)
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Random changes of a few listens and writes.
struct RandomChanges {
    private var random: SeededGenerator
    private var lastWrite: Int64 = 0

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private static let keys = ["a", "b", "-Kx1", "10", "é", "longer key with spaces"]
    private static let values = [
        "1", "true", #""text""#, "null", #"{"a":1,"b":{"c":[1,2,3]}}"#, "-9007199254740991", "0.1",
        #"{".value":"leaf",".priority":3}"#, #"{"x":"\u00e9\n\u0000",".priority":"p"}"#, #""""#,
        #"{"deep":{"er":{"and":{"deeper":{".value":1.5,".priority":-1}}}}}"#, "1e300", "{}",
    ]
    private static let drafts = [
        #"{".sv":"timestamp"}"#, #"{"n":{".sv":{"increment":2}},"t":{".sv":"timestamp"},"v":"w"}"#,
        #"{".value":"v",".priority":{".sv":"timestamp"}}"#,
        #"{"only":{"deep":{".sv":{"increment":0.5}},".priority":"p"}}"#,
    ]
    private static let queries = [
        "{}", #"{"l":10,"vf":"l"}"#, #"{"i":".key","sp":"a","ep":"z"}"#,
        #"{"en":"k","ep":9,"i":"a/b","l":3,"sin":false,"sn":"k","sp":1.5,"vf":"r"}"#,
        #"{"i":".value","sp":"é\"quoted\""}"#,
    ]

    private mutating func one<Element>(of all: [Element]) -> Element {
        all[random.index(all.count)]
    }

    private mutating func path() throws -> Path {
        var keys: [Key] = []
        for _ in 0..<random.index(3) { keys.append(try Key(one(of: Self.keys))) }
        return Path(keys)
    }

    private mutating func node() throws -> Node {
        let text =
            random.index(8) == 0
            ? #""\#(String(repeating: "long ", count: 2000))""# : one(of: Self.values)
        return try Draft(json: Array(text.utf8)).node
    }

    private mutating func draft() throws -> Draft {
        let text = one(of: random.index(2) == 0 ? Self.drafts : Self.values)
        return try Draft(json: Array(text.utf8))
    }

    private mutating func target() throws -> ListenTarget {
        let path = try path()
        let text =
            #"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/\#(path.wireText)","q":\#(one(of: Self.queries))}}}"#
        guard case .request(let request) = try ClientMessage.parse(Array(text.utf8)),
            case .listen(let target, _, _) = request.action
        else { throw Unexpected() }
        return target
    }

    private struct Unexpected: Error {}

    private mutating func write() throws -> StoredWrite {
        if random.index(3) > 0 {
            let isPriority = random.index(6) == 0
            let target = WriteTarget(path: try path(), isPriority: isPriority)
            return .set(target, isPriority ? try Draft(json: Array("5".utf8)) : try draft())
        }
        let base = try path()
        var entries: [MergeEntry] = []
        for key in ["u", "v", "w"].prefix(1 + random.index(3)) {
            let path = base.appending(try Key(key)).appending(try self.path())
            entries.append(MergeEntry(target: WriteTarget(path: path), draft: try draft()))
        }
        return .update(base, entries)
    }

    mutating func next() throws -> StoreChange {
        switch random.index(20) {
        case 0...4:
            lastWrite += 1
            return .saveWrite(WriteID(lastWrite), try write())
        case 5...7: return .removeWrite(WriteID(Int64(1 + random.index(Int(lastWrite) + 1))))
        case 8...10: return .saveListen(try target(), try node())
        case 11...15:
            var children: [(key: Key, node: Node)] = []
            for key in Self.keys.prefix(1 + random.index(3)) {
                children.append((try Key(key), try node()))
            }
            return .saveChildren(try target(), children)
        case 16...17: return .useListen(try target(), isActive: random.index(2) == 0)
        case 18: return .removeListen(try target())
        default:
            return random.index(6) == 0 ? .removeAll : .account(one(of: ["ann", "bob", nil]))
        }
    }
}

/// What a cache reported.
final class Reports: Sendable {
    private let errors = Mutex<[DiskCacheError]>([])
    var all: [DiskCacheError] { errors.withLock { $0 } }
    var add: @Sendable (DiskCacheError) -> Void {
        { error in self.errors.withLock { $0.append(error) } }
    }
}

extension TemporaryFolder {
    var cache: String { "\(path)/cache.sqlite" }

    func openCache(
        limit: Int = 1 << 30,
        _ reports: Reports = Reports(),
    ) throws -> DiskCache {
        try DiskCache(path: cache, limitByteCount: limit, report: reports.add)
    }

    /// A folder with the cache's files as a crash would leave them now.
    func crashImage(cutting: Int = 0) throws -> TemporaryFolder {
        let image = try TemporaryFolder()
        for end in ["", "-wal"] {
            guard var bytes = FileManager.default.contents(atPath: cache + end) else { continue }
            if end == "-wal" { bytes = bytes.dropLast(cutting) }
            try bytes.write(to: URL(filePath: image.cache + end))
        }
        return image
    }
}
