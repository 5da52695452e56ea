import Foundation

@testable import PushWorker

/// A database and a webhook around a core, with a clock that only the test moves.
struct PushWorld {
    static let minute: Int64 = 60_000

    var core: PushCore
    var now: Int64 = 1_700_000_000_000
    /// Who has which username.
    var usernames = ["ann": "ann", "bea": "bea", "cid": "cid"]
    /// What `pushed` holds: it outlives a worker.
    var pushed: [String: [String: PushRecord]] = [:]
    /// What the webhook answers first, one each; then it accepts.
    var answers: [PostAnswer] = []
    /// Whether effects are answered at once.
    var isAnswering = true
    private(set) var posts: [(thread: PushThread, id: String, body: String, at: Int64)] = []
    private(set) var reports: [PushReport] = []
    private(set) var unanswered: [PushEffect] = []
    private(set) var wakeTime: Int64?
    private(set) var isFinished = false

    /// The threads that were posted, in order: `ann/c1`.
    var posted: [String] { posts.map { "\($0.thread.recipient)/\($0.thread.key)" } }

    init(_ options: PushOptions = PushOptions(), watches: Bool = true) {
        core = PushCore(options)
        if watches { give(.watching(true)) }
        comes("ann")
    }

    /// Another worker for the same database: what was in memory is gone.
    mutating func restart() {
        let people = core.people
        core = PushCore(core.options)
        wakeTime = nil
        unanswered = []
        isFinished = false
        isAnswering = true
        for (uid, person) in people.sorted(by: { $0.key < $1.key }) {
            for kind in [ThreadNews.Kind.direct, .room] {
                give(.threads(uid, kind, person.news.filter { $0.value.kind == kind }))
            }
            give(.mutes(uid, person.mutes))
            give(.presence(uid, isOnline: person.isOnline))
            give(.lastOnline(uid, person.lastOnline))
        }
        for (uid, records) in pushed { give(.records(uid, records)) }
        give(.watching(true))
    }

    mutating func give(_ input: PushInput) {
        for effect in core.step(input, now: now) { perform(effect) }
    }

    /// Lets time pass; wakes the core whenever it asked to be.
    mutating func pass(_ milliseconds: Int64) {
        let end = now + milliseconds
        while let time = wakeTime, time <= end {
            now = max(now, time)
            wakeTime = nil
            give(.tick)
        }
        now = end
    }

    /// Answers what is not answered yet.
    mutating func answer() {
        isAnswering = true
        let effects = unanswered
        unanswered = []
        for effect in effects { carryOut(effect) }
    }

    /// Answers the oldest that is not answered yet, and nothing that comes of it.
    mutating func answerOne() {
        guard !unanswered.isEmpty else { return }
        carryOut(unanswered.removeFirst())
    }

    private mutating func perform(_ effect: PushEffect) {
        if case .post(let thread, let id, let body) = effect {
            posts.append((thread, id, body, now))
        }
        guard isAnswering || Self.needsNoAnswer(effect) else { return unanswered.append(effect) }
        carryOut(effect)
    }

    private mutating func carryOut(_ effect: PushEffect) {
        switch effect {
        case .lookUp(let thread, let username):
            let uid = usernames[username.lowercased()]
            give(.sender(thread, uid.map { .uid($0) } ?? .noUser))
        case .claim(let thread, let record):
            store(thread, record)
            give(.claimed(thread, fault: nil))
        case .post(let thread, _, _):
            give(.answered(thread, answers.isEmpty ? .accepted : answers.removeFirst()))
        case .end(let thread, let record):
            store(thread, record)
            give(.recorded(thread, fault: nil))
        case .forget(let thread): pushed[thread.recipient]?[thread.key] = nil
        case .wake(let time): wakeTime = time
        case .say(let report): reports.append(report)
        case .finished: isFinished = true
        }
    }

    private mutating func store(_ thread: PushThread, _ record: PushRecord) {
        pushed[thread.recipient, default: [:]][thread.key] = record
        give(.records(thread.recipient, pushed[thread.recipient] ?? [:]))
    }

    private static func needsNoAnswer(_ effect: PushEffect) -> Bool {
        switch effect {
        case .wake, .say, .finished, .forget: true
        case .lookUp, .claim, .post, .end: false
        }
    }

    // MARK: What people do

    mutating func comes(_ uid: String) { give(.presence(uid, isOnline: true)) }

    mutating func leaves(_ uid: String) {
        give(.presence(uid, isOnline: false))
        give(.lastOnline(uid, now))
        // What comes next comes later.
        now += 1
    }

    /// A direct message: both copies show it. `counts` says whether the sender's client adds to what is unread.
    mutating func writes(
        _ sender: String,
        to other: String,
        _ text: String = "hi",
        chat: String = "c1",
        counts: Bool = false
    ) {
        for uid in [sender, other] {
            let known = core.people[uid]?.news[chat]?.unread
            let news = ThreadNews(
                kind: .direct,
                title: "Ann, Bea",
                text: text,
                sender: sender.capitalized,
                at: now,
                messageKey: "-m\(now)",
                unread: counts ? (known ?? 0) + (uid == sender ? 0 : 1) : known
            )
            var all = core.people[uid]?.news.filter { $0.value.kind == .direct } ?? [:]
            all[chat] = news
            give(.threads(uid, .direct, all))
        }
    }

    /// A room's message, which counts for everybody but its sender.
    mutating func speaks(
        _ sender: String,
        in room: String,
        to others: [String],
        _ text: String = "hi"
    ) {
        for uid in [sender] + others {
            var all = core.people[uid]?.news.filter { $0.value.kind == .room } ?? [:]
            let unread = (all[room]?.unread ?? 0) + (uid == sender ? 0 : 1)
            all[room] = ThreadNews(
                kind: .room,
                title: "Tea",
                text: text,
                sender: nil,
                at: now,
                messageKey: "\(now)",
                unread: unread
            )
            give(.threads(uid, .room, all))
        }
    }

    /// The recipient has read a thread, perhaps on a device that says nothing of presence.
    mutating func reads(_ uid: String, _ key: String) {
        guard let kind = core.people[uid]?.news[key]?.kind else { return }
        var all = core.people[uid]?.news.filter { $0.value.kind == kind } ?? [:]
        all[key]?.unread = 0
        give(.threads(uid, kind, all))
    }
}
