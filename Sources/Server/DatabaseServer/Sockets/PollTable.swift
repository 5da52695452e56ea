import DatabaseCore
import Tokens
import Transport

/// The sessions over long polling, found by what their requests carry.
@LoopActor
final class PollTable {
    /// Sessions at a time, those that are about to be forgotten included; further ones are refused for now.
    static let sessionLimit = 20_000

    /// Bytes of all messages that are not complete, or wait to be taken; the session that goes beyond ends.
    static let inboundByteLimit = 256 << 20

    /// Bytes of those that one client may have, if it has several sessions; the session that goes beyond ends.
    static let inboundShareByteCount = 64 << 20

    /// Sessions that are sent to in one tick: an answer costs some 10 µs, and one of the greatest size that is made
    /// at once some 100 µs.
    private static let flushedSessions = 64

    /// By name. Never iterated where order matters.
    private var sessions: [SessionID: PollSession] = [:]
    /// Those that may have something to send, first come first served.
    private var dirty = WaitingLine<PollSession>()
    /// What sessions hold of messages.
    private var held = HeldBytes(byteLimit: inboundByteLimit, shareByteCount: inboundShareByteCount)

    /// Whether no more sessions are taken.
    var isFull: Bool { sessions.count >= Self.sessionLimit }

    /// Sessions that go on.
    var liveCount: Int { sessions.values.count { !$0.isEnding } }

    /// The session of that name.
    subscript(id: SessionID) -> PollSession? { sessions[id] }

    /// The session that a request names and has the password of.
    func session(of head: RequestHead) -> PollSession? {
        guard let id = head.queryValue("id"), let password = head.queryValue("pw"),
            let session = sessions[SessionID(id)],
            ConstantTime.equal(Array(password.utf8), Array(session.password.utf8))
        else { return nil }
        return session
    }

    func add(_ session: PollSession) { sessions[session.id] = session }

    func remove(_ session: PollSession) { sessions[session.id] = nil }

    /// Counts so many bytes for a session of a client; false when there is no room for them.
    func hold(_ byteCount: Int, for counted: inout Int, of client: String) -> Bool {
        held.hold(byteCount, for: &counted, of: client) == .held
    }

    /// Lets a session look at the end of the tick whether something can leave. At most once a session.
    func markDirty(_ session: PollSession) { dirty.append(session) }

    /// Sends what was queued, for some sessions; the others follow in the next tick.
    func flush() {
        for _ in 0..<min(Self.flushedSessions, dirty.count) { dirty.popFirst()?.flush() }
        if !dirty.isEmpty { EventLoop.shared.wake() }
    }
}
