import DatabaseCore

/// When the commits that wait for the disk were made, so that it is known how long each write took to be acknowledged.
///
/// The commits of one database in one tick share an entry, since they are one batch of the log. The ring is made once:
///
///     first ──► [database, number of the newest, how many, time] ... ──► first + count
struct CommitTimes {
    private struct Entry {
        let database: DatabaseID
        var number: CommitNumber
        var count: Int
        /// Monotonic nanoseconds.
        let time: UInt64
    }

    private var entries: [Entry?]
    private var first = 0
    private(set) var count = 0

    /// Entries that are kept; commits beyond them are not measured. A sync that takes a second leaves some hundred.
    static let limit = 4_096

    init(limit: Int = limit) {
        entries = Array(repeating: nil, count: limit)
    }

    /// Notes that a commit is handed to the log in the tick that began at `time`.
    mutating func append(_ number: CommitNumber, of database: DatabaseID, at time: UInt64) {
        let last = (first + count - 1 + entries.count) % entries.count
        if count > 0, entries[last]?.time == time, entries[last]?.database == database {
            entries[last]?.number = number
            entries[last]?.count += 1
            return
        }
        guard count < entries.count else { return }
        entries[(first + count) % entries.count] = Entry(
            database: database,
            number: number,
            count: 1,
            time: time
        )
        count += 1
    }

    /// Takes out the commits that are durable now, and notes how long each took.
    ///
    /// A flush covers everything that was appended before it, so what is durable stands in front.
    mutating func take(
        _ flushed: [(database: DatabaseID, through: CommitNumber)],
        at now: UInt64,
        into histogram: inout LatencyHistogram
    ) {
        while count > 0, let entry = entries[first] {
            let isDurable = flushed.contains {
                $0.database == entry.database && entry.number <= $0.through
            }
            guard isDurable else { return }
            histogram.note(now > entry.time ? now - entry.time : 0, times: entry.count)
            entries[first] = nil
            first = (first + 1) % entries.count
            count -= 1
        }
    }
}
