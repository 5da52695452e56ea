import DatabaseCore
import JSONTree
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
        try began(from: server.made)
    }

    /// A storage call failed: that must be the power.
    func crashed(by error: LogError) throws(SimulationFault) {
        guard options.hasCrashes, error.isPowerCut else {
            throw SimulationFault("the log fails: \(error)")
        }
        try recover()
    }

    /// The process is dead: another one comes up on what the disk kept, however often the power
    /// fails again meanwhile.
    private func recover() throws(SimulationFault) {
        let last = server
        storage.restart()
        try start()
        try server.follows(last, inGoodOrder: false)
        counts.crashes += 1
        if last.durable < server.made { counts.unacknowledged += 1 }
        if server.made < last.made { counts.losses += 1 }
        try began(from: server.made)
    }

    private func start() throws(SimulationFault) {
        server = try SimulatedServer.start(storage, logOptions, policy) {
            if options.hasCrashes, workload.happens(oneIn: 3) { cutPower(within: 60) }
        } didFail: {
            counts.crashes += 1
        }
    }

    /// The tree must be that of `commit`; then what the dead sessions had stored runs.
    private func began(from commit: CommitNumber) throws(SimulationFault) {
        clients = [:]
        leaving = []
        inquiries = []
        restCommits = [:]
        note("a new process begins from commit \(commit.value)", 0)
        try checkTree(Int(commit.value))
        if server.report.torn != nil { counts.tornTails += 1 }
        if server.report.checkpoint != nil { counts.checkpoints += 1 }
        model.recover(to: Int(commit.value), now: now)
        let effects = server.recovered(now: Timestamp(milliseconds: now))
        try deliver(effects, of: 0, isOneCommit: true)
        counts.disconnectsRun += model.commit - Int(commit.value)
        guard Int(server.made.value) == model.commit else {
            throw SimulationFault(
                "\(server.made.value) commits after recovery, not \(model.commit)"
            )
        }
        try checkTree(model.commit)
        if !model.current.disconnects.isEmpty {
            throw SimulationFault("the model keeps on-disconnect writes of dead sessions")
        }
    }
}
