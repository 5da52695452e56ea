package import Files
import StateRecovery
import WriteAheadLog

/// The commands on a data folder that no server runs on: `hearth log ...`.
package enum FolderCommands {
    /// Lists segments, checkpoints and databases of a folder; every record too when `listRecord` is given.
    package static func inspect(
        _ folder: String,
        listRecord: ((String) -> Void)? = nil,
    ) -> CommandOutcome {
        outcome { () throws(LogError) in
            let lister = listRecord.map { list in
                { (record: LogInspection.Record) in list(record.description) }
            }
            let inspection = try LogInspection.run(FileLogStorage(path: folder), listRecord: lister)
            return .done(inspection.description)
        }
    }

    /// Reads and decodes every record and checkpoint and tells all damage; exit code 1 when there is some.
    package static func verify(_ folder: String) -> CommandOutcome {
        outcome { () throws(LogError) in
            let found = try verification(FileLogStorage(path: folder))
            return CommandOutcome(output: found.description, errors: "", exitCode: found.exitStatus)
        }
    }

    private static func verification(_ folder: FileLogStorage) throws(LogError) -> LogVerification {
        try LogVerification.run(folder, content: StateChecker().take)
    }

    /// Copies what is intact into a new folder, which is verified before it has its name; exit code 1 when something
    /// acknowledged is lost.
    package static func salvage(_ folder: String, to destination: String) -> CommandOutcome {
        do throws(BackupError) {
            let salvaged = try FolderDraft.fill(destination, "salvaging") {
                copy throws(BackupError) in
                let (salvaged, found) = try logged { () throws(LogError) in
                    let salvaged = try LogSalvage.run(
                        from: FileLogStorage(path: folder),
                        to: copy,
                        content: StateChecker().take,
                        options: copy.options(),
                    )
                    return (salvaged, try verification(copy))
                }
                guard found.isSound else {
                    throw .content(path: destination, reason: "does not read back:\n\(found)")
                }
                return salvaged
            }
            return CommandOutcome(
                output: "\(salvaged)\nthe new folder was read back whole",
                exitCode: salvaged.isComplete ? 0 : 1,
            )
        } catch {
            return .failed(error.description)
        }
    }

    private static func outcome(_ work: () throws(LogError) -> CommandOutcome) -> CommandOutcome {
        do throws(LogError) { return try work() } catch { return .failed(error.description) }
    }
}
