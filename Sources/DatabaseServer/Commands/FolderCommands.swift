package import Files
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

    /// Reads every record and checkpoint and tells all damage; exit code 1 when there is some.
    package static func verify(_ folder: String) -> CommandOutcome {
        do throws(LogError) {
            let found = try LogVerification.run(FileLogStorage(path: folder))
            return CommandOutcome(
                output: found.description,
                errors: "",
                exitCode: found.exitStatus,
            )
        } catch {
            return .failed(error.description)
        }
    }

    /// Copies what is intact into a new folder; exit code 1 when something acknowledged is lost.
    package static func salvage(_ folder: String, to destination: String) -> CommandOutcome {
        do throws(LogError) {
            let salvaged = try LogSalvage.run(
                from: FileLogStorage(path: folder),
                to: FileLogStorage(path: destination),
            )
            return CommandOutcome(
                output: salvaged.description,
                errors: "",
                exitCode: salvaged.isComplete ? 0 : 1,
            )
        } catch {
            return .failed(error.description)
        }
    }
}
