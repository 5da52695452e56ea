import JSONTree
import WireProtocol

/// What the answer to a write of a request may show of the numbers that it was added to.
extension Database {
    /// The changes of a write, without the sums of increments at places that the writer may not read: an increment of
    /// nought would tell the number there.
    ///
    /// - Returns: the changes to show, and whether something was left out.
    func shown(_ changes: [Change], of write: Write, _ now: Timestamp) -> ([Change], isCut: Bool) {
        let hasSums = write.entries.contains {
            $0.draft.serverValues.contains(where: \.isIncrement)
        }
        let isReader = { path in self.mayRead(path, as: write.identity, now) }
        if !hasSums || isReader(write.conditionTarget.path) { return (changes, false) }
        var shown = changes
        var isCut = false
        var askedCount = 0
        for (index, entry) in write.entries.enumerated() {
            for sum in entry.draft.serverValues where sum.isIncrement {
                askedCount += 1
                let place = entry.target.path.appending(sum.target.path)
                if askedCount <= Limits.sumsAsked, isReader(place) { continue }
                isCut = true
                shown[index] = shown[index].without(sum.target)
            }
        }
        return (shown, isCut)
    }
}

extension DraftServerValue {
    /// Whether it tells something of what was there.
    fileprivate var isIncrement: Bool { if case .increment = value { true } else { false } }
}

extension Change {
    /// The same without what it leaves at a place below its own.
    fileprivate func without(_ place: WriteTarget) -> Change {
        var node = new
        if place.isPriority {
            node.setPriority(.absent, at: place.path)
        } else {
            node.set(.absent, at: place.path)
        }
        return Change(target: target, old: old, new: node)
    }
}
