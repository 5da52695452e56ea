import DatabaseCore
import JSONTree
import SimulatedStorage
import WriteAheadLog

/// Power cuts and what must hold after them.
extension SimulatedWorld {
    /// Lets the power fail during one of the next `count` storage calls.
    package func cutPower(within count: Int) {
        storage.cutPower(afterCalls: 1 + workload.number(below: count))
    }

    /// Lets the power fail now.
    ///
    /// - Throws: `SimulationFault` when the server breaks a promise.
    package func cutPower() throws(SimulationFault) { try recover() }

    /// Ends the process in good order and starts another.
    ///
    /// - Throws: `SimulationFault` when the server breaks a promise.
    package func restart() throws(SimulationFault) {
        do throws(LogError) {
            try server.close()
        } catch {
            return try crashed(by: error)
        }
        let last = server
        try start()
        try server.follows(last, inGoodOrder: true)
        counts.note(.orderlyEnd)
        try began(from: server.made)
    }

    /// A storage call failed: that must be the power, or the room on the disk. Then the server stops.
    func crashed(by error: LogError) throws(SimulationFault) {
        if isDiskTight, error.isOutOfSpace {
            counts.note(.endForRoom)
            note("the server stops: \(error)", 0)
            storage.kill()
            return try follow()
        }
        guard options.hasCrashes, error.isPowerCut else {
            throw SimulationFault("the log fails: \(error)")
        }
        try recover()
    }

    private func recover() throws(SimulationFault) {
        counts.note(.powerCut)
        if server.isCheckpointing { counts.note(.cutDuringCheckpoint) }
        if model.space != .ok { counts.note(.cutOnFullDisk) }
        storage.restart()
        try follow()
    }

    /// The process is dead: another one comes up on what the disk kept, however often the power
    /// fails again meanwhile.
    private func follow() throws(SimulationFault) {
        let last = server
        try start()
        try server.follows(last, inGoodOrder: false)
        if last.durable < server.made { counts.note(.unacknowledgedCommits) }
        if server.made < last.made { counts.note(.lostCommits) }
        try began(from: server.made)
    }

    private func start() throws(SimulationFault) {
        server = try SimulatedServer.start(storage, logOptions, policy) {
            if options.hasCrashes, workload.happens(oneIn: 3) { cutPower(within: 60) }
        } didFail: { error in
            if isDiskTight, error.isOutOfSpace { return makeRoom() }
            counts.note(.powerCut)
            counts.note(.cutDuringRecovery)
        }
    }

    /// The tree must be that of `commit`; then what the dead sessions had stored runs.
    func began(from commit: CommitNumber) throws(SimulationFault) {
        clients = [:]
        leaving = []
        inquiries = []
        restRequests = [:]
        lastPush = nil
        pushIDs = PushIDGenerator(seed: workload.random.next())
        losePipes()
        note("a new process begins from commit \(commit.value)", 0)
        try checkTree(Int(commit.value))
        if server.report.torn != nil { counts.note(.tornTail) }
        if server.report.checkpoint != nil { counts.note(.recoveredCheckpoint) }
        let lastRules = model.current.ownRules
        model.recover(to: Int(commit.value), now: now)
        if model.states[Int(commit.value)].ownRules != lastRules { counts.note(.lostRules) }
        if model.current.ownRules != nil { counts.note(.recoveredRules) }
        let effects = server.recovered(now: Timestamp(milliseconds: now))
        try deliver(effects, of: 0, isOneCommit: true)
        counts.note(.disconnectsRun, model.commit - Int(commit.value))
        guard Int(server.made.value) == model.commit else {
            throw SimulationFault(
                "\(server.made.value) commits after recovery, not \(model.commit)"
            )
        }
        try checkTree(model.commit)
        if !model.current.disconnects.isEmpty {
            throw SimulationFault("the model keeps on-disconnect writes of dead sessions")
        }
        try watchSpace()
    }
}
