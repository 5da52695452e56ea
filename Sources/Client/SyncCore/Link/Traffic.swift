import JSONTree

/// When frames went over the socket in use, from which follows when to show that this side is
/// there, when to ask whether the other is, and when to give it up.
struct Traffic {
    private var lastFrame: Timestamp

    /// When the server last sent something, or else when the oldest unanswered request was sent.
    private var silentSince: Timestamp

    /// When the server last sent something.
    private var lastReceived: Timestamp

    private var pinged: Timestamp?

    /// Bytes sent since the server last sent something: on a slow line, no answer can come before they have passed.
    private var unansweredByteCount = 0

    init(now: Timestamp) {
        lastFrame = now
        silentSince = now
        lastReceived = now
    }

    mutating func received(now: Timestamp) {
        lastFrame = now
        silentSince = now
        lastReceived = now
        pinged = nil
        unansweredByteCount = 0
    }

    /// Frames were sent. `isFirst` says that no other request waits for an answer.
    mutating func sent(byteCount: Int, isFirst: Bool, now: Timestamp) {
        lastFrame = now
        if isFirst { silentSince = now }
        unansweredByteCount += byteCount
    }

    mutating func sentPing(now: Timestamp) {
        lastFrame = now
        pinged = now
    }

    /// The clock may have been set back: nothing happened later than now.
    mutating func limit(to now: Timestamp) {
        lastFrame = min(lastFrame, now)
        silentSince = min(silentSince, now)
        lastReceived = min(lastReceived, now)
        pinged = pinged.map { min($0, now) }
    }

    var keepAliveTime: Timestamp { lastFrame.adding(SyncLimits.keepAlive) }

    /// When to ask for a pong; nil when that was done. Soon when an answer is due; else only now and then, so that a
    /// connection that has died is found out while this side merely listens.
    func pingTime(isAnswerDue: Bool) -> Timestamp? {
        if pinged != nil { return nil }
        if !isAnswerDue { return lastReceived.adding(SyncLimits.pingWhenQuiet) }
        return silentSince.adding(SyncLimits.pingAfter + sendingTime)
    }

    /// When to give up; nil when no pong is due.
    var givingUpTime: Timestamp? { pinged?.adding(SyncLimits.pongTimeout + sendingTime) }

    /// Milliseconds that the bytes take on the slowest line that is reckoned with.
    private var sendingTime: Int64 {
        Int64(unansweredByteCount) / SyncLimits.slowestBytesPerMillisecond
    }
}

extension Timestamp {
    func adding(_ milliseconds: Int64) -> Timestamp {
        Timestamp(milliseconds: self.milliseconds + milliseconds)
    }

    /// Whether a deadline that was set at most `span` milliseconds ahead has come. It also has when
    /// it is further ahead than that, since then the clock was set back.
    func isDue(at now: Timestamp, span: Int64) -> Bool {
        self <= now || milliseconds - now.milliseconds > span
    }
}
