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

        /// What of it a line shows beside `what`.
        var metadata: Logger.Metadata {
            var metadata: Logger.Metadata = ["by": "\(by)", "peer": "\(peer)"]
            if let database { metadata["database"] = "\(database)" }
            return metadata
        }
    }

    /// One line.
    struct Line: Equatable {
        let deed: Deed
        let metadata: Logger.Metadata
    }

    private struct Series {
        let deed: Deed
        let begin: ContinuousClock.Instant
        var last: ContinuousClock.Instant
        /// Where the first request of it was about.
        let path: String?
        var requests = 0
        var amounts: [String: Int] = [:]

        var line: Line {
            var metadata = deed.metadata
            if let path { metadata["path"] = "\(path)" }
            if requests > 1 { metadata["requests"] = "\(requests)" }
            for (name, count) in amounts { metadata[name] = "\(count)" }
            return Line(deed: deed, metadata: metadata)
        }
    }

    /// In order of their begin, `seriesLimit` at most.
    private var series: [Series] = []

    /// Quiet after which a series has ended.
    static let quiet = Duration.seconds(2)
    /// The longest time that a series goes on without a line.
    static let longest = Duration.seconds(60)
    /// Series at a time; one more ends the oldest.
    static let seriesLimit = 32
    /// Adds a request to its series. Returns the line of a series that has to end for it.
    mutating func add(
        _ deed: Deed,
        path: String? = nil,
        _ amounts: [String: Int],
        at now: ContinuousClock.Instant = .now
    ) -> Line? {
        var ended: Line?
        let index: Int
        if let known = series.firstIndex(where: { $0.deed == deed }) {
            index = known
        } else {
            if series.count == Self.seriesLimit { ended = series.removeFirst().line }
            let shown = path.map { RefusalLog.shown($0) }
            series.append(Series(deed: deed, begin: now, last: now, path: shown))
            index = series.count - 1
        }
        series[index].last = now
        series[index].requests += 1
        series[index].amounts.merge(amounts, uniquingKeysWith: +)
        return ended
    }

    /// Takes out the lines of series that have ended by now; with `isOver` of all.
    mutating func takeEnded(
        at now: ContinuousClock.Instant = .now,
        isOver: Bool = false
    ) -> [Line] {
        if series.isEmpty { return [] }
        let lasting = series.filter {
            !isOver && now - $0.last < Self.quiet && now - $0.begin < Self.longest
        }
        defer { series = lasting }
        return series.filter { one in !lasting.contains { $0.deed == one.deed } }.map(\.line)
    }
}
