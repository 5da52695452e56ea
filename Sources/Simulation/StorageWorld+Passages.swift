import DatabaseCore
import JSONTree
import WriteAheadLog

/// The ways in which the tree leaves memory and comes back.
extension StorageWorld {
    /// Ends the process in good order and starts another.
    func end() throws(SimulationFault) {
        do throws(LogError) {
            try flush()
            try server.close()
        } catch {
            return try crashed(by: error)
        }
        let made = server.made
        try start()
        guard server.made == made else {
            throw SimulationFault(
                "commit \(server.made.value) after an orderly end at \(made.value)"
            )
        }
        counts.ends += 1
        table.note(.sealed)
        try cameBack()
    }

    /// A storage call failed: that must be the power.
    func crashed(by error: LogError) throws(SimulationFault) {
        switch error {
        case .disk, .stopped: try cutPower()
        default: throw SimulationFault("the log fails: \(error)")
        }
    }

    /// The power fails and comes back.
    func cutPower() throws(SimulationFault) {
        let acknowledged = server.durable
        let made = server.made
        if server.isCheckpointing { table.note(.cutCheckpoint) }
        storage.restart()
        try start()
        guard acknowledged <= server.made, server.made <= made else {
            throw SimulationFault(
                "commit \(server.made.value) is there; \(acknowledged.value) was durable, \(made.value) was made"
            )
        }
        counts.powerCuts += 1
        if server.report.torn != nil { table.note(.tornTail) }
        if server.made < made { table.note(.lostCommits) }
        if acknowledged < server.made { table.note(.unacknowledgedCommits) }
        try cameBack()
    }

    private func start() throws(SimulationFault) {
        while true {
            do throws(LogError) {
                server = try SimulatedServer(storage, options, policy)
                return
            } catch {
                switch error {
                case .disk, .stopped:
                    counts.powerCuts += 1
                    storage.restart()
                default: throw SimulationFault("the server does not start: \(error)")
                }
            }
        }
    }

    /// A new process has read the disk: its tree must be the twin's as of its last commit.
    private func cameBack() throws(SimulationFault) {
        let commit = server.made.value
        while let last = undo.last, last.commit > commit {
            for change in last.changes.reversed() { twin.takeBack(change) }
            undo.removeLast()
        }
        undo = []
        if let difference = twin.difference(in: root) {
            throw SimulationFault("after a start at commit \(commit), \(difference)")
        }
        for index in lists.indices { lists[index].recover(twin) }
        let base = server.report.checkpoint?.position.value ?? 0
        if base > 0 { counts.recoveredCheckpoints += 1 }
        for entry in unproven where entry.commit <= commit {
            table.note(entry.states, through: entry.commit <= base ? .checkpoint : .log)
        }
        unproven = []
        note("a new process")
    }

    /// Makes a backup and restores it elsewhere; sometimes the world goes on there.
    func backUp() throws(SimulationFault) {
        let fresh = SimulatedLogStorage(seed: random.next())
        do {
            guard let bytes = try server.backup(id: random.next()) else { return }
            table.note(.backup)
            try SimulatedServer.restore(bytes, to: fresh)
            let restored = try SimulatedServer(fresh, options, policy)
            guard restored.made == server.made else {
                throw SimulationFault(
                    "a backup of \(server.made.value) is at \(restored.made.value)"
                )
            }
            let node = restored.engine.snapshots().first?.root ?? .absent
            if let difference = twin.difference(in: node) {
                throw SimulationFault("in a restored backup, \(difference)")
            }
            counts.restores += 1
            table.note(.restore)
            table.note(notBackedUp, through: .backup)
            notBackedUp = []
            if !happens(oneIn: 3) { return }
            note("goes on from a backup")
            (storage, server) = (fresh, restored)
            undo = []
            unproven = []
        } catch let fault as SimulationFault {
            throw fault
        } catch {
            throw SimulationFault("a backup does not come back: \(error)")
        }
    }
}
