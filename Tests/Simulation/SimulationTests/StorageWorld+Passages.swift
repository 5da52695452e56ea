import DatabaseCore
import JSONTree
import SimulatedStorage
import StateRecovery
import WriteAheadLog

@testable import Simulation

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
        let last = server
        try start()
        try server.follows(last, inGoodOrder: true)
        counts.ends += 1
        table.note(.sealed)
        try cameBack()
    }

    /// A storage call failed: that must be the power.
    func crashed(by error: LogError) throws(SimulationFault) {
        guard error.isPowerCut else { throw SimulationFault("the log fails: \(error)") }
        try cutPower()
    }

    /// The power fails and comes back.
    func cutPower() throws(SimulationFault) {
        if server.isCheckpointing { table.note(.cutCheckpoint) }
        let last = server
        storage.restart()
        try start()
        try server.follows(last, inGoodOrder: false)
        counts.powerCuts += 1
        if server.report.torn != nil { table.note(.tornTail) }
        if server.made < last.made { table.note(.lostCommits) }
        if last.durable < server.made { table.note(.unacknowledgedCommits) }
        try cameBack()
        if skipPosition != nil { table.note(.cutBehindSkip) }
    }

    private func start() throws(SimulationFault) {
        server = try SimulatedServer.start(storage, options, policy) { _ in
            counts.powerCuts += 1
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
        while let last = history.last, last.commit > commit { history.removeLast() }
        if let difference = twin.difference(in: root) {
            throw SimulationFault("after a start at commit \(commit), \(difference)")
        }
        side.cameBack(server)
        if let fault = side.fault(in: server) { throw SimulationFault("after a start, \(fault)") }
        if server.progress.count > 20 { table.note(.manyDatabases) }
        for index in lists.indices { lists[index].recover(twin) }
        let base = server.report.checkpoint?.position.value ?? 0
        if base > 0 { counts.recoveredCheckpoints += 1 }
        if let place = skipPosition, base >= place.value { skipPosition = nil }
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
            try SimulatedServer.restore(bytes, to: fresh, options)
            let restored = try SimulatedServer(fresh, options, policy)
            try restored.follows(server, inGoodOrder: true)
            let node = restored.snapshot?.root ?? .absent
            if let difference = twin.difference(in: node) ?? side.fault(in: restored) {
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
            (historyStart, history) = (twin, [])
            skipPosition = nil
        } catch let fault as SimulationFault {
            throw fault
        } catch {
            throw SimulationFault("a backup does not come back: \(error)")
        }
    }

    /// One byte of the log goes bad, a salvage copies the rest elsewhere, and the world goes on there:
    /// without the commits that the salvage names, and with all others.
    func salvage() throws(SimulationFault) {
        try end()
        let segments = storage.files.filter { $0.hasPrefix("log/") && $0.hasSuffix(".log") }
        let path = segments[number(below: segments.count)]
        guard var bytes = storage.content(path), let used = bytes.lastIndex(where: { $0 != 0 })
        else { return }
        bytes[number(below: used + 1)] ^= UInt8(1 + number(below: 255))
        do throws(LogError) { try server.close() } catch { return try crashed(by: error) }
        // No power cut is due any more.
        storage.restart()
        storage.overwrite(path, with: bytes)
        let fresh = SimulatedLogStorage(seed: random.next())
        let salvaged: LogSalvage
        do throws(LogError) {
            salvaged = try LogSalvage.run(
                from: storage,
                to: fresh,
                content: StateChecker().take,
                options: options,
            )
        } catch {
            throw SimulationFault("a log with one bad byte is not salvaged: \(error)")
        }
        counts.salvages += 1
        note("a salvage: \(salvaged)")
        let last = server
        storage = fresh
        try start()
        if salvaged.isComplete { try server.follows(last, inGoodOrder: true) }
        leaveOut(salvaged)
        try cameBack()
    }

    /// Takes out of the twin what a salvage could not copy.
    private func leaveOut(_ salvaged: LogSalvage) {
        var lostHere: [ClosedRange<UInt64>] = []
        for lost in salvaged.lostCommits {
            let commits = lost.from...lost.through
            let database = DatabaseID(lost.database.description)
            if database == SimulatedServer.database {
                lostHere.append(commits)
            } else {
                side.lose(database, commits)
            }
        }
        let head = server.made.value
        history.removeAll { entry in
            entry.commit > head || lostHere.contains { $0.contains(entry.commit) }
        }
        twin = historyStart
        for entry in history {
            for write in entry.writes { twin.write(write) }
        }
        undo = []
        unproven = []
        if salvaged.lostCommits.isEmpty { return }
        table.note(.skippedCommits)
        skipPosition = salvaged.position
    }
}
