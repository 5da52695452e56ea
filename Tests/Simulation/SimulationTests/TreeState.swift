import JSONTree

/// What can become of the blocks of a tree: each is made by some write, and each must come through
/// log, checkpoint and backup.
enum TreeState: String, CaseIterable, Sendable {
    /// A key smaller than the first one that a branch holds went into its first page.
    case firstKeyLowered
    case pageSplitAtEnd, pageSplitAtStart, pageSplitInMiddle
    /// A page was cut because it refers to too many blocks, not because it is too long.
    case pageSplitByReferences
    case branchSplit
    case pagesMerged, branchesMerged
    case firstPageRemoved, middlePageRemoved, lastPageRemoved
    /// A branch went with its last page.
    case branchRemoved
    case height0, height1, height2, height3
    case heightGrew, heightCollapsed
    /// A map moved from its parent's block into one of its own, and back.
    case mapMovedOut, mapMovedIn
    /// A page refers to as many blocks as it may.
    case referencesAtLimit
    case textOfItsOwn
    case priorityOfItsOwn
}

extension TreeState {
    /// What the write at `path` that made `new` of `old` did to the maps on its way.
    ///
    /// Compares blocks by identity, which is exact while `old` is held.
    static func seen(from old: Node, to new: Node, at path: Path) -> Set<TreeState> {
        var seen: Set<TreeState> = []
        for count in 0...path.keyCount {
            let place = path.prefix(count)
            let before = old.descendant(at: place)
            let after = new.descendant(at: place)
            let (a, b) = (before.shape, after.shape)
            if b.hasOwnPriorityBlock { seen.insert(.priorityOfItsOwn) }
            if after.string != nil, b.isOwnBlock { seen.insert(.textOfItsOwn) }
            guard before.isMap, after.isMap else { continue }
            if !a.isOwnBlock, b.isOwnBlock { seen.insert(.mapMovedOut) }
            if a.isOwnBlock, !b.isOwnBlock { seen.insert(.mapMovedIn) }
            guard let top = b.top else { continue }
            if count < path.keyCount { look(at: top, path.key(at: count), &seen) }
            if let old = a.top { compare(old, top, &seen) }
        }
        return seen
    }

    /// What the blocks on the way to `key` are.
    private static func look(at top: BlockShape, _ key: Key, _ seen: inout Set<TreeState>) {
        switch top.height {
        case 0: seen.insert(.height0)
        case 1: seen.insert(.height1)
        case 2: seen.insert(.height2)
        default: seen.insert(.height3)
        }
        var block = top
        while let next = block.below(for: key) {
            if block.leastKey < block.ownFirstKey { seen.insert(.firstKeyLowered) }
            block = next
        }
        if block.isAtReferenceLimit { seen.insert(.referencesAtLimit) }
    }

    private static func compare(
        _ old: BlockShape,
        _ new: BlockShape,
        _ seen: inout Set<TreeState>
    ) {
        if old.isIdentical(to: new) { return }
        if new.height > old.height { seen.insert(.heightGrew) }
        if new.height < old.height { seen.insert(.heightCollapsed) }
        var (before, after) = ([old], [new])
        let height = min(old.height, new.height)
        while let block = before.first, block.height > height { before = before.flatMap(\.below) }
        while let block = after.first, block.height > height { after = after.flatMap(\.below) }
        // A write of many members at once is no single change of a page.
        if abs(before.count - after.count) > 1 { return }
        compare(before, after, (isFirst: true, isLast: true), &seen)
    }

    /// `before` and `after` are neighbours of one height; `edge` says whether they begin and end the map.
    private static func compare(
        _ before: [BlockShape],
        _ after: [BlockShape],
        _ edge: (isFirst: Bool, isLast: Bool),
        _ seen: inout Set<TreeState>
    ) {
        let start = zip(before, after).prefix { $0.isIdentical(to: $1) }.count
        let end = zip(before.dropFirst(start).reversed(), after.dropFirst(start).reversed())
            .prefix { $0.isIdentical(to: $1) }.count
        let old = Array(before[start..<before.count - end])
        let new = Array(after[start..<after.count - end])
        let edge = (isFirst: edge.isFirst && start == 0, isLast: edge.isLast && end == 0)
        let isPage = (old.first ?? new.first)?.height == 0
        switch (old.count, new.count) {
        case (1, 1): break
        case (1, 2) where isPage: return seen.formUnion(split(new, edge))
        case (1, 2): seen.insert(.branchSplit)
        case (2, 1): seen.insert(isPage ? .pagesMerged : .branchesMerged)
        case (1, 0) where isPage:
            return _ = seen.insert(
                edge.isFirst
                    ? .firstPageRemoved : edge.isLast ? .lastPageRemoved : .middlePageRemoved
            )
        case (1, 0): seen.insert(.branchRemoved)
        default: return
        }
        if isPage { return }
        compare(old.flatMap(\.below), new.flatMap(\.below), edge, &seen)
    }

    private static func split(
        _ halves: [BlockShape],
        _ edge: (isFirst: Bool, isLast: Bool)
    ) -> Set<TreeState> {
        let byteCount = halves[0].byteCount + halves[1].byteCount
        var seen: Set<TreeState> =
            byteCount <= BlockShape.pageByteCount ? [.pageSplitByReferences] : []
        if edge.isLast, halves[1].entryCount == 1 {
            seen.insert(.pageSplitAtEnd)
        } else if edge.isFirst {
            seen.insert(.pageSplitAtStart)
        } else if !edge.isLast {
            seen.insert(.pageSplitInMiddle)
        }
        return seen
    }
}
