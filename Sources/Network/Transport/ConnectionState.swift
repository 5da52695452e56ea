/// Where a connection stands: how far its life has come, what its output waits for, and what its input waits for.
///
/// Three machines beside one another. A transition returns whether it happened; one that a state does not have leaves
/// everything as it is.
struct ConnectionState: Equatable {
    /// How far it has come.
    ///
    ///     open ── finish ──► finishing ── leave ──► leaving
    ///      └─ fail ─────────────┴─ fail ───────────────┴─ fail ──► doomed      any ── end ──► ended
    enum Life: CaseIterable {
        case open
        /// Nothing more is read; what is queued leaves.
        case finishing
        /// Everything is said, and the sending half has ended; the peer ends its own.
        case leaving
        /// The socket is destroyed at the end of the tick.
        case doomed
        /// The socket is gone.
        case ended
    }

    /// What its output waits for.
    ///
    ///     idle ── mark ──► marked ── begin ──► sending ── mark ──► sendingMarked
    ///                                           │ stop: idle, or marked
    ///                                           ├ block: blocked ── unblock ──► idle
    ///                                           └ wait: waiting ── pull ──► sending
    enum Output: CaseIterable {
        case idle
        /// the end of the tick.
        case marked
        /// It is being sent, and the end of that.
        case sending
        /// The same, and the end of the tick once more.
        case sendingMarked
        /// The source at its head, which is pulled after those of other connections.
        case waiting
        /// Room in the socket.
        case blocked
    }

    /// What its input waits for.
    enum Input: CaseIterable {
        case reading
        /// the end of the tick, for what has come already.
        case resuming
        /// The speaker, which takes no more: the socket is not read.
        case paused
        case pausedResuming
    }

    private(set) var life = Life.open
    private(set) var output = Output.idle
    private(set) var input = Input.reading

    // MARK: Life

    /// Whether bytes still have a way out.
    var takesOutput: Bool { life == .open || life == .finishing || life == .leaving }

    mutating func finish() -> Bool { advance(if: life == .open, to: .finishing) }
    mutating func leave() -> Bool { advance(if: life == .finishing, to: .leaving) }
    mutating func fail() -> Bool { advance(if: takesOutput, to: .doomed) }
    mutating func end() -> Bool { advance(if: life != .ended, to: .ended) }

    private mutating func advance(if isPossible: Bool, to next: Life) -> Bool {
        if isPossible { life = next }
        return isPossible
    }

    // MARK: Output

    /// Has it sent at the end of the tick.
    mutating func mark() -> Bool {
        switch output {
        case .idle: output = .marked
        case .sending: output = .sendingMarked
        case .marked, .sendingMarked, .waiting, .blocked: return false
        }
        return true
    }

    mutating func begin() -> Bool {
        guard takesOutput, output == .idle || output == .marked else { return false }
        output = .sending
        return true
    }

    /// Begins with what the source at the head makes.
    mutating func pull() -> Bool {
        guard output == .waiting else { return false }
        output = takesOutput ? .sending : .idle
        return takesOutput
    }

    /// The source at the head must wait for those of others.
    mutating func wait() -> Bool { stopSending(.waiting) }

    /// The socket took less than was offered.
    mutating func block() -> Bool { stopSending(.blocked) }

    /// Everything is sent, or what is left is not made yet. Of no effect where sending has stopped already.
    mutating func stop() -> Bool { stopSending(output == .sendingMarked ? .marked : .idle) }

    mutating func unblock() -> Bool {
        guard output == .blocked else { return false }
        output = .idle
        return true
    }

    private mutating func stopSending(_ next: Output) -> Bool {
        guard output == .sending || output == .sendingMarked else { return false }
        output = next
        return true
    }

    // MARK: Input

    /// Reads the socket, or stops reading it.
    mutating func read(_ isWanted: Bool) -> Bool {
        switch (input, isWanted) {
        case (.reading, false): input = .paused
        case (.resuming, false): input = .pausedResuming
        case (.paused, true): input = .reading
        case (.pausedResuming, true): input = .resuming
        case (.reading, true), (.resuming, true), (.paused, false), (.pausedResuming, false):
            return false
        }
        return true
    }

    /// Looks at the end of the tick at what has come.
    mutating func resumeLater() -> Bool {
        switch input {
        case .reading: input = .resuming
        case .paused: input = .pausedResuming
        case .resuming, .pausedResuming: return false
        }
        return true
    }

    mutating func resume() -> Bool {
        switch input {
        case .resuming: input = .reading
        case .pausedResuming: input = .paused
        case .reading, .paused: return false
        }
        return true
    }
}
