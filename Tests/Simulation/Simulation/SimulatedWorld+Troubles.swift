import DatabaseCore
import JSONTree
import SecurityRules
import SimulatedStorage
import WireProtocol
import WriteAheadLog

/// Rules that change, clocks that jump, a disk that fills, and backups.
extension SimulatedWorld {
    /// Lets one of these happen.
    func trouble() throws(SimulationFault) {
        switch workload.pick(weights: [5, 3, 4, 4, 1, 5]) {
        case 0: try putRules()
        case 1: try setDefaultRules()
        case 2: jump()
        case 3: isDiskTight ? makeRoom() : fillDisk()
        case 4: try backUp()
        default: try tick()
        }
    }

    // MARK: - Rules

    /// Rules that may come in force: those that allow little do not stay for long.
    private func newRules() throws(SimulationFault) -> (SimulatedRules, Ruleset) {
        let mayClose = model.rules == .rooms && workload.happens(oneIn: 2)
        let rules: SimulatedRules = mayClose || workload.happens(oneIn: 10) ? .closed : .rooms
        do throws(RulesError) {
            return (rules, try rules.ruleset())
        } catch {
            throw SimulationFault("the rules do not load: \(error)")
        }
    }

    /// An administrator gives the database rules of its own, or takes them away.
    private func putRules() throws(SimulationFault) {
        let (rules, text) = try newRules()
        let isDetach = model.current.ownRules != nil && workload.happens(oneIn: 3)
        let count = model.expectations.count
        let isDone = model.putRules(isDetach ? nil : rules, now: now)
        if isDone { counts.note(.ownRules) }
        if model.expectations.count > count { counts.note(.rulesWithCancels) }
        let change = RulesChange(author: "admin")
        try administer(.putRules(isDetach ? nil : text, change), isDone ? .rulesPut : .refused)
    }

    /// The file of rules changes, and with it those of databases that have none of their own.
    private func setDefaultRules() throws(SimulationFault) {
        let (rules, text) = try newRules()
        counts.operations += 1
        counts.note(.defaultRules)
        note("the rules of the file are \(rules)", 0)
        policy.defaultRules = text
        model.setDefaultRules(rules)
        if !model.expectations.isEmpty { counts.note(.rulesWithCancels) }
        try input(.defaultRules(text), of: 0)
    }

    // MARK: - Clocks

    /// The clock of the server is set: by hours at most, in either direction.
    private func jump() {
        let distance = Int64(workload.number(below: 3 * 3_600_000))
        let isForward = workload.happens(oneIn: 2)
        now += isForward ? distance : -distance
        counts.note(isForward ? .clockForward : .clockBack)
        note("the clock is set to \(now)", 0)
    }

    /// A second has passed: credentials may have expired.
    private func tick() throws(SimulationFault) {
        let over = model.expire(now: now)
        counts.note(.expiry, over.count)
        signedOut(over)
        try input(.tick, of: 0)
    }

    /// A key for a push, as the server makes it: larger than all before it, whatever the clock says.
    func pushKey() throws(SimulationFault) -> String {
        let key = pushIDs.next(now: Timestamp(milliseconds: now)).string
        if let lastPush {
            if now < lastPush.time { counts.note(.pushBehindClock) }
            if !lastPush.key.utf8.lexicographicallyPrecedes(key.utf8) {
                throw SimulationFault("the key \(key) follows \(lastPush.key)")
            }
        }
        lastPush = (key, now)
        return key
    }

    // MARK: - The disk

    /// Leaves the disk no room, or little.
    private func fillDisk() {
        let used = storage.files.reduce(0) { $0 + (storage.content($1)?.count ?? 0) }
        let free = workload.number(below: 3 * logOptions.segmentByteCount)
        storage.setCapacity(UInt64(used + free))
        isDiskTight = true
        note("the disk has \(free) bytes left", 0)
    }

    /// Gives the disk all the room it may need.
    func makeRoom() {
        if isDiskTight { note("the disk has room again", 0) }
        storage.setCapacity(.max / 2)
        isDiskTight = false
    }

    /// Tells the engine what the log has found out about the room on the disk.
    func watchSpace() throws(SimulationFault) {
        guard let space = server.takeSpace() else { return }
        let condition: LogCondition
        switch space {
        case .ok: (condition, _) = (.ready, counts.note(.roomAgain))
        case .low: (condition, _) = (.diskLow, counts.note(.diskLow))
        case .full: (condition, _) = (.diskFull, counts.note(.diskFull))
        }
        note("there is room: \(space)", 0)
        if space != .full, !model.waiting.isEmpty { counts.note(.waitedForRoom) }
        model.spaceChanged(space, now: now)
        try input(.log(condition), of: 0)
    }

    // MARK: - Backups

    /// Takes a backup of what is durable and restores it elsewhere; sometimes the world goes on there.
    private func backUp() throws(SimulationFault) {
        let appends = { (server: SimulatedServer) throws(LogError) in
            try server.append(atMost: .max)
        }
        guard try onDisk(appends) else { return }
        try flush()
        if server.isBehind { return }
        let fresh = SimulatedLogStorage(seed: workload.random.next())
        let restored: SimulatedServer
        do {
            guard let bytes = try server.backup(id: workload.random.next()) else { return }
            try SimulatedServer.restore(bytes, to: fresh, logOptions)
            restored = try SimulatedServer(fresh, logOptions, policy)
        } catch let fault as SimulationFault {
            throw fault
        } catch {
            throw SimulationFault("a backup does not come back: \(error)")
        }
        counts.note(.backup)
        try restored.follows(server, inGoodOrder: true)
        try checkTree(model.commit, of: restored)
        if !workload.happens(oneIn: 2) { return }
        note("goes on from a backup", 0)
        counts.note(.continuedFromBackup)
        (storage, server) = (fresh, restored)
        isDiskTight = false
        try began(from: server.made)
    }
}
