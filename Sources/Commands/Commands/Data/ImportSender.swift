import HTTPClient

/// Sends parts of an import, several at a time, and again where that may help.
///
/// Belongs to one thread. The confirmed part of the source is always a prefix: parts may be done in any order (except
/// those that must follow all before them), and a part counts when all before it are done.
struct ImportSender {
    /// The offset in the source after that prefix.
    private(set) var confirmedOffset: Int

    private let database: RemoteDatabase
    private let target: DatabasePath
    private let choice: ImportCommand

    /// Parts that were taken and are not done, by their number in the source.
    private var parts: [Int: Sending] = [:]
    private var nextNumber = 0

    /// The first part that is not confirmed, and the ends of those behind it that are done.
    private var firstNumber = 0
    private var doneEnds: [Int: Int] = [:]

    private var sendingByteCount = 0
    private var numbers: [HTTPClient.RequestID: Int] = [:]

    private struct Sending {
        let request: HTTPRequest
        let endOffset: Int
        /// For people.
        let path: DatabasePath
        let byteCount: Int
        var attempts = 0
        var backoff = Backoff()
        /// When it is sent again.
        var due: ContinuousClock.Instant?
    }

    init(
        _ database: RemoteDatabase,
        _ target: DatabasePath,
        _ choice: ImportCommand,
        from offset: Int
    ) {
        self.database = database
        self.target = target
        self.choice = choice
        confirmedOffset = offset
        hasWritten = offset > 0
    }

    /// Whether all parts that were taken are done.
    var isIdle: Bool { parts.isEmpty }

    /// Whether some part, of this run or one before, is done or may be: its answer is not there.
    var mayHaveWritten: Bool { hasWritten || !isIdle }
    private var hasWritten: Bool

    /// Sends a part, when there is room: waits for others until then.
    ///
    /// - Throws: `CommandError` when a part is refused, or was tried often enough.
    mutating func send(_ part: ImportPart) throws(CommandError) {
        let body = part.body
        while part.mustFollow ? !isIdle : !hasRoom(body.count) { try wait() }
        var request = database.request(
            part.method,
            target.appending(part.path),
            [("print", "silent"), ("disableTriggers", "\(!choice.triggers)")],
            body: .bytes(body)
        )
        request.headers.append("Content-Type: application/json")
        parts[nextNumber] = Sending(
            request: request,
            endOffset: part.endOffset,
            path: target.appending(part.firstPath),
            byteCount: body.count
        )
        nextNumber += 1
        sendingByteCount += body.count
        try start(nextNumber - 1)
    }

    /// Waits until something changes: a part is done, or sent again.
    mutating func wait() throws(CommandError) {
        let now = ContinuousClock.now
        let waiting = parts.filter { $0.value.due != nil }.sorted { $0.key < $1.key }
        for (number, part) in waiting {
            if let due = part.due, due <= now { try start(number) }
        }
        let nextDue = parts.values.compactMap(\.due).min()
        let pause = nextDue.map { max(.zero, now.duration(to: $0)) }
        guard database.client.inFlightCount > 0 else {
            if let pause { Backoff.sleep(pause) }
            return
        }
        let milliseconds = pause.map { Int(($0 / .milliseconds(1)).rounded(.up)) } ?? 200
        let ended: HTTPClient.Ended?
        do throws(HTTPError) {
            ended = try database.client.next(milliseconds: min(milliseconds, 200))
        } catch {
            throw .failed("\(error)")
        }
        if let ended { try take(ended) }
    }

    private mutating func take(_ ended: HTTPClient.Ended) throws(CommandError) {
        guard let number = numbers.removeValue(forKey: ended.id), let part = parts[number] else {
            return
        }
        switch ended.result {
        case .success(let response) where response.isSuccess: finish(number, part)
        case .success(let response):
            let refusal = database.refusal(part.request, response)
            let error = CommandError.failed("\(refusal) (values from \(part.path.description) on)")
            guard [429, 500, 502, 503, 504].contains(response.status) else {
                refuse(number, part)
                throw error
            }
            try postpone(number, part, error)
        case .failure(let error):
            let words = CommandError.failed("\(error)")
            guard let error = error as? HTTPError, error.isPassing else { throw words }
            try postpone(number, part, words)
        }
    }

    private mutating func finish(_ number: Int, _ part: Sending) {
        parts[number] = nil
        sendingByteCount -= part.byteCount
        hasWritten = true
        doneEnds[number] = part.endOffset
        while let end = doneEnds.removeValue(forKey: firstNumber) {
            confirmedOffset = max(confirmedOffset, end)
            firstNumber += 1
        }
    }

    /// Takes note that the server refused a part.
    private mutating func refuse(_ number: Int, _ part: Sending) {
        parts[number] = nil
        // An earlier attempt may have come through.
        if part.attempts > 1 { hasWritten = true }
    }

    /// Plans the next attempt.
    private mutating func postpone(
        _ number: Int,
        _ part: Sending,
        _ error: CommandError,
    ) throws(CommandError) {
        guard part.attempts < DataLimits.attempts else {
            throw .failed("\(error); given up after \(part.attempts) attempts")
        }
        var part = part
        let pause = part.backoff.next()
        part.due = .now.advanced(by: pause)
        parts[number] = part
        // The others that are under way fare alike; one line is enough.
        if number == firstNumber {
            database.console.say("\(error); trying again in \(Amounts.time(pause))")
        }
    }

    private func hasRoom(_ byteCount: Int) -> Bool {
        if parts.isEmpty { return true }
        // A part that cannot be sent holds up those behind it: they would fill the memory.
        return parts.count < choice.concurrency
            && sendingByteCount + byteCount <= DataLimits.inFlightByteCount
    }

    private mutating func start(_ number: Int) throws(CommandError) {
        guard let request = parts[number]?.request else { return }
        parts[number]?.due = nil
        parts[number]?.attempts += 1
        do throws(HTTPError) {
            numbers[try database.client.start(request)] = number
        } catch {
            throw .failed("\(error)")
        }
    }
}
