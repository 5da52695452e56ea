/// How a push worker goes about it.
package enum PushLimits {
    /// How long a person must be away before a message is pushed, by default.
    package static let absence = Duration.seconds(600)
    /// Milliseconds after which a message is news no more: it is neither pushed nor tried again.
    package static let age: Int64 = 24 * 3600 * 1000
    /// Pushes at a time that are looked up, claimed, posted, waited with or recorded; others wait in the database.
    package static let deliveryCount = 256
    /// Requests at a time.
    package static let postCount = 8
    /// Seconds until the next try: after the first, the second ...; after the last of them always the last.
    package static let waits: [Int64] = [1, 5, 30, 120, 600, 1800, 3600]
    /// Seconds that a receiver may ask to wait for.
    package static let longestWait: Int64 = 3600
    /// Seconds for one request and its answer.
    package static let postSeconds = 15
    /// How long a stopping worker waits for requests and records under way.
    package static let stopping = Duration.seconds(20)
    /// Milliseconds within which `lastOnline` may come before the end of presence that it belongs to.
    package static let leaving: Int64 = 10_000
    /// Milliseconds before the end of presence in which a message may not have arrived. The server pings a silent
    /// WebSocket after 45 s, and closes it after 90 s: so long may a person with a dead connection count as present.
    package static let unnoticed: Int64 = 90_000
}

/// The operator's options.
package struct PushOptions: Sendable {
    /// How long a person must be away before a message is pushed.
    package var absence = PushLimits.absence
    /// Whether each message is pushed, and not only the first of a thread in one absence.
    package var pushesEach = false

    package init() {}

    var absenceMilliseconds: Int64 { Int64(absence / .milliseconds(1)) }
}
