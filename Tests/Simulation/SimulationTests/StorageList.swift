@testable import Simulation

/// One list of a `StorageWorld`: it grows key by key in one order, then shrinks in one.
struct StorageList {
    enum Phase: CaseIterable { case growing, shrinking }

    let name: String
    let order: KeyOrder
    let size: ValueSize
    /// In the order in which they are put.
    let keys: [String]
    private(set) var phase = Phase.growing
    /// The next of `keys` to be put.
    private(set) var next = 0
    /// Those there, in the order in which they are to go.
    private(set) var live: [String] = []

    init(name: String, order: KeyOrder, size: ValueSize, keys: [String]) {
        self.name = name
        self.order = order
        self.size = size
        self.keys = keys
    }

    /// Whether it has grown and shrunk.
    var isDone: Bool { phase == .shrinking && live.isEmpty }

    /// The next keys to be put.
    mutating func grow(_ count: Int) -> [String] {
        let added = Array(keys[next..<min(keys.count, next + count)])
        next += added.count
        live += added
        return added
    }

    var isGrown: Bool { next == keys.count }

    /// From now on keys go, in the order of `live`.
    mutating func beginShrinking(_ order: (inout [String]) -> Void) {
        phase = .shrinking
        order(&live)
    }

    mutating func shrink() -> String? { live.popLast() }

    /// Some commits were lost: what is there is what the twin has.
    mutating func recover(_ twin: NaiveNode) {
        let found = twin.children[name]?.children ?? [:]
        live.removeAll { found[$0] == nil }
        let known = Set(live)
        live += keys[..<next].filter { found[$0] != nil && !known.contains($0) }
        while phase == .growing, next > 0, found[keys[next - 1]] == nil { next -= 1 }
    }
}

/// What one place of the twin was before a commit.
struct NaiveUndo {
    let path: NaivePath
    let old: NaiveNode
    /// Of the list, which goes with its last child.
    let listPriority: NaiveNode.Leaf?
}

extension NaiveNode {
    /// Puts back what was there.
    mutating func takeBack(_ change: NaiveUndo) {
        set(change.old, at: change.path)
        if let list = change.path.first { setPriority(change.listPriority, at: [list]) }
    }
}
