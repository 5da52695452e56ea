package import JSONTree

/// What a client that listens says of the data it has.
package struct ListenHash: Equatable, Sendable {
    /// The hash of all of it, empty for nothing.
    package let hash: String
    /// The hashes of its parts, from clients that accept a range merge.
    package let compound: CompoundHash?

    /// Creates a hash.
    package init(_ hash: String, compound: CompoundHash? = nil) {
        self.hash = hash
        self.compound = compound
    }

    /// What the client needs so that it has `node`, the data that its listen shows.
    ///
    /// Pure. O(size of the node), which is read at most three times.
    package func compare(with node: Node) -> ListenComparison {
        if let compound, !hash.isEmpty, !node.isAbsent {
            return compound.compare(with: node, whole: hash)
        }
        return node.matches(hash: hash) ? .same : .different
    }
}

/// How the data of a client differs from the server's.
package enum ListenComparison: Sendable {
    /// In nothing.
    case same
    /// In these parts. Never empty; in ascending order, and no two touch.
    case ranges([RangeMerge])
    /// In parts unknown, or in all of them: the data must be sent whole.
    case different
}

/// Replaces the leaves of one interval by those of a node.
package struct RangeMerge: Sendable {
    /// Which leaves, counted from the listen's path.
    package let interval: LeafInterval
    /// The current data of the server, restricted to the interval.
    package let node: Node

    /// Creates a merge; `node` is restricted to `interval` already.
    package init(interval: LeafInterval, node: Node) {
        self.interval = interval
        self.node = node
    }
}

/// The hashes of the parts into which a client has cut its data.
///
/// Part k ends with the leaf `ends[k]`; behind the last end the client has nothing.
package struct CompoundHash: Equatable, Sendable {
    /// Ascending, as leaves do, if the client sorts as Hearth does.
    package let ends: [WriteTarget]
    /// The hash of each part that has an end.
    package let hashes: [String]

    /// Creates a compound hash of as many hashes as ends.
    package init(ends: [WriteTarget], hashes: [String]) {
        precondition(ends.count == hashes.count, "each part but the last has an end")
        self.ends = ends
        self.hashes = hashes
    }

    /// Finds the parts of `node` that are not those hashed here; `hash` is of all the client has.
    ///
    /// Parts that differ in a row make one range. The node is sent whole where ranges would not do:
    /// when all parts differ, when none does although the client's data is another (clients leave
    /// some priorities out of these hashes), or when the client may sort the keys otherwise.
    func compare(with node: Node, whole hash: String) -> ListenComparison {
        let isAscending = zip(ends, ends.dropFirst()).allSatisfy { $0.precedesAsLeaf($1) }
        guard isAscending else { return node.matches(hash: hash) ? .same : .different }
        let own = node.intervalHashes(endingAt: ends)
        let differing = differingParts(own)
        // The hash of the whole takes four times as long: it is not computed where the parts decide.
        let isConclusive = !own.hasForeignOrder && !own.hasUnseenPriority && !differing.isEmpty
        if !isConclusive, node.matches(hash: hash) { return .same }
        if own.hasForeignOrder || differing.isEmpty || differing == [0...ends.count] {
            return .different
        }
        let merges = differing.map { parts in
            let interval = LeafInterval(
                after: parts.lowerBound == 0 ? nil : ends[parts.lowerBound - 1],
                through: parts.upperBound == ends.count ? nil : ends[parts.upperBound]
            )
            return RangeMerge(interval: interval, node: node.restricted(to: interval))
        }
        return .ranges(merges)
    }

    /// The longest runs of parts to send. Joined parts are sent together or not at all.
    private func differingParts(_ own: IntervalHashes) -> [ClosedRange<Int>] {
        var runs: [ClosedRange<Int>] = []
        var first = 0
        for part in 0...ends.count where part == ends.count || !own.isJoined[part] {
            let isDifferent = (first...part).contains { index in
                own.hashes[index] != (index < ends.count ? hashes[index] : "")
            }
            if isDifferent {
                if let last = runs.last, last.upperBound == first - 1 {
                    runs[runs.count - 1] = last.lowerBound...part
                } else {
                    runs.append(first...part)
                }
            }
            first = part + 1
        }
        return runs
    }
}
