import WireProtocol

struct LinkListen {
    let target: ListenTarget
    let tag: Int64?
    /// Its number in the order of requests; distinguishes a listen from an earlier one on the same target.
    let sequence: Int64
}

/// The listens that the server shall know of: one for each target and tag.
struct ListenTable {
    /// Nearly always one each: a query gets a new tag when it is listened to again.
    private var listens: [ListenTarget: [LinkListen]] = [:]

    /// All of them, in the order in which they were asked for. O(n log n).
    var inOrder: [LinkListen] { listens.values.joined().sorted { $0.sequence < $1.sequence } }

    /// Adds a listen; false when there is one of this target and tag.
    mutating func add(_ listen: LinkListen) -> Bool {
        if contains(listen.target, listen.tag) { return false }
        listens[listen.target, default: []].append(listen)
        return true
    }

    /// Whether there is a listen of this target and tag; with a sequence, whether it is that one.
    func contains(_ target: ListenTarget, _ tag: Int64?, sequence: Int64? = nil) -> Bool {
        listens[target]?.contains {
            $0.tag == tag && (sequence == nil || $0.sequence == sequence)
        } ?? false
    }

    /// Removes a listen; false when there was none.
    mutating func remove(_ target: ListenTarget, _ tag: Int64?) -> Bool {
        guard var same = listens[target], let index = same.firstIndex(where: { $0.tag == tag })
        else { return false }
        same.remove(at: index)
        listens[target] = same.isEmpty ? nil : same
        return true
    }

    /// Removes the listens on a target, whatever their tags; false when there was none.
    mutating func removeAll(_ target: ListenTarget) -> Bool {
        listens.removeValue(forKey: target) != nil
    }
}
