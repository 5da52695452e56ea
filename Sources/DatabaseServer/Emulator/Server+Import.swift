import DatabaseCore
import JSONTree
import Logging
import Transport

/// A file of `--import`, read.
struct ReadImport {
    let source: EmulatorImport
    let content: Draft

    /// Everything that the configuration wants to begin with.
    static func all(_ configuration: Configuration) throws(EmulatorImportError) -> [ReadImport] {
        var read: [ReadImport] = []
        for text in configuration.emulator.imports {
            let standard = configuration.selection.standard
            for source in try EmulatorImport.find(text, standard: standard) {
                read.append(ReadImport(source: source, content: try source.read()))
            }
        }
        return read
    }
}

extension Server {
    /// Writes what the databases begin with, one after the other; then calls `then`.
    ///
    /// One that is refused ends the server: it would not hold what it was told to.
    func importAll(then: @escaping @LoopActor () -> Void) {
        guard !imports.isEmpty else {
            then()
            return
        }
        let next = imports.removeFirst()
        let target = WriteTarget(path: .root, isPriority: false)
        let database = DatabaseID(next.source.database.text)
        ask(.put(target, next.content), of: database) { [self] response in
            switch response {
            case .written:
                log.notice(
                    "imported",
                    metadata: ["file": "\(next.source.path)", "database": "\(database)"]
                )
                importAll(then: then)
            case .refused(let refusal): importFailed(next.source, refusal.text)
            default: importFailed(next.source, "the database would not take it")
            }
        }
    }

    private func importFailed(_ source: EmulatorImport, _ reason: String) {
        log.critical("\(EmulatorImportError.refused(path: source.path, reason: reason))")
        exitCode = 1
        stop()
    }

    /// Ends the server when its standard input does: whoever holds the other end is gone.
    func stopAtEndOfInput() {
        // Never joined: it sits in a read until the process ends.
        _ = WorkThread {
            InputEnd.wait()
            EventLoop.shared.enqueue { [self] in
                if !isStopping { stop() }
            }
        }
    }
}
