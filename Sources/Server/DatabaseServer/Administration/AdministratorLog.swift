import Logging

/// What administrators do in many requests that belong together, such as an import: one line of the log for all of them.
///
/// A series ends when nothing was added to it for a while. Within it amounts are added up.
struct AdministratorLog {
    /// Who does what, where from; requests that agree in all of it are one series.
    struct Deed: Hashable {
        /// What is done, as the log says it.
        let what: String
        /// The administrator: the address of a service account, `admin` with the secret, `owner` in development.
        let by: String
        let peer: String
        /// nil where several databases, or accounts, are concerned.
        var database: String?
        /// What the connection speaks, where it lasts; nil for a request of its own.
        var door: String?

        /// What of it a line shows beside `what`.
        var metadata: Logger.Metadata {
            var metadata: Logger.Metadata = ["by": "\(by)", "peer": "\(peer)"]
            if let database { metadata["database"] = "\(database)" }
            if let door { metadata["door"] = "\(door)" }
            return metadata
        }

        /// Quiet after which a series of it has ended. A program that stays connected pauses for longer, and has one line
        /// a minute.
        fileprivate var quiet: Duration {
            door == nil ? AdministratorLog.quiet : AdministratorLog.longest
        }

        /// The same, for all administrators beyond the limit of series.
        fileprivate var rest: Deed { Deed(what: what, by: "others", peer: "-", door: door) }
    }

    /// One line.
    struct Line: Equatable {
        let deed: Deed
        let metadata: Logger.Metadata
    }

    private struct Series {
        let deed: Deed
        /// Those that begin later have greater ones.
        let number: Int
        let begin: ContinuousClock.Instant
        var last: ContinuousClock.Instant
        /// Where the first request of it was about.
        let path: String?
        var requests = 0
        var amounts: [String: Int] = [:]

        mutating func add(_ more: [String: Int], at now: ContinuousClock.Instant) {
            last = now
            requests += 1
            amounts.merge(more, uniquingKeysWith: +)
        }

        var line: Line {
            var metadata = deed.metadata
            if let path { metadata["path"] = "\(path)" }
            if requests > 1 { metadata["requests"] = "\(requests)" }
            for (name, count) in amounts { metadata[name] = "\(count)" }
            return Line(deed: deed, metadata: metadata)
        }
    }

    /// `seriesLimit` at most, and those of the rest.
    private var series: [Deed: Series] = [:]
    private var lastNumber = 0

    /// Quiet after which a series has ended.
    static let quiet = Duration.seconds(2)
    /// The longest time that a series goes on without a line.
    static let longest = Duration.seconds(60)
    /// Series at a time, and so the most lines in a minute. Deeds beyond the limit share one line.
    static let seriesLimit = 1_000

    /// Adds a request to its series, of which the first says its `path`.
    mutating func add(
        _ deed: Deed,
        path: @autoclosure () -> String? = nil,
        _ amounts: [String: Int],
        at now: ContinuousClock.Instant = .now
    ) {
        let isRest = series[deed] == nil && series.count >= Self.seriesLimit
        let deed = isRest ? deed.rest : deed
        if series[deed] == nil {
            lastNumber += 1
            let shown = isRest ? nil : path().map { RefusalLog.shown($0) }
            series[deed] = Series(
                deed: deed,
                number: lastNumber,
                begin: now,
                last: now,
                path: shown
            )
        }
        series[deed]?.add(amounts, at: now)
    }

    /// Takes out the lines of series that have ended by now, in the order of their begin; with `isOver` of all.
    mutating func takeEnded(
        at now: ContinuousClock.Instant = .now,
        isOver: Bool = false
    ) -> [Line] {
        if series.isEmpty { return [] }
        let ended = series.values.filter {
            isOver || now - $0.last >= $0.deed.quiet || now - $0.begin >= Self.longest
        }
        for one in ended { series[one.deed] = nil }
        return ended.sorted { $0.number < $1.number }.map(\.line)
    }
}
