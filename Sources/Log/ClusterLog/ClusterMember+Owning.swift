/// A claim that was sent.
struct Claim {
    /// What it was built on.
    let base: LogMark
    let bytes: [UInt8]
    var sentAt: Duration
}

extension ClusterMember {
    // MARK: - Claims

    /// Waits for a beat of an owner, from now on.
    mutating func restartSilence() {
        let spread = options.silenceSpread
        let part = Int64(random.next() % 1024)
        claimAt = now + options.silence + spread * Double(part) / 1024
    }

    /// Claims the group when no owner is heard, this node has read everything, and none that was heard has read more:
    /// otherwise this one has not caught up, or the log went back.
    mutating func claimWhenDue() {
        guard role == .following, now >= claimAt, isCaughtUp else { return }
        if let claim, now < claim.sentAt + options.claimInterval { return }
        if let furthest, furthest > replay.last.progress { return }
        if claim?.base != replay.last {
            let entry = LogEntry(
                .claim,
                epoch: replay.last.epoch + 1,
                base: replay.last.commit,
                writer: incarnation,
                number: numbers.nextEntry()
            )
            let bytes = entry.encoded(after: replay.last.chain).bytes
            claim = Claim(base: replay.last, bytes: bytes, sentAt: now)
        }
        guard let bytes = claim?.bytes else { return }
        claim?.sentAt = now
        counts.claims += 1
        effects.append(
            .append(bytes, number: numbers.nextTry(), expecting: replay.sequence)
        )
    }

    /// A claim counts.
    mutating func takeClaim(of owner: Incarnation) {
        claim = nil
        switch role {
        case .owning:
            role = .deposed
            effects.append(.deposed)
        case .leaving: end()
        case .following where owner == incarnation:
            role = .owning
            progressAt = now
            effects.append(.owned(replay.mark))
            beat()
        case .following: restartSilence()
        case .left, .deposed, .stopped: break
        }
    }

    // MARK: - Commits

    /// Sends again what has to be, and the next batches.
    ///
    /// An owner that receives a beat of a later epoch was replaced, or the log lost the claim: it sends nothing more.
    mutating func sendWhatIsDue() {
        guard role == .owning, isLogSound else { return }
        if let furthest, furthest.epoch > replay.last.epoch { return }
        let again = pipeline.resend(after: replay.sequence, at: now, &numbers)
        counts.sentAgain += UInt64(again.count)
        let next = pipeline.fill(
            after: replay.last,
            replay.sequence,
            isSlotFree: isSlotFree,
            at: now,
            &numbers
        )
        isSlotFree = false
        for append in again + next {
            effects.append(
                .append(append.bytes, number: append.number, expecting: append.expected)
            )
        }
    }

    /// Says when the log takes nothing, and when it takes something again.
    mutating func watchProgress() {
        if pipeline.isEmpty { progressAt = now }
        let isLate = now >= progressAt + options.stallLimit
        guard isLate != isStalled else { return }
        isStalled = isLate
        effects.append(.stalled(isLate))
    }

    // MARK: - Leaving

    mutating func leave() {
        isDraining = true
        switch role {
        case .following, .stopped: end()
        case .owning, .leaving, .left, .deposed: break
        }
    }

    /// An owner that leaves has written everything first, then lets another claim.
    mutating func endLeaving() {
        if role == .owning, isDraining, pipeline.isEmpty {
            role = .leaving
            leaveBy = now + options.leaveLimit
            beat()
        }
        if role == .leaving, let leaveBy, now >= leaveBy { end() }
    }

    private mutating func end() {
        role = .left
        effects.append(.left)
    }

    // MARK: - Trimming

    /// Forgets entries that every node heard lately has in a checkpoint, but the newest.
    ///
    /// The entry of a checkpoint stays, so that a node that begins there can compare it. A process younger than the
    /// memory for nodes does not know which nodes there are.
    mutating func trimWhenDue() {
        guard role == .owning, isLogSound, now >= trimAt else { return }
        trimAt = now + options.trimInterval
        guard now >= startedAt + options.nodeMemory, let first = window.first else { return }
        let others = heard.lowestCheckpoint(
            since: now - options.nodeMemory,
            of: replay.last.logID
        )
        let kept = min(first, checkpointed, others ?? checkpointed)
        guard kept > trimmed + 1 else { return }
        trimmed = kept - 1
        effects.append(.purge(through: trimmed))
    }
}
