import JSONTree
import Transport
import WriteAheadLog

/// A backup that is sent to be verified: read to its last node, and kept nowhere.
extension AdminService {
    /// `POST /.inspect/backup_check.json` with a backup as the body, of `--max-body` at most.
    func checkBackup(_ pending: PendingExchange) {
        server.requests.asAdministrator(pending) { [self] in
            guard let slot = takeArchiveSlot() else {
                return finish(pending, .error(503, "Too many backups are under way."))
            }
            let bytes = pending.exchange.takeBody()
            let isTaken = workers.archives.perform {
                withExtendedLifetime(slot) { Self.checked(bytes) }
            } then: { [self] in
                finish(pending, $0)
            }
            if !isTaken { finish(pending, .error(503, "Too many backups are under way.")) }
        }
    }

    private nonisolated static func checked(_ bytes: [UInt8]) -> HTTPResponse {
        do throws(BackupError) {
            let summary = try BackupContent.verify(bytes, shownAs: "the file")
            return .json(of: [
                "isGood": .boolean(true), "time": .integer(summary.time),
                "bytes": .number(summary.byteCount), "text": .string(summary.description),
                "databases": .list(
                    summary.info.heads.map { .string($0.database.description) }
                ),
            ])
        } catch {
            return .json(of: ["isGood": .boolean(false), "text": .string("\(error)")])
        }
    }
}
