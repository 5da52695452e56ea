/// What can happen to a group: each must, again and again, in the worlds of a run.
enum ClusterState: String, CaseIterable, Sendable {
    // Ownership.
    case owned, deposed, twoOwners, left, handedOver
    // Ends of a process, by what its owner had under way; of a follower; and starts with a mark that is not the newest.
    case killedIdle, killedQueued, killedOnTheWay, killedStored, killedClaiming, killedBetweenParts
    case killedFollower, olderMark, joined
    // The engine.
    case refused, unknown, sentAgain, void, election, linkCut, beatsLost, slowTail, trimmed, stalled
    case largeCommit, lostCommit, commitInDoubt
    // Entries that cannot be followed.
    case damaged, gap, wentBack, wentBackBeyondAcknowledged, stoppedShort, stoppedOtherLog
    /// The log went back, and an owner that knew less wrote the same once more.
    case healed
    /// The log went back, and an owner that was replaced wrote other commits.
    case diverged

    /// How often it must happen before worlds count as explored.
    var floor: Int {
        switch self {
        case .owned: 200
        case .deposed, .killedIdle, .void, .sentAgain, .refused, .unknown: 20
        case .healed: 1
        // One world in a thousand.
        case .diverged: 0
        default: 5
        }
    }
}

/// How often each happened.
struct ClusterCounts: CustomStringConvertible {
    private var states: [ClusterState: Int] = [:]
    /// Commits that were acknowledged.
    var acknowledged = 0

    subscript(state: ClusterState) -> Int { states[state] ?? 0 }

    mutating func note(_ state: ClusterState) { states[state, default: 0] += 1 }

    mutating func add(_ other: ClusterCounts) {
        states.merge(other.states, uniquingKeysWith: +)
        acknowledged += other.acknowledged
    }

    /// What happened too seldom, in words.
    var missing: [String] {
        ClusterState.allCases.filter { self[$0] < $0.floor }
            .map { "\($0): \(self[$0]) of \($0.floor)" }
    }

    var description: String {
        let list = ClusterState.allCases.map { "\($0) \(self[$0])" }.joined(separator: ", ")
        return "\(acknowledged) acknowledged commits: \(list)"
    }
}
