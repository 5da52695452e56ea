/// What can happen in a `SimulatedWorld`: each must, again and again, in the worlds of a run.
package enum WorldState: String, CaseIterable, Sendable {
    // The disk.
    case powerCut, cutDuringCheckpoint, cutDuringRecovery, cutOnFullDisk, orderlyEnd
    /// Recoveries that cut a torn tail, that began with a checkpoint, after which commits were there that
    /// were never answered, or gone.
    case tornTail, recoveredCheckpoint, unacknowledgedCommits, lostCommits
    case diskLow, diskFull, roomAgain, writeRefusedForRoom, removalOnLowDisk, checkpointWithoutRoom
    /// On-disconnect writes of sessions that ended on a full disk, or their identities, are committed later.
    case waitedForRoom
    /// The log could not take what was decided already: the server stops.
    case endForRoom
    case backup, continuedFromBackup
    // Rules.
    case ownRules, defaultRules, rulesWithCancels, lostRules, recoveredRules
    // Accounts.
    case revocation, revocationWithPendingWrite, expiry, revokedApp
    // Clocks.
    case clockForward, clockBack, timestampBehindClock, pushBehindClock
    // Sessions.
    case cancel, disconnectsRun, message, eventMessage, appMessage
    case replyOK, replyDenied, replyStale, replyUnavailable, replyInvalidToken
    // Apps.
    case checkedObserver, observerAtCommit, networkCut, appRestart, transaction, lostTransaction
    case refusedAppWrite, appCancel, finishedCall, appAfterCrash

    /// The reply with a status of the wire protocol.
    init?(reply status: String) {
        switch status {
        case "ok": self = .replyOK
        case "permission_denied": self = .replyDenied
        case "datastale": self = .replyStale
        case "unavailable": self = .replyUnavailable
        case "invalid_token": self = .replyInvalidToken
        default: return nil
        }
    }

    /// How often it must happen before worlds count as explored.
    package var floor: Int {
        switch self {
        case .powerCut: 60
        case .cancel, .rulesWithCancels, .ownRules: 11
        case .revocation: 6
        case .networkCut: 41
        case .appRestart: 5
        case .transaction: 16
        case .checkedObserver: 1_001
        case .observerAtCommit: 201
        case .finishedCall: 501
        // One world in some hundred: on-disconnect-without-room.txt has it.
        case .waitedForRoom: 0
        default: 2
        }
    }
}

/// How much happened in worlds.
package struct WorldCounts: Sendable, CustomStringConvertible {
    /// Requests of clients and calls of apps, and what administrators did.
    package var operations = 0
    package var commits = 0
    package private(set) var states: [WorldState: Int] = [:]

    package init() {}

    package subscript(state: WorldState) -> Int { states[state] ?? 0 }

    mutating func note(_ state: WorldState, _ count: Int = 1) {
        states[state, default: 0] += count
    }

    /// Adds another world's.
    package mutating func add(_ other: WorldCounts) {
        operations += other.operations
        commits += other.commits
        states.merge(other.states, uniquingKeysWith: +)
    }

    /// What happened less often than it must, in words.
    package var missing: [String] {
        WorldState.allCases.filter { self[$0] < $0.floor }
            .map { "\($0): \(self[$0]) of \($0.floor)" }
    }

    package var description: String {
        let states = WorldState.allCases.map { "\($0) \(self[$0])" }.joined(separator: ", ")
        let counts = "\(self[.powerCut]) power cuts, \(operations) operations, \(commits) commits"
        return "\(counts): \(states)"
    }
}
