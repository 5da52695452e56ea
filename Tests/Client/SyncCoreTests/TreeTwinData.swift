import Queries

@testable import SyncCore

/// What a twin's view knows of the server's data.
struct TwinData: Equatable {
    var node = Plain.absent
    var base = Plain.absent
    var isComplete = false
    var isFiltered = false
    var isLive = false
    var isAssumedWhole = false
    /// What the listen was sent with, while it is not answered.
    var sent: Plain?
    var isSentFiltered = false

    var knowsAll: Bool { isComplete && !isFiltered || isAssumedWhole }

    func descendant(_ path: ArraySlice<String>) -> TwinData {
        var data = self
        data.node = isComplete ? node[path] : .absent
        data.base = base[path]
        data.sent = nil
        return data
    }

    mutating func apply(
        _ places: [PlainPlace],
        _ path: [String],
        _ spec: QuerySpec,
        hasTag: Bool,
        isTagged: Bool,
        isMerge: Bool,
    ) {
        if let place = places.first(where: { $0.covers(path) }) {
            node = place.value[path.dropFirst(place.path.count)]
            let isOwn = isTagged || !isSentFiltered || sent?.isAbsent == true
            let isForPath = !isMerge && place.path == path
            let isAnswer = sent == nil || isForPath && isOwn
            let before = self
            let wasWhole = isComplete && !isFiltered
            let staysWhole = !isTagged && (sent == nil ? wasWhole : isForPath)
            self = TwinData(node: node, base: node, isComplete: true, isLive: isAnswer)
            if !isAnswer {
                sent = before.sent
                isSentFiltered = before.isSentFiltered
            }
            if hasTag && !staysWhole { narrow(spec) }
            return
        }
        if isMerge && !isComplete && node.isAbsent { return }
        var changedNode = node
        var changedBase = base
        var forNode: [PlainPlace] = []
        var forBase: [PlainPlace] = []
        for place in places {
            var below = place
            below.path = Array(place.path.dropFirst(path.count))
            guard let key = below.path.first else {
                if isComplete && !isFiltered { forNode.append(below) }
                if knowsAll { forBase.append(below) }
                continue
            }
            let isWholeChild = below.path.count == 1 && !below.isPriority
            let isKnown = isComplete && !isFiltered || isWholeChild || !node.child(key).isAbsent
            if isKnown { forNode.append(below) }
            if isKnown || isAssumedWhole || !base.child(key).isAbsent { forBase.append(below) }
        }
        changedNode.write(forNode)
        changedBase.write(forBase)
        node = changedNode
        base = changedBase
        if isFiltered || isTagged { narrow(spec) }
    }

    mutating func send() {
        sent = isComplete ? node : .absent
        isSentFiltered = !isComplete || isFiltered
    }

    /// The view's own listen is answered.
    mutating func complete(_ spec: QuerySpec, isUnindexed: Bool) {
        let isAllThere = isUnindexed && !spec.loadsEverything && isComplete && !isFiltered
        let isOwn = sent == nil || isAllThere
        let isWhole = isOwn ? isComplete && !isFiltered : !isSentFiltered
        let answer = isOwn ? node : sent ?? node
        self = TwinData(node: answer, base: answer, isComplete: true, isLive: true)
        if !isWhole { narrow(spec) }
    }

    /// The listen that covers the view is answered.
    mutating func complete(_ answer: Plain) {
        self = TwinData(node: answer, base: answer, isComplete: true, isLive: true)
    }

    /// Keeps what an acknowledged write put where no data of the server shows it.
    mutating func keep(_ places: [PlainPlace], _ path: [String]) {
        if let place = places.first(where: { $0.covers(path) }) {
            base = place.value[path.dropFirst(place.path.count)]
            if isComplete { return }
            isAssumedWhole = true
            for (key, child) in node.children { base.set(child, at: [key]) }
            return
        }
        var kept: [PlainPlace] = []
        for place in places where place.path.starts(with: path) {
            var below = place
            below.path = Array(place.path.dropFirst(path.count))
            guard let key = below.path.first else {
                if knowsAll { kept.append(below) }
                continue
            }
            if !isComplete && !node.child(key).isAbsent { continue }
            let isWholeChild = below.path.count == 1 && !below.isPriority
            if knowsAll || isWholeChild || !base.child(key).isAbsent { kept.append(below) }
        }
        base.write(kept)
    }

    /// Keeps what the query selects. What acknowledged writes put beside it goes as the node's
    /// children go.
    mutating func narrow(_ spec: QuerySpec) {
        if spec.loadsEverything { return }
        if isFiltered {
            let selected = PlainOrder.result(node, spec)
            for key in node.children.keys where selected.children[key] == nil {
                base.children[key] = nil
            }
            node = selected
        } else {
            node = PlainOrder.result(node, spec)
            base = PlainOrder.result(base, spec)
        }
        isFiltered = true
        isAssumedWhole = false
    }
}
