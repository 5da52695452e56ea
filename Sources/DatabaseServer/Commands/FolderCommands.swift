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
        do throws(LogError) {
            let lister = listRecord.map { list in
                { (record: LogInspection.Record) in list(record.description) }
            }
            let inspection = try LogInspection.run(
                FileLogStorage(path: folder),
                listRecord: lister,
            )
            return .done(inspection.description)
        } catch {
            return .failed(error.description)
        }
    }

    /// Reads and decodes every record and checkpoint and tells all damage; exit code 1 when there is
    /// some.
    package static func verify(_ folder: String) -> CommandOutcome {
        do throws(LogError) {
            let found = try verification(folder)
            return CommandOutcome(
                output: found.description,
                errors: "",
                exitCode: found.exitStatus,
            )
        } catch {
            return .failed(error.description)
        }
    }

    private static func verification(_ folder: String) throws(LogError) -> LogVerification {
        try LogVerification.run(FileLogStorage(path: folder), content: StateChecker().take)
    }

    /// Copies what is intact into a new folder, which is then verified; exit code 1 when something
    /// acknowledged is lost.
    package static func salvage(_ folder: String, to destination: String) -> CommandOutcome {
        do throws(LogError) {
            let salvaged = try LogSalvage.run(
                from: FileLogStorage(path: folder),
                to: FileLogStorage(path: destination),
                content: StateChecker().take,
            )
            let found = try verification(destination)
            guard found.isSound else {
                return .failed("the new folder \(destination) does not read back:\n\(found)")
            }
            return CommandOutcome(
                output: "\(salvaged)\nthe new folder was read back whole",
                errors: "",
                exitCode: salvaged.isComplete ? 0 : 1,
            )
        } catch {
            return .failed(error.description)
        }
    }
}
