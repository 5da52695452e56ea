import DatabaseCore
import Files
import Logging
import Transport

/// The emulator hub, in development: where the emulators are, and exports to a folder.
extension Server {
    /// What the hub says of itself to who sent this request; without one, to this machine.
    func hubDescription(_ head: RequestHead?) -> HubDescription {
        let port = listener?.port ?? configuration.port
        return HubDescription(
            bind: configuration.host,
            requested: head?.header("host"),
            databasePort: port,
            hubPort: hubListener?.port ?? port,
            accountsPort: accountsListener?.port ?? port,
        )
    }

    /// `GET /`: the hub in development, a word of who is here in production.
    func rootAnswer(_ head: RequestHead) -> HTTPResponse {
        guard configuration.mode == .development else {
            return RESTAnswer.text(200, "Hearth \(Version.text)\n")
        }
        return RESTAnswer.json(hubDescription(head).hub)
    }

    func receive(_ exchange: HTTPExchange, hub route: HubRoute) {
        guard route.methods.contains(exchange.head.method) else {
            let methods = route.methods.joined(separator: ", ")
            var response = RESTAnswer.error(405, "This address takes \(methods).")
            response.headers.append((name: "Allow", value: methods))
            answer(exchange, response)
            return
        }
        switch route {
        case .emulators:
            answer(exchange, RESTAnswer.json(hubDescription(exchange.head).emulators))
        case .backgroundTriggers(let areEnabled):
            answer(exchange, RESTAnswer.json(Array("{\"enabled\":\(areEnabled)}".utf8)))
        case .export: export(exchange)
        }
    }

    // MARK: - Exports

    /// Writes every database into the folder that the body names. It writes files where it is told
    /// to, so no page may ask for it, whatever its origin, and nobody on another machine.
    private func export(_ exchange: HTTPExchange) {
        guard exchange.head.header("origin") == nil, opensAdminRoutes(to: exchange.head) else {
            let text = "Only programs on this machine may export, and no page."
            answer(exchange, RESTAnswer.error(403, text))
            return
        }
        let folder: String
        do throws(BadRequest) {
            folder = try ExportRequest(exchange.takeBody()).folder
        } catch {
            answer(exchange, RESTAnswer.bad(error))
            return
        }
        let isTaken = export(to: folder) { [self] outcome in
            switch outcome {
            case .success:
                log(
                    deed("exported", exchange.head),
                    ["folder": "\(folder)", "databases": "\(engine.shownSnapshots().count)"]
                )
                answer(exchange, RESTAnswer.json(Array("{\"message\":\"OK\"}".utf8)))
            case .failure(let error):
                answer(exchange, RESTAnswer.error(500, "The export failed: \(error)"))
            }
        }
        if !isTaken {
            answer(exchange, RESTAnswer.error(503, "Too many exports are under way."))
        }
    }

    /// Writes an export once every commit in it is durable; `then` is called on the loop.
    ///
    /// Returns whether there was room for it.
    func export(
        to folder: String,
        then: @escaping @Sendable @LoopActor (Result<Void, FileError>) -> Void
    ) -> Bool {
        guard let slot = takeArchiveSlot() else { return false }
        let snapshots = engine.shownSnapshots()
        let archives = workers.archives
        let finish: @Sendable (Result<Void, FileError>) -> Void = { outcome in
            EventLoop.shared.enqueue { then(outcome) }
        }
        commits.barrier { [slot] _, _ in
            let isTaken = archives.post(
                .read {
                    defer { withExtendedLifetime(slot) {} }
                    finish(
                        Result { () throws(FileError) in
                            try EmulatorExport.write(snapshots, to: folder)
                        }
                    )
                }
            )
            precondition(isTaken, "the worker has room for every archive that is let begin")
        }
        return true
    }

    /// The export of `--export-on-exit`, then `then`.
    func exportOnExit(then: @escaping @LoopActor () -> Void) {
        guard let folder = configuration.emulator.exportFolder else {
            then()
            return
        }
        // A stop does not wait in line.
        archivesUnderWay = 0
        _ = export(to: folder) { [self] outcome in
            switch outcome {
            case .success: log.notice("exported", metadata: ["folder": "\(folder)"])
            case .failure(let error):
                log.error("the export on exit failed: \(error)")
                exitCode = 1
            }
            then()
        }
    }

    // MARK: - The locator file

    func writeLocator() {
        guard let project = configuration.emulator.project else { return }
        do throws(FileError) {
            locator = try LocatorFile(project: project, text: hubDescription(nil).hub)
        } catch {
            log.warning("tools cannot find this hub by its project: \(error)")
        }
    }

    func removeLocator() {
        do throws(FileError) {
            try locator?.remove()
        } catch {
            log.warning("the locator file stays: \(error)")
        }
        locator = nil
    }
}
