import DatabaseCore
import Files
import IdentityToolkit
import JSONTree
import Logging
import Transport

/// The emulator hub, in development: where the emulators are, and exports to a folder.
@LoopActor
final class EmulatorService: Service {
    let server: Server
    /// The hub's own port, when it has one.
    private(set) var listener: Listener?
    private lazy var hub = HubApplication(server)
    private var locator: LocatorFile?
    /// What is written before the server is ready.
    private var imports: ArraySlice<ReadImport> = []

    init(_ server: Server) {
        self.server = server
    }

    /// Opens the hub's own port.
    func listen(_ transport: TransportConfiguration) throws {
        listener = try Listener(transport, application: hub)
    }

    /// What the hub says of itself to who sent this request; without one, to this machine.
    func hubDescription(_ head: RequestHead?) -> HubDescription {
        let port = server.listener?.port ?? configuration.port
        return HubDescription(
            bind: configuration.host,
            requested: head?.header("host"),
            databasePort: port,
            hubPort: listener?.port ?? port,
            accountsPort: server.accountsListener?.port ?? port,
        )
    }

    /// `GET /`: the console for browsers, the hub for tools in development; the server's name in production.
    func answerRoot(_ exchange: HTTPExchange) {
        if server.console.takesVisitor(exchange) {
            return answer(exchange, .console("", []))
        }
        guard configuration.mode == .development else {
            return answer(exchange, .plain(200, "Hearth \(Version.text)\n"))
        }
        answer(exchange, .json(of: hubDescription(exchange.head).hub))
    }

    /// `GET /emulators`: where they are.
    func answerEmulators(_ exchange: HTTPExchange) {
        answer(exchange, .json(of: hubDescription(exchange.head).emulators))
    }

    // MARK: - Exports

    /// Writes every database into the folder that the body names. Since the request chooses the folder, it must come from
    /// a program on this machine, and from no page.
    func export(_ exchange: HTTPExchange) {
        guard exchange.head.header("origin") == nil,
            server.requests.opensAdminRoutes(to: exchange.head)
        else {
            let text = "Only programs on this machine may export, and no page."
            return answer(exchange, .error(403, text))
        }
        let folder: String
        do throws(BadRequest) { folder = try ExportRequest(exchange.takeBody()).folder } catch {
            return answer(exchange, .bad(error))
        }
        let isTaken = export(to: folder) { [self] outcome in
            switch outcome {
            case .success:
                log(
                    deed("exported", exchange),
                    ["folder": "\(folder)", "databases": "\(engine.shownSnapshots().count)"],
                    on: exchange
                )
                answer(exchange, .json(of: ["message": "OK"]))
            case .failure(let error):
                answer(exchange, .error(500, "The export failed: \(error)"))
            }
        }
        if !isTaken {
            answer(exchange, .error(503, "Too many exports are under way."))
        }
    }

    /// Writes an export once every commit in it is durable; `then` is called on the loop.
    ///
    /// Returns whether there was room for it.
    func export(
        to folder: String,
        isLast: Bool = false,
        then: @escaping @Sendable @LoopActor (Result<Void, FileError>) -> Void
    ) -> Bool {
        guard let slot = server.admin.takeArchiveSlot(isLast: isLast) else { return false }
        let snapshots = engine.shownSnapshots()
        let archives = workers.archives
        commits.barrier { [slot] _, _ in
            let isTaken = archives.perform {
                Result { () throws(FileError) in try EmulatorExport.write(snapshots, to: folder) }
            } then: { outcome in
                withExtendedLifetime(slot) { then(outcome) }
            }
            precondition(isTaken, "the worker has room for every archive that is let begin")
        }
        return true
    }

    /// The export of `--export-on-exit`, then `then`.
    func exportOnExit(then: @escaping @LoopActor () -> Void) {
        guard let folder = configuration.emulator.exportFolder else {
            return then()
        }
        _ = export(to: folder, isLast: true) { [self] outcome in
            switch outcome {
            case .success: log.notice("exported", metadata: ["folder": "\(folder)"])
            case .failure(let error):
                log.error("the export on exit failed: \(error)")
                server.fail()
            }
            then()
        }
    }

    // MARK: - Imports

    /// Writes what the databases begin with, one after the other; then calls `then`.
    ///
    /// An import that is refused ends the server: the database would lack its data.
    func write(_ imports: [ReadImport], then: @escaping @LoopActor () -> Void) {
        self.imports = imports[...]
        writeNext(then)
    }

    private func writeNext(_ then: @escaping @LoopActor () -> Void) {
        guard let next = imports.popFirst() else { return then() }
        let target = WriteTarget(path: .root, isPriority: false)
        let database = DatabaseID(next.source.database.text)
        server.ask(.put(target, next.content), of: database) { [self] response in
            switch response {
            case .written:
                log.notice(
                    "imported",
                    metadata: ["file": "\(next.source.path)", "database": "\(database)"]
                )
                writeNext(then)
            case .refused(let refusal): importFailed(next.source, refusal.text)
            default: importFailed(next.source, "the database would not take it")
            }
        }
    }

    private func importFailed(_ source: EmulatorImport, _ reason: String) {
        log.critical("\(EmulatorImportError.refused(path: source.path, reason: reason))")
        server.fail()
        server.stop()
    }

    // MARK: - The locator file

    func writeLocator() {
        guard let project = configuration.emulator.project else { return }
        do throws(FileError) {
            locator = try LocatorFile(project: project, text: hubDescription(nil).hub.text)
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
