/// One push from its beginning to its end: who wrote it, claim, post, again, record.
extension PushCore {
    mutating func begin(_ thread: PushThread) {
        guard let news = people[thread.recipient]?.countedNews(of: thread.key) else { return }
        let record = PushRecord(
            id: PushID.of(thread, news.messageKey),
            at: news.at,
            claimedAt: now,
            state: .sending,
            unread: news.unread,
            body: PushMessage(news, in: thread).body
        )
        guard let sender = news.sender else { return claim(thread, record) }
        deliveries[thread] = Delivery(phase: .lookingUp, record: record)
        effects.append(.lookUp(thread, username: sender))
    }

    /// Senders get no push for their own messages.
    mutating func learnSender(_ thread: PushThread, _ answer: SenderAnswer) {
        guard let delivery = deliveries[thread], delivery.phase == .lookingUp else { return }
        deliveries[thread] = nil
        switch answer {
        case .unknown: agenda.set(thread, at: now + (PushLimits.waits[1] * 1000))
        case .uid(thread.recipient):
            let wroteAt = people[thread.recipient]?.wroteAt ?? 0
            people[thread.recipient]?.wroteAt = max(wroteAt, delivery.record.at)
            consider(thread)
        case .uid, .noUser:
            // A newer message may have come in the meantime, whose sender is unknown.
            guard !isStopping, people[thread.recipient]?.news[thread.key]?.at == delivery.record.at,
                pushTime(of: thread) != nil
            else { return consider(thread) }
            claim(thread, delivery.record)
        }
    }

    private mutating func claim(_ thread: PushThread, _ record: PushRecord) {
        deliveries[thread] = Delivery(phase: .claiming, record: record)
        people[thread.recipient]?.records[thread.key] = record
        effects.append(.claim(thread, record))
    }

    mutating func claimed(_ thread: PushThread, _ fault: String?) {
        guard deliveries[thread]?.phase == .claiming else { return }
        guard let fault else {
            deliveries[thread]?.phase = .queued
            return
        }
        unclaimable[thread] = deliveries[thread]?.record.at
        deliveries[thread] = nil
        people[thread.recipient]?.records[thread.key] = nil
        effects.append(.say(.fault(thread, fault)))
    }

    /// Posts waiting pushes, first in, first out, up to the limit.
    mutating func postAll() {
        var postingCount = 0
        var waiting: [(key: PushThread, value: Delivery)] = []
        for entry in deliveries {
            switch entry.value.phase {
            case .queued: waiting.append(entry)
            case .waiting(let until): if until <= now { waiting.append(entry) }
            case .posting: postingCount += 1
            case .lookingUp, .claiming, .ending: break
            }
        }
        guard postingCount < PushLimits.postCount, !waiting.isEmpty else { return }
        let inOrder = waiting.sorted {
            ($0.value.record.claimedAt, $0.key) < ($1.value.record.claimedAt, $1.key)
        }
        for (thread, delivery) in inOrder where postingCount < PushLimits.postCount {
            let isMissed = people[thread.recipient]?.misses(thread.key, sentAt: delivery.record.at)
            guard isMissed == true, let body = delivery.record.body else {
                end(thread, .done, .dropped(thread))
                continue
            }
            postingCount += 1
            deliveries[thread]?.phase = .posting
            deliveries[thread]?.tryCount += 1
            effects.append(.post(thread, id: delivery.record.id, body: body))
        }
    }

    mutating func answered(_ thread: PushThread, _ answer: PostAnswer) {
        guard let delivery = deliveries[thread], delivery.phase == .posting else { return }
        switch answer {
        case .accepted: end(thread, .done, .delivered(thread, tries: delivery.tryCount))
        case .refused(let reason): end(thread, .refused, .gaveUp(thread, reason))
        case .later(let reason, let asked):
            let last = PushLimits.waits.count - 1
            let own = PushLimits.waits[min(delivery.tryCount - 1, last)]
            let seconds = max(own, min(asked ?? 0, PushLimits.longestWait))
            guard now + seconds * 1000 - delivery.record.at <= PushLimits.age else {
                return end(thread, .refused, .gaveUp(thread, reason))
            }
            deliveries[thread]?.phase = .waiting(until: now + seconds * 1000)
            effects.append(.say(.again(thread, reason, seconds: seconds)))
        }
    }

    /// It counts, and is reported, when it is stored.
    private mutating func end(
        _ thread: PushThread,
        _ state: PushRecord.State,
        _ report: PushReport,
    ) {
        guard var record = deliveries[thread]?.record else { return }
        record.state = state
        record.body = nil
        deliveries[thread]?.record = record
        deliveries[thread]?.phase = .ending
        deliveries[thread]?.report = report
        people[thread.recipient]?.records[thread.key] = record
        effects.append(.end(thread, record))
    }

    mutating func recorded(_ thread: PushThread, _ fault: String?) {
        guard let delivery = deliveries[thread], delivery.phase == .ending else { return }
        deliveries[thread] = nil
        if let report = delivery.report { effects.append(.say(report)) }
        if let fault { effects.append(.say(.fault(thread, fault))) }
        if isWatching { consider(thread) }
    }

    /// Claims that are not under way are left to the next worker: they were not posted, or were answered.
    mutating func stop() { isStopping = true }

    /// Whether nothing is under way that ends by itself. Records do not without a connection.
    var isAtRest: Bool {
        deliveries.values.allSatisfy { delivery in
            switch delivery.phase {
            case .lookingUp, .queued, .waiting: true
            case .posting: false
            case .claiming, .ending: !isWatching
            }
        }
    }
}
