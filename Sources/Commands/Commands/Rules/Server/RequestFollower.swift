import RulesTools

/// The requests that `hearth rules requests --follow` has shown, to find the new ones of an answer.
///
/// Asks for the last shown request again: if it is missing, or its number belongs to another one, the server started
/// to count again or was cleared, and only times show which requests are new.
struct RequestFollower {
    /// The last one shown; nil when the server's numbers are not known.
    private var last: UInt64?
    private var lastTime = Int64.min
    private var hasBegun = false
    private let command: RulesRequestsCommand

    init(_ command: RulesRequestsCommand) {
        self.command = command
    }

    /// The parameters of the next request.
    var parameters: Parameters {
        var command = command
        // The most that a server returns at once.
        if hasBegun { command.limit = 1_000 }
        let parameters = command.parameters
        guard let last else { return parameters }
        return parameters + [("after", "\(last - 1)")]
    }

    /// The text to show of an answer, and whether to ask again at once.
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
        return (fresh.map { command.json ? $0.json + "\n" : $0.text }.joined(), false)
    }

    /// The connection was lost: the server may count from the start.
    mutating func forget() { last = nil }
}
