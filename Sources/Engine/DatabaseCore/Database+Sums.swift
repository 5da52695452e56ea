import JSONTree
import WireProtocol

/// Which sums of increments the answer to a single request may show.
extension Database {
    /// The changes of a write, without the sums of increments at paths that the writer may not read: an increment of 0
    /// would reveal the number.
    ///
    /// - Returns: the changes to show, and whether something was left out.
    func shownChanges(_ changes: [Change], of write: Write, _ now: Timestamp) -> (
        [Change], isCut: Bool
    ) {
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
                let path = entry.target.path.appending(sum.target.path)
                if askedCount <= Limits.sumsAsked, isReader(path) { continue }
                isCut = true
                shown[index] = shown[index].without(sum.target)
            }
        }
        return (shown, isCut)
    }
}

extension DraftServerValue {
    /// Whether it reveals something of the data before.
    fileprivate var isIncrement: Bool { if case .increment = value { true } else { false } }
}

extension Change {
    /// The same without the value that it leaves at a target below its own.
    fileprivate func without(_ target: WriteTarget) -> Change {
        var node = new
        node.write(.absent, at: target)
        return Change(target: self.target, old: old, new: node)
    }
}
