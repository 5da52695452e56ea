/// Who is to be told of what, and what has become of it: state and input to effects, without clock or network.
///
/// A thread is pushed once in an absence: when its recipient has been away for `absence` and there is a message
/// they have not seen. Later messages of that thread are not pushed until the recipient was there, or has read it.
/// Each push is claimed in the database, posted, and recorded there as done. Whoever starts again finds what was
/// claimed and not recorded: nobody knows whether those were posted, and they are posted again with the same id.
/// Nothing else is ever posted twice.
///
/// One worker is at work in a database. Two would post the same messages under the same ids.
package struct PushCore {
    let options: PushOptions
    var people: [String: Recipient] = [:]
    var deliveries: [PushThread: Delivery] = [:]
    var agenda = Agenda()
    /// Messages whose push the database refused to take, by when they were sent: not tried again.
    var unclaimable: [PushThread: Int64] = [:]
    /// Whether what was told is what the server has.
    var isWatching = false
    /// Whether what an earlier worker left was taken on.
    var hasAdopted = false
    var isStopping = false
    private var wakeTime: Int64?

    package init(_ options: PushOptions) { self.options = options }

    /// Applies one input and tells what to do, in order.
    ///
    /// `now` is server time, milliseconds since 1970. O(threads of the person), and O(log n) for each push.
    package mutating func step(_ input: PushInput, now: Int64) -> [PushEffect] {
        var effects: [PushEffect] = []
        switch input {
        case .watching(let isWatching): watch(isWatching, now, &effects)
        case .threads(let uid, let kind, let news): hear(uid, kind, news, now, &effects)
        case .mutes(let uid, let keys):
            people[uid, default: Recipient()].mutes = keys
            considerAll(uid, now)
        case .presence(let uid, let isOnline): meet(uid, isOnline, now)
        case .lastOnline(let uid, let time):
            people[uid, default: Recipient()].lastOnline = time
            people[uid]?.leftAt = nil
            considerAll(uid, now)
        case .records(let uid, let records): keep(uid, records, now)
        case .sender(let thread, let answer): learnSender(thread, answer, now, &effects)
        case .claimed(let thread, let fault): claimed(thread, fault, &effects)
        case .answered(let thread, let answer): answered(thread, answer, now, &effects)
        case .recorded(let thread, let fault): recorded(thread, fault, now, &effects)
        case .tick: wakeTime = nil
        case .stop: stop()
        }
        advance(now, &effects)
        return effects
    }

    private mutating func watch(
        _ isWatching: Bool,
        _ now: Int64,
        _ effects: inout [PushEffect]
    ) {
        self.isWatching = isWatching
        guard isWatching else { return }
        if !hasAdopted {
            hasAdopted = true
            adopt(&effects)
        }
        for uid in people.keys.sorted() { considerAll(uid, now) }
    }

    /// Takes on what an earlier worker has claimed, and forgets what is about nothing.
    private mutating func adopt(_ effects: inout [PushEffect]) {
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

    private mutating func hear(
        _ uid: String,
        _ kind: ThreadNews.Kind,
        _ news: [String: ThreadNews],
        _ now: Int64,
        _ effects: inout [PushEffect],
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
            person.hear(news, of: key, isLive: isWatching)
        }
        people[uid] = person
        considerAll(uid, now)
    }

    private mutating func meet(_ uid: String, _ isOnline: Bool, _ now: Int64) {
        var person = people[uid] ?? Recipient()
        // Without this somebody who leaves would count as away since the time before, until `lastOnline` comes.
        if isWatching, person.isOnline, !isOnline,
            person.lastOnline ?? 0 < now - PushLimits.leaving
        {
            person.leftAt = now
        }
        person.isOnline = isOnline
        people[uid] = person
        considerAll(uid, now)
    }

    /// What is under way is known better here, but for when the server says that it was claimed.
    private mutating func keep(_ uid: String, _ records: [String: PushRecord], _ now: Int64) {
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
        considerAll(uid, now)
    }

    private mutating func considerAll(_ uid: String, _ now: Int64) {
        guard isWatching, let person = people[uid] else { return }
        for key in person.news.keys.sorted() { consider(PushThread(uid, key), now) }
    }

    /// Puts a thread on the agenda for when it is to be pushed, if it is.
    mutating func consider(_ thread: PushThread, _ now: Int64) {
        if let time = pushTime(of: thread, now) {
            agenda.set(thread, at: time)
        } else {
            agenda.remove(thread)
        }
    }

    /// When a thread is to be pushed, as things stand; nil for never.
    func pushTime(of thread: PushThread, _ now: Int64) -> Int64? {
        guard deliveries[thread] == nil, let person = people[thread.recipient],
            let news = person.news[thread.key], now - news.at <= PushLimits.age,
            person.misses(thread.key, sentAt: news.at), unclaimable[thread] != news.at,
            !person.wasTold(of: thread.key, pushesEach: options.pushesEach)
        else { return nil }
        // Of whom there was never a sign, the absence begins with what they miss.
        let since = person.lastSeen ?? person.unseenSince[thread.key] ?? news.at
        return since + options.absenceMilliseconds
    }

    /// Begins and goes on with all that it is time for.
    private mutating func advance(_ now: Int64, _ effects: inout [PushEffect]) {
        if isStopping {
            if isAtRest { effects.append(.finished) }
            return
        }
        guard isWatching else { return }
        var hasRoom = deliveries.count < PushLimits.deliveryCount
        while hasRoom, let thread = agenda.take(until: now) {
            if let time = pushTime(of: thread, now) {
                if time <= now {
                    begin(thread, now, &effects)
                } else {
                    agenda.set(thread, at: time)
                }
            }
            hasRoom = deliveries.count < PushLimits.deliveryCount
        }
        postAll(now, &effects)
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
