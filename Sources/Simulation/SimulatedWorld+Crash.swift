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
        let made = server.made
        try start()
        guard server.made == made else {
            throw SimulationFault(
                "the log is at commit \(server.made.value) after a good end at \(made.value)"
            )
        }
        try began(from: made)
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
        let acknowledged = server.durable
        let made = server.made
        storage.restart()
        try start()
        guard acknowledged <= server.made, server.made <= made else {
            throw SimulationFault(
                """
                commit \(server.made.value) is recovered; \(acknowledged.value) was acknowledged, \
                \(made.value) was made
                """
            )
        }
        counts.crashes += 1
        if acknowledged < server.made { counts.unacknowledged += 1 }
        if server.made < made { counts.losses += 1 }
        try began(from: server.made)
    }

    private func start() throws(SimulationFault) {
        while true {
            if options.hasCrashes, workload.happens(oneIn: 3) { cutPower(within: 60) }
            do throws(LogError) {
                server = try SimulatedServer(storage, logOptions, policy)
                return
            } catch {
                guard error.isPowerCut else {
                    throw SimulationFault("the server does not come up: \(error)")
                }
                counts.crashes += 1
                storage.restart()
            }
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

extension LogError {
    /// Whether the simulated disk said that it has no power.
    fileprivate var isPowerCut: Bool {
        switch self {
        case .disk, .stopped: true
        default: false
        }
    }
}
