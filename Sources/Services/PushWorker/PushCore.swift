/// Decides which pushes to send and tracks their outcomes: state and input to effects, without clock or network. A
/// thread is pushed once in an absence: when its recipient has been away for `absence` and has not seen a message.
/// Later messages of that thread are not pushed until the recipient was present, or has read it. Each push is claimed
/// in the database, posted, and recorded there as done. After a restart, a claim without a record may or may not have
/// been posted; it is posted again with the same id. Nothing else is ever posted twice. One worker is at work in a
/// database. Two would post the same messages under the same ids.
package struct PushCore {
    let options: PushOptions
    var people: [String: Recipient] = [:]
    var deliveries: [PushThread: Delivery] = [:]
    var agenda = Agenda()
    /// Messages whose push the database refused to take, by when they were sent: not tried again.
    var unclaimable: [PushThread: Int64] = [:]
    /// Whether the known data is the server's present data.
    var isWatching = false
    /// Whether an earlier worker's claims were taken over.
    var hasAdopted = false
    var isStopping = false
    private var wakeTime: Int64?
    /// The time of the step under way: the server's, milliseconds since 1970.
    var now: Int64 = 0
    var effects: [PushEffect] = []

    package init(_ options: PushOptions) { self.options = options }

    /// Applies one input and returns the effects, in order. `now` is server time, milliseconds since 1970. O(threads of
    /// the person), and O(log n) for each push.
    package mutating func step(_ input: PushInput, now: Int64) -> [PushEffect] {
        self.now = now
        effects = []
        switch input {
        case .watching(let isWatching): watch(isWatching)
        case .threads(let uid, let kind, let news): receive(uid, kind, news)
        case .mutes(let uid, let keys):
            people[uid, default: Recipient()].mutes = keys
            considerAll(uid)
        case .presence(let uid, let isOnline): meet(uid, isOnline)
        case .lastOnline(let uid, let time):
            people[uid, default: Recipient()].lastOnline = time
            people[uid]?.leftAt = nil
            considerAll(uid)
        case .records(let uid, let records): keep(uid, records)
        case .sender(let thread, let answer): learnSender(thread, answer)
        case .claimed(let thread, let fault): claimed(thread, fault)
        case .answered(let thread, let answer): answered(thread, answer)
        case .recorded(let thread, let fault): recorded(thread, fault)
        case .tick: wakeTime = nil
        case .stop: stop()
        }
        advance()
        return effects
    }

    private mutating func watch(_ isWatching: Bool) {
        self.isWatching = isWatching
        guard isWatching else { return }
        if !hasAdopted {
            hasAdopted = true
            adopt()
        }
        for uid in people.keys.sorted() { considerAll(uid) }
    }

    /// Takes over the claims of an earlier worker, and removes records of ended threads.
    private mutating func adopt() {
        for uid in people.keys.sorted() {
            guard let person = people[uid] else { continue }
            for (key, record) in person.records.sorted(by: { $0.key < $1.key }) {
                let thread = PushThread(uid, key)
                if record.state == .sending {
                    deliveries[thread] = Delivery(phase: .queued, record: record)
                } else if person.news[key] == nil {
                    people[uid]?.records[key] = nil
                    effects.append(.forget(thread))
                }
            }
        }
    }

    private mutating func receive(
        _ uid: String,
        _ kind: ThreadNews.Kind,
        _ news: [String: ThreadNews],
    ) {
        var person = people[uid] ?? Recipient()
        for key in person.news.keys.sorted()
        where person.news[key]?.kind == kind && news[key] == nil {
            person.lose(key)
            let thread = PushThread(uid, key)
            if isWatching, person.records[key] != nil, deliveries[thread] == nil {
                person.records[key] = nil
                effects.append(.forget(thread))
            }
        }
        for (key, news) in news.sorted(by: { $0.key < $1.key }) {
            person.receive(news, of: key, isLive: isWatching)
        }
        people[uid] = person
        considerAll(uid)
    }

    private mutating func meet(_ uid: String, _ isOnline: Bool) {
        var person = people[uid] ?? Recipient()
        // Otherwise a person who leaves would count as away since the time before, until `lastOnline` arrives.
        if isWatching, person.isOnline, !isOnline,
            person.lastOnline ?? 0 < now - PushLimits.leaving
        {
            person.leftAt = now
        }
        person.isOnline = isOnline
        people[uid] = person
        considerAll(uid)
    }

    /// This worker knows the state of its own pushes better, except for the server's time of a claim.
    private mutating func keep(_ uid: String, _ records: [String: PushRecord]) {
        var records = records
        let known = people[uid]?.records ?? [:]
        for (key, record) in known {
            let thread = PushThread(uid, key)
            guard let delivery = deliveries[thread], delivery.phase != .lookingUp else { continue }
            if let stored = records[key], stored.id == record.id {
                deliveries[thread]?.record.claimedAt = stored.claimedAt
            }
            records[key] = deliveries[thread]?.record
        }
        people[uid, default: Recipient()].records = records
        considerAll(uid)
    }

    private mutating func considerAll(_ uid: String) {
        guard isWatching, let person = people[uid] else { return }
        for key in person.news.keys.sorted() { consider(PushThread(uid, key)) }
    }

    mutating func consider(_ thread: PushThread) {
        if let time = pushTime(of: thread) {
            agenda.set(thread, at: time)
        } else {
            agenda.remove(thread)
        }
    }

    /// When a thread is due for a push; nil for never.
    func pushTime(of thread: PushThread) -> Int64? {
        guard deliveries[thread] == nil, let person = people[thread.recipient],
            let news = person.news[thread.key], now - news.at <= PushLimits.age,
            person.misses(thread.key, sentAt: news.at), unclaimable[thread] != news.at,
            !person.wasNotified(of: thread.key, pushesEach: options.pushesEach)
        else { return nil }
        // Without any sign of them, the absence begins with the message.
        let since = person.lastSeen ?? person.unseenSince[thread.key] ?? news.at
        return since + options.absenceMilliseconds
    }

    /// Starts and continues everything that is due.
    private mutating func advance() {
        if isStopping {
            if isAtRest { effects.append(.finished) }
            return
        }
        guard isWatching else { return }
        var hasRoom = deliveries.count < PushLimits.deliveryCount
        while hasRoom, let thread = agenda.take(until: now) {
            if let time = pushTime(of: thread) {
                if time <= now {
                    begin(thread)
                } else {
                    agenda.set(thread, at: time)
                }
            }
            hasRoom = deliveries.count < PushLimits.deliveryCount
        }
        postAll()
        var time = hasRoom ? agenda.next : nil
        for delivery in deliveries.values {
            guard case .waiting(let until) = delivery.phase else { continue }
            time = min(until, time ?? until)
        }
        guard let time, time != wakeTime else { return }
        wakeTime = time
        effects.append(.wake(at: time))
    }
}
