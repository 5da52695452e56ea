package import DataCommands
import RulesCases

/// What `hearth rules requests --follow` has shown, and what of an answer is new.
///
/// Asks for the last one shown again: when it does not come, or another one bears its number, the server began to
/// count anew, or was told to forget, and times alone tell what is new.
struct RequestFollower {
    /// The last one shown; nil when the server's numbers are not known.
    private var last: UInt64?
    private var lastTime = Int64.min
    private var hasBegun = false
    private let isJSON: Bool
    private let choice: RulesInspection.Choice

    init(_ choice: RulesInspection.Choice, isJSON: Bool) {
        self.choice = choice
        self.isJSON = isJSON
    }

    /// What to ask for next.
    var parameters: [(name: String, value: String)] {
        var choice = choice
        // The most that a server tells at once.
        if hasBegun { choice.limit = 1_000 }
        let parameters = choice.parameters
        guard let last else { return parameters }
        return parameters + [("after", "\(last - 1)")]
    }

    /// What to show of an answer, and whether the next question must not wait.
    mutating func take(_ list: RecordedRequest.List) -> (text: String, isUrgent: Bool) {
        hasBegun = true
        let isKnown = list.requests.contains { $0.id == last && $0.time == lastTime }
        if last != nil, !isKnown {
            last = nil
            return ("", true)
        }
        let fresh = list.requests.filter { request in
            if let last { request.id > last } else { request.time > lastTime }
        }
        if let newest = list.requests.last {
            last = newest.id
            lastTime = newest.time
        }
        return (fresh.map { isJSON ? $0.json + "\n" : $0.text }.joined(), false)
    }

    /// The connection was lost: the server may count anew.
    mutating func forget() { last = nil }
}

extension RulesInspection {
    /// Prints the newest requests, then each new one as it comes, until told to stop (exit code 0).
    ///
    /// Asks once a second; of more than 1,000 in a second the newest are shown. As JSON each is a line.
    ///
    /// - Throws: `CommandError` when the server refuses.
    package static func followRequests(
        to database: RemoteDatabase,
        _ choice: Choice,
        isJSON: Bool
    ) throws(CommandError) {
        var follower = RequestFollower(choice, isJSON: isJSON)
        var hint: String?
        try database.follow(requests) { () in
            follower.parameters
        } lost: {
            follower.forget()
        } take: { (body) throws(CommandError) in
            guard let list = RecordedRequest.List(body) else {
                throw .failed("\(database.place) tells no requests: is it an older server?")
            }
            if list.hint != hint, let text = list.hint { database.say(text) }
            hint = list.hint
            return follower.take(list)
        }
    }
}
