@testable import Simulation

/// What can happen to the log and the checkpoints of a data folder.
enum StorageState: String, CaseIterable, Sendable {
    case batchOfOne, batchOfMany, segmentTurn, payloadInPieces
    case batchOfOneDuringCheckpoint, batchOfManyDuringCheckpoint
    case segmentTurnDuringCheckpoint, payloadInPiecesDuringCheckpoint
    /// A start after an orderly end, which seals the log.
    case sealed
    /// A start that cut a torn tail.
    case tornTail
    /// A start after which commits were gone that were never answered, or there.
    case lostCommits, unacknowledgedCommits
    case twoCheckpoints, droppedSegments
    /// The power failed while a checkpoint was written.
    case cutCheckpoint
    case backup, restore
    /// A start without commits that a salvage left out of the middle of the log; a power cut while the
    /// log that says so is still read.
    case skippedCommits, cutBehindSkip
    /// More than twenty came back at once.
    case manyDatabases
}

/// Ways in which a tree leaves memory and comes back.
enum Passage: String, CaseIterable, Sendable {
    case log, checkpoint, backup
}

/// How often each state was reached, and how often it came through each passage.
struct StateTable: Sendable {
    /// By state: writes that made it.
    private(set) var made: [TreeState: Int] = [:]
    /// By state and passage: times that a tree with it came back equal to its twin.
    private(set) var passed: [TreeState: [Passage: Int]] = [:]
    private(set) var storage: [StorageState: Int] = [:]

    init() {}

    mutating func note(_ states: Set<TreeState>) {
        for state in states { made[state, default: 0] += 1 }
    }

    mutating func note(_ states: Set<TreeState>, through passage: Passage) {
        for state in states { passed[state, default: [:]][passage, default: 0] += 1 }
    }

    mutating func note(_ state: StorageState) { storage[state, default: 0] += 1 }

    /// Adds another world's.
    mutating func add(_ other: StateTable) {
        made.merge(other.made, uniquingKeysWith: +)
        passed.merge(other.passed) { $0.merging($1, uniquingKeysWith: +) }
        storage.merge(other.storage, uniquingKeysWith: +)
    }

    /// Whether some of these states never came through a passage.
    func lacks(_ states: Set<TreeState>, through passage: Passage) -> Bool {
        states.contains { passed[$0]?[passage] == nil }
    }

    /// Whether this never happened.
    func lacks(_ state: StorageState) -> Bool { storage[state] == nil }

    /// What was never reached, in words.
    var missing: [String] {
        var missing: [String] = []
        for state in TreeState.allCases {
            if made[state] == nil { missing.append("\(state) was never made") }
            for passage in Passage.allCases where passed[state]?[passage] == nil {
                missing.append("\(state) never came through a \(passage)")
            }
        }
        for state in StorageState.allCases where storage[state] == nil {
            missing.append("\(state) never happened")
        }
        return missing
    }

    /// The whole table as lines of text.
    var text: String {
        var lines = [Self.line("state", ["made"] + Passage.allCases.map(\.rawValue))]
        for state in TreeState.allCases {
            let counts = Passage.allCases.map { "\(passed[state]?[$0] ?? 0)" }
            lines.append(Self.line(state.rawValue, ["\(made[state] ?? 0)"] + counts))
        }
        for state in StorageState.allCases {
            lines.append(Self.line(state.rawValue, ["\(storage[state] ?? 0)"]))
        }
        return lines.joined(separator: "\n")
    }

    private static func line(_ name: String, _ cells: [String]) -> String {
        let cells = cells.map { String(repeating: " ", count: max(0, 11 - $0.count)) + $0 }
        return name + String(repeating: " ", count: max(1, 33 - name.count)) + cells.joined()
    }
}
