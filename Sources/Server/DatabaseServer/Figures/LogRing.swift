import Logging
import Synchronization

/// One line of the log, as it is kept.
final class KeptLine: Sendable {
    /// Lines count up from 1.
    let number: UInt64
    /// Milliseconds since 1970.
    let time: Int64
    let level: Logger.Level
    let message: String
    /// In the order of its keys.
    let metadata: [(key: String, value: String)]

    /// Bytes of one text that are kept.
    static let textByteCount = 4_096

    init(
        _ number: UInt64,
        at time: Int64,
        _ level: Logger.Level,
        _ message: String,
        _ metadata: Logger.Metadata
    ) {
        self.number = number
        self.time = time
        self.level = level
        self.message = Self.cut(message)
        self.metadata = metadata.map { ($0.key, Self.cut($0.value.description)) }.sorted {
            $0.key < $1.key
        }
    }

    /// Bytes of memory that it takes, about.
    var byteCount: Int {
        metadata.reduce(96 + message.utf8.count) {
            $0 + 48 + $1.key.utf8.count + $1.value.utf8.count
        }
    }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > textByteCount else { return text }
        return String(decoding: text.utf8.prefix(textByteCount), as: UTF8.self) + "..."
    }
}

/// The newest lines of the log, in memory that is bounded by lines and by bytes.
///
/// Every thread that logs adds to it; the lock is held for the exchange of one line, or for a copy of references.
final class LogRing: Sendable {
    /// Lines that are kept.
    static let countLimit = 10_000
    /// Bytes that they may take, 8 MiB.
    static let byteLimit = 8 << 20

    private struct State {
        var slots: [KeptLine?]
        var first = 0
        var count = 0
        var byteCount = 0
        var lastNumber: UInt64 = 0

        mutating func dropOldest() {
            byteCount -= slots[first]?.byteCount ?? 0
            slots[first] = nil
            first = (first + 1) % slots.count
            count -= 1
        }
    }

    private let state: Mutex<State>
    private let byteLimit: Int

    init(countLimit: Int = countLimit, byteLimit: Int = byteLimit) {
        state = Mutex(State(slots: Array(repeating: nil, count: countLimit)))
        self.byteLimit = byteLimit
    }

    /// Keeps a line, and drops the oldest ones that have no room beside it.
    func add(at time: Int64, _ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata)
    {
        state.withLock { state in
            state.lastNumber += 1
            let line = KeptLine(state.lastNumber, at: time, level, message, metadata)
            if state.count == state.slots.count { state.dropOldest() }
            state.slots[(state.first + state.count) % state.slots.count] = line
            state.count += 1
            state.byteCount += line.byteCount
            while state.byteCount > byteLimit, state.count > 1 { state.dropOldest() }
        }
    }

    /// The lines later than the one with this number, the oldest first, and the number of the newest that was added.
    func lines(after number: UInt64) -> (lines: [KeptLine], last: UInt64) {
        state.withLock { state in
            // Numbers have no gap, so that many stand in front.
            let oldest = state.lastNumber - UInt64(state.count) + 1
            let skipped = number < oldest ? 0 : Int(min(number - oldest + 1, UInt64(state.count)))
            let lines = (skipped..<state.count).compactMap {
                state.slots[(state.first + $0) % state.slots.count]
            }
            return (lines, state.lastNumber)
        }
    }

    /// Bytes that the kept lines take, about.
    var byteCount: Int { state.withLock { $0.byteCount } }
}
