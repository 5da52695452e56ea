/// Everything that can happen to a push worker.
package enum PushInput: Equatable, Sendable {
    /// From now on the known data is the server's present data; or no longer.
    case watching(Bool)
    /// All direct chats, or all rooms, of a person.
    case threads(String, ThreadNews.Kind, [String: ThreadNews])
    /// The threads that a person has muted.
    case mutes(String, Set<String>)
    /// Whether a person has a connection.
    case presence(String, isOnline: Bool)
    /// When a person was last there; nil when that is not known.
    case lastOnline(String, Int64?)
    /// The stored push records of a person.
    case records(String, [String: PushRecord])
    /// Who has the username that was looked up.
    case sender(PushThread, SenderAnswer)
    /// A claim was stored, or refused for a reason.
    case claimed(PushThread, fault: String?)
    case answered(PushThread, PostAnswer)
    /// The end of a push was stored, or refused for a reason.
    case recorded(PushThread, fault: String?)
    /// The time that was asked for has come.
    case tick
    /// Begin nothing more.
    case stop
}

/// Who has a username.
package enum SenderAnswer: Equatable, Sendable {
    case uid(String)
    /// The username is free.
    case noUser
    /// It could not be asked.
    case unknown
}

/// The outcome of one request to the webhook.
package enum PostAnswer: Equatable, Sendable {
    case accepted
    /// It may be accepted later: why it was not, and the seconds that the receiver asks to wait for.
    case later(String, seconds: Int64?)
    /// It never will be.
    case refused(String)
}

/// An operation for the shell of a push worker; all are done in order.
package enum PushEffect: Equatable, Sendable {
    /// Answered by `sender`.
    case lookUp(PushThread, username: String)
    /// Store that a push is taken on; answered by `claimed`.
    case claim(PushThread, PushRecord)
    /// Answered by `answered`.
    case post(PushThread, id: String, body: String)
    /// Store how a push ended; answered by `recorded`.
    case end(PushThread, PushRecord)
    /// Remove the record of an ended thread.
    case forget(PushThread)
    /// Call `tick` at this time, instead of an earlier request.
    case wake(at: Int64)
    case say(PushReport)
    /// All that had begun has ended.
    case finished
}

/// A report for the operator, without message texts.
package enum PushReport: Equatable, Sendable {
    case delivered(PushThread, tries: Int)
    case again(PushThread, String, seconds: Int64)
    case gaveUp(PushThread, String)
    /// The recipient came, read or muted it in the meantime.
    case dropped(PushThread)
    /// Something could not be stored.
    case fault(PushThread, String)
}

extension PushReport: CustomStringConvertible {
    package var description: String {
        switch self {
        case .delivered(let thread, 1): "pushed \(thread.words)"
        case .delivered(let thread, let tries): "pushed \(thread.words) at try \(tries)"
        case .again(let thread, let reason, let seconds):
            "\(thread.words): \(reason); again in \(seconds) s"
        case .gaveUp(let thread, let reason): "gave up \(thread.words): \(reason)"
        case .dropped(let thread): "not needed any more: \(thread.words)"
        case .fault(let thread, let reason): "\(thread.words) is not stored: \(reason)"
        }
    }
}

extension PushThread {
    fileprivate var words: String { "\(recipient) about \(key)" }
}
