/// Everything that can happen to a push worker.
package enum PushInput: Equatable, Sendable {
    /// From now on what was told is what the server has; or it may not be any more.
    case watching(Bool)
    /// All direct chats, or all rooms, of a person.
    case threads(String, ThreadNews.Kind, [String: ThreadNews])
    /// The threads that a person does not want to hear of.
    case mutes(String, Set<String>)
    /// Whether a person has a connection.
    case presence(String, isOnline: Bool)
    /// When a person was last there; nil when that is not known.
    case lastOnline(String, Int64?)
    /// What is kept about the pushes for a person.
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
    /// Nobody has it any more.
    case nobody
    /// It could not be asked.
    case unknown
}

/// What came of one request to the webhook.
package enum PostAnswer: Equatable, Sendable {
    case accepted
    /// It may be accepted later: why it was not, and the seconds that the receiver asks to wait for.
    case later(String, seconds: Int64?)
    /// It never will be.
    case refused(String)
}

/// What the shell of a push worker must do, in order.
package enum PushEffect: Equatable, Sendable {
    /// Answered by `sender`.
    case lookUp(PushThread, username: String)
    /// Store that a push is taken on; answered by `claimed`.
    case claim(PushThread, PushRecord)
    /// Answered by `answered`.
    case post(PushThread, id: String, body: String)
    /// Store how a push ended; answered by `recorded`.
    case end(PushThread, PushRecord)
    /// Remove what is kept about a thread that is gone.
    case forget(PushThread)
    /// `tick` at this time, in the place of any asked for before.
    case wake(at: Int64)
    case say(PushReport)
    /// All that had begun has ended.
    case finished
}

/// What an operator is told. No text of a message is.
package enum PushReport: Equatable, Sendable {
    case delivered(PushThread, tries: Int)
    case again(PushThread, String, seconds: Int64)
    case gaveUp(PushThread, String)
    /// The recipient came, read or muted it meanwhile.
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
