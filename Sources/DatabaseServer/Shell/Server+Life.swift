import DatabaseCore
import Glibc
import Logging
import SecurityRules
import Tokens
import Transport
import WriteAheadLog

/// What happens by the clock and at the end.
extension Server {
    /// Once a second: expired tokens, room on the disk, files that changed, and a checkpoint when due.
    func tick() {
        step(.tick)
        endOverdueProfiles()
        tellServiceStatus()
        logSuppressedRefusals()
        logRefusedConnections()
        logEndedSeries()
        commits.maintain()
        for change in files.changes() { reload(change) }
        turnSigningKeys()
        checkpointIfDue()
        removeExpiredCodes()
    }

    /// One line for all connections that were refused since the last one.
    private func logRefusedConnections() {
        for listener in [listener, accountsListener, hubListener].compactMap(\.self) {
            guard let refusals = listener.takeRefusals() else { continue }
            log.warning(
                "refused connections: their address has too many; a proxy is named by --trusted-proxy",
                metadata: [
                    "address": "\(refusals.address)", "connections": "\(refusals.count)",
                    "port": "\(listener.port)",
                ]
            )
        }
        let strangers = listener?.counters.tlsOnPlainPortCount ?? 0
        if strangers > loggedTLSOnPlainPort {
            log.notice(
                "clients speak TLS to this port, which speaks plain HTTP: their address must begin with http:// or ws://",
                metadata: ["connections": "\(strangers - loggedTLSOnPlainPort)"]
            )
            loggedTLSOnPlainPort = strangers
        }
        let overloads = bodies.overloadCount + (listener?.counters.overloadCount ?? 0)
        guard overloads > loggedOverloads else { return }
        log.warning(
            "ended unfinished messages and bodies: their client, or all clients, held too many bytes",
            metadata: ["ended": "\(overloads - loggedOverloads)"]
        )
        loggedOverloads = overloads
    }

    // MARK: - The log

    /// Tells the engine when commits come faster than the disk takes them, and when that is over.
    func watchLog() {
        let waiting = commits.waitingCount
        if waiting > CommitWriter.commitLimit / 2 {
            isLogBehind = true
        } else if waiting < CommitWriter.commitLimit / 8 {
            isLogBehind = false
        }
        let condition: LogCondition =
            switch space {
            case .full: .diskFull
            case .low: isLogBehind ? .behind : .diskLow
            case .ok: isLogBehind ? .behind : .ready
            }
        if condition == logCondition { return }
        logCondition = condition
        step(.log(condition))
        switch condition {
        case .diskLow, .diskFull:
            log.critical("\(writeRefusal ?? "writes are refused"); reads go on")
        case .behind: log.warning("\(writeRefusal ?? "writes are refused")")
        case .ready: log.notice("writes are taken again")
        }
    }

    /// Why writes are refused now, with the room that the disk must have, for people; nil while they are taken.
    var writeRefusal: String? {
        let reserve = (logOptions?.reserveByteCount ?? 0) >> 20
        let resume = (logOptions?.resumeByteCount ?? 0) >> 20
        let until = "until \(resume) MiB are free"
        return switch logCondition {
        case .ready: nil
        case .behind: "the disk cannot keep up: writes are refused for now"
        case .diskLow:
            """
            the disk is nearly full, with less than \(reserve) MiB free: writes are refused \(until), \
            but for some that only remove data
            """
        case .diskFull: "the disk is full: writes are refused \(until)"
        }
    }

    /// What the log thread says about the room on the disk.
    func spaceChanged(_ state: SpaceState) {
        space = state
        watchLog()
    }

    /// Begins a checkpoint once the log has grown enough, so that a restart has little to replay.
    private func checkpointIfDue() {
        let grown = counts.commitBytes - checkpointedCommitBytes
        let due = max(Server.checkpointByteCount, lastCheckpointByteCount / 2)
        if isCheckpointing { return }
        if let failed = failedCheckpoint {
            if ContinuousClock.now < failed.nextTry { return }
        } else if grown < due {
            // What is removed while the disk is low makes room only with the segments that a checkpoint drops.
            let mayMakeRoom = space != .ok && ContinuousClock.now >= nextTightCheckpoint
            guard mayMakeRoom, grown > 0 else { return }
            nextTightCheckpoint = .now + Server.tightCheckpointPause
        }
        writeCheckpoint()
    }

    private func writeCheckpoint() {
        guard let checkpointer else { return }
        isCheckpointing = true
        checkpointedCommitBytes = counts.commitBytes
        // The commits in these snapshots are exactly those that stand before the barrier.
        let snapshots = engine.snapshots()
        commits.barrier { position, heads in
            checkpointer.write(snapshots, at: position, heads: heads) { result in
                EventLoop.shared.enqueue { [self] in checkpointed(result) }
            }
        }
    }

    private func checkpointed(_ outcome: Checkpointer.Outcome) {
        isCheckpointing = false
        switch outcome {
        case .success(let finished):
            let receipt = finished.receipt
            counts.checkpoints += 1
            failedCheckpoint = nil
            lastCheckpointByteCount = Int(receipt.info.byteCount)
            log.info(
                "checkpoint written",
                metadata: [
                    "position": "\(receipt.info.position)", "bytes": "\(receipt.info.byteCount)",
                    "droppedSegments": "\(receipt.droppedSegmentCount)",
                    "readBack": "\(finished.readBackTime)",
                ]
            )
        case .failure(let error):
            counts.failedCheckpoints += 1
            let failed = FailedCheckpoint(after: failedCheckpoint)
            failedCheckpoint = failed
            // What to do about a damaged folder does not help here: the folder is not.
            let reason = if case .damage(let damage) = error { damage.summary } else { "\(error)" }
            log.critical(
                """
                a checkpoint failed and does not count; the log is whole, keeps everything since the \
                one before, and grows until one succeeds; the next try is in \(failed.pause): \(reason)
                """
            )
        }
    }

    // MARK: - Files that are read again

    /// Takes new rules, keys or certificates over; what does not load leaves the old in force.
    func reload(_ file: WatchedFiles.File) {
        switch file {
        case .rules(let database): reloadRules(database)
        case .keys: reloadKeys()
        }
    }

    private func reloadRules(_ database: DatabaseID?) {
        guard let path = files.rulesPath(database) else { return }
        do {
            let rules = try RulesFile.load(path)
            step(database.map { .rules($0, rules) } ?? .defaultRules(rules))
            log.notice("rules read again", metadata: ["file": "\(path)"])
            logRulesInForce(from: path)
        } catch {
            log.error("the rules in force stay, since the new ones do not load")
            for line in "\(error)".split(separator: "\n") { log.error("\(line)") }
        }
    }

    private func reloadKeys() {
        do {
            credentials.outside = try OutsideTokens(configuration.tokens, configuration.mode)
            log.notice("token keys read again")
        } catch {
            log.error("the token keys in force stay: \(error)")
        }
    }

    /// SIGHUP: every file again, whether or not it looks changed.
    func reloadAll() {
        let isServing = isReady && !isStopping
        if isServing { notifySocket?.isReloading() }
        defer { if isServing { notifySocket?.isReady(serviceStatus) } }
        files.isReloading()
        for file in files.all { reload(file) }
        guard configuration.tls != nil else { return }
        do throws(TransportError) {
            try listener?.reloadTLS()
            try accountsListener?.reloadTLS()
            log.notice("TLS certificate and key read again")
        } catch {
            log.error("the TLS certificate in force stays: \(error)")
        }
    }

    // MARK: - The end

    /// Ends every session with its on-disconnect writes, lets answers leave, seals the log.
    func stop() {
        if isStopping {
            log.warning("told twice to stop: connections still open are cut")
            EventLoop.shared.stop()
            return
        }
        isStopping = true
        log.notice("stopping")
        notifySocket?.isStopping(within: configuration.limits.drainTimeout)
        listener?.stopAccepting()
        hubListener?.drain(within: .zero) { _ in }
        accountsListener?.stopAccepting()
        removeLocator()
        exportOnExit { [self] in endSessions() }
    }

    private func endSessions() {
        logEndedSeries(isOver: true)
        endProfiles()
        step(.shutDown)
        commits.barrier { _, _ in
            EventLoop.shared.enqueue { [self] in drain() }
        }
    }

    private func drain() {
        listener?.drain(within: configuration.limits.drainTimeout) {
            [self, log, whenDrained] cutCount in
            if cutCount > 0 { log.warning("\(cutCount) connections had to be cut") }
            isSealed = true
            whenDrained()
            EventLoop.shared.stop()
        }
    }
}

/// That the last checkpoint does not count, and when the next is tried.
struct FailedCheckpoint {
    private static let shortestPause = Duration.seconds(5)
    /// Trying then costs little, however large the state.
    private static let longestPause = Duration.seconds(320)

    /// From the failure to the next try; doubles with each failure in a row.
    let pause: Duration
    let nextTry: ContinuousClock.Instant

    init(after last: FailedCheckpoint?) {
        pause = last.map { min($0.pause * 2, Self.longestPause) } ?? Self.shortestPause
        nextTry = .now + pause
    }
}
