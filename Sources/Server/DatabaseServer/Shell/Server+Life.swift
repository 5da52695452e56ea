import DatabaseCore
import FileRecords
import Glibc
import Logging
import SecurityRules
import Transport

/// What happens by the clock and at the end.
extension Server {
    /// Once a second: expired tokens, room on the disk, files that changed, and a checkpoint when due.
    func tick() {
        step(.tick)
        profiler.endOverdue()
        tellServiceStatus()
        inspection.logSuppressedRefusals()
        logRefusedConnections()
        admin.logEndedSeries()
        commits.maintain()
        for change in files.changes() { reload(change) }
        durability.checkpointIfDue()
        // A node that follows makes no commits.
        if let cluster, !cluster.leads { return cluster.endIfBehind() }
        identity.rotateSigningKeys()
        identity.removeExpiredCodes()
        cluster?.shareKeys()
    }

    /// One line for all connections that were refused since the last one.
    private func logRefusedConnections() {
        for listener in [listener, accountsListener, consoleListener, emulator.listener].compactMap(
            \.self
        ) {
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
        let overloads = data.bodyOverloadCount + (listener?.counters.overloadCount ?? 0)
        guard overloads > loggedOverloads else { return }
        log.warning(
            "ended unfinished messages and bodies: their client, or all clients, held too many bytes",
            metadata: ["ended": "\(overloads - loggedOverloads)"]
        )
        loggedOverloads = overloads
    }

    // MARK: - Files that are read again

    /// Takes new rules, keys or certificates over; what does not load leaves the old in force.
    func reload(_ file: WatchedFiles.File) {
        switch file {
        case .rules(let database): reloadRules(database)
        case .keys: return reloadKeys()
        case .fileRules(let bucket): reloadFileRules(bucket)
        }
        cluster?.rulesChanged()
    }

    private func reloadRules(_ database: DatabaseID?) {
        guard let path = files.rulesPath(database) else { return }
        do {
            let rules = try RulesFile.load(path)
            step(database.map { .rules($0, rules) } ?? .defaultRules(rules))
            log.notice("rules read again", metadata: ["file": "\(path)"])
            admin.logRulesInForce(from: path)
        } catch {
            log.error("the rules in force stay, since the new ones do not load")
            for line in "\(error)".split(separator: "\n") { log.error("\(line)") }
        }
    }

    private func reloadFileRules(_ bucket: BucketName?) {
        guard let path = files.path(.fileRules(bucket)) else { return }
        do {
            fileService.rules.set(try FileRulesStore.load(path), of: bucket)
            log.notice("rules for files read again", metadata: ["file": "\(path)"])
            if bucket == nil { fileService.logRulesInForce() }
        } catch {
            log.error("the rules for files in force stay, since the new ones do not load")
            for line in "\(error)".split(separator: "\n") { log.error("\(line)") }
        }
    }

    private func reloadKeys() {
        do {
            let tokens = try OutsideTokens(configuration.tokens, configuration.mode)
            identity.trust(outside: tokens)
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
            figures.readCertificate()
            try consoleListener?.reloadTLS()
            log.notice("TLS certificate and key read again")
        } catch {
            log.error("the TLS certificate in force stays: \(error)")
        }
    }

    // MARK: - The end

    /// Ends every session with its on-disconnect writes, lets answers leave, seals the log.
    func stop() {
        if isStopping {
            log.warning("a second stop signal: connections still open are cut")
            EventLoop.shared.stop()
            return
        }
        isStopping = true
        log.notice("stopping")
        notifySocket?.isStopping(within: configuration.limits.drainTimeout)
        listener?.stopAccepting()
        emulator.listener?.drain(within: .zero) { _ in }
        accountsListener?.stopAccepting()
        consoleListener?.stopAccepting()
        emulator.removeLocator()
        if let cluster {
            cluster.limitStop(to: configuration.limits.drainTimeout)
            if !cluster.leads { return endSessions() }
        }
        emulator.exportOnExit { [self] in endSessions() }
    }

    private func endSessions() {
        admin.logEndedSeries(isOver: true)
        profiler.end()
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
            admin.logEndedSeries(isOver: true)
            whenDrained()
            EventLoop.shared.stop()
        }
    }

    /// Ends the server when its standard input ends: the program at the other end is gone.
    func stopAtEndOfInput() {
        // Never joined: it sits in a read until the process ends.
        _ = WorkThread {
            var bytes = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(STDIN_FILENO, &bytes, bytes.count)
                guard count > 0 || count < 0 && errno == EINTR else { break }
            }
            EventLoop.shared.enqueue { [self] in
                if !isStopping { stop() }
            }
        }
    }
}
