/// A line on a terminal that says how far something is.
///
/// Shows nothing if standard error is not a terminal.
struct Progress {
    private let console: Console
    private let verb: String
    private let start = ContinuousClock.now
    private var lastShown: ContinuousClock.Instant?

    /// Bytes that were done before, by a run that was stopped; no part of the rate.
    private let doneBefore: Int

    /// Whether the terminal is free for the line, which data on it would be mixed with.
    private let isShown: Bool

    init(_ verb: String, _ console: Console, doneBefore: Int = 0, isShown: Bool = true) {
        self.isShown = isShown && console.showsProgress
        self.verb = verb
        self.console = console
        self.doneBefore = doneBefore
    }

    var elapsed: Duration { start.duration(to: .now) }

    /// Says that `done` bytes, of `total` when that is known, are done; ten times a second at most.
    mutating func show(_ done: Int, of total: Int? = nil) {
        guard isShown else { return }
        if let lastShown, lastShown.duration(to: .now) < .milliseconds(100) { return }
        lastShown = .now
        console.showLine(line(done, total))
    }

    func clear() {
        if lastShown != nil { console.showLine("") }
    }

    private func line(_ done: Int, _ total: Int?) -> String {
        let elapsed = elapsed
        let rate = Amounts.rate(done - doneBefore, elapsed)
        guard let total, total > 0 else { return "\(verb) \(Amounts.bytes(done)), \(rate)" }
        var text = "\(verb) \(min(100, done * 100 / total))%, \(Amounts.bytes(done)) of "
        text += "\(Amounts.bytes(total)), \(rate)"
        if done > doneBefore {
            let left = elapsed * (Double(max(0, total - done)) / Double(done - doneBefore))
            text += ", \(Amounts.time(left)) left"
        }
        return text
    }
}
