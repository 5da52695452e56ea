import ArgumentParser
import DatabaseServer
import Files
import HTTPClient

struct BackupCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy all databases of a running server, or of a data folder, into one file.",
        discussion: """
            Examples:
              hearth backup --admin-secret-file hearth-data/admin-secret monday.backup
              hearth backup --data-dir hearth-data monday.backup   no server runs there
              hearth backup --files backup-files monday.backup     with the contents of files
              hearth backup --verify monday.backup

            The file holds data, rules, settings and on-disconnect writes of one moment; the server goes on meanwhile. \
            Before it gets its name it is read again and everything in it decoded, as a restore would. 'hearth restore' \
            makes a data folder of it. With --files a folder gets the contents of files that it lacks, each named by its hash: \
            keep one folder for all backups.
            """,
    )

    @Argument(help: "The file; one that is there is replaced when the new one is whole.")
    var file: String

    @Option(help: .value("folder", "Back up this folder, on which no server runs."))
    var dataDir: String?

    @Option(help: .value("folder", "Copy the contents of files that this folder lacks into it."))
    var files: String?

    @Flag(help: "Write nothing: read the file and everything in it; exit code 1 for damage.")
    var verify = false

    @Flag(help: "Read the new file's checksums again, but do not decode what it holds.")
    var noVerify = false

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func validate() throws {
        if verify, dataDir != nil {
            throw ValidationError("--verify reads the file alone; leave --data-dir out")
        }
        if verify, noVerify {
            throw ValidationError("--verify and --no-verify exclude one another; leave one out")
        }
    }

    func outcome() throws(CommandError) -> CommandOutcome {
        if verify { return BackupCommands.verify(file, files: files) }
        if let dataDir {
            return BackupCommands.backUp(dataDir, to: file, isVerified: !noVerify, files: files)
        }
        return .done(try backUpServer())
    }

    private func backUpServer() throws(CommandError) -> String {
        let database = try server.database()
        do throws(BackupError) {
            let backup = try BackupFile(file)
            try backup.download(from: database)
            var copied: FileBackupSummary?
            let summary = try backup.finish(isVerified: !noVerify) { written throws(BackupError) in
                copied = try copyFiles(of: written, from: database)
            }
            return BackupCommands.described(summary, copied)
        } catch {
            throw .failed("\(error)")
        }
    }
}

extension BackupFile {
    /// Takes the backup that a server sends, and shows how far it is; returns the answer.
    @discardableResult
    func download(from database: RemoteDatabase) throws(BackupError) -> HTTPResponse {
        var progress = Progress("backup", database.console)
        defer { progress.clear() }
        do throws(CommandError) {
            let request = database.request(.get, resource: "/.backup")
            return try database.perform(request) { bytes in
                try self.write(bytes)
                progress.show(self.byteCount)
            }
        } catch {
            throw .refused(error.description)
        }
    }
}

extension BackupCommand {
    /// Copies the contents that a new backup names; nil unless that is asked for.
    private func copyFiles(
        of written: String,
        from database: RemoteDatabase
    ) throws(BackupError) -> FileBackupSummary? {
        guard let files else { return nil }
        let references = try BlobReferences(of: written, shownAs: file)
        let backup = try FileBackup(files)
        defer { backup.close() }
        var progress = Progress("files", database.console)
        defer { progress.clear() }
        let total = Int(references.byteCount)
        return try backup.take(references, from: ServerBlobs(database)) {
            progress.show(Int($0), of: total)
        }
    }
}

struct RestoreCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make a data folder of a backup.",
        discussion: """
            Examples:
              hearth restore monday.backup --data-dir hearth-data
              hearth restore monday.backup --data-dir hearth-data --files backup-files
              hearth serve --data-dir hearth-data

            The backup is read wholly before anything is written, and the folder gets its name when it is whole. The \
            server makes a new admin secret there, unless you copy the old one.
            """,
    )

    @Argument(help: "The backup.")
    var file: String

    @Option(help: .value("folder", "The new data folder; must not hold anything."))
    var dataDir: String

    @Option(
        help: .value(
            "folder",
            "Copy the contents of files from here: the folder of 'hearth backup --files'."
        )
    )
    var files: String?

    func outcome() -> CommandOutcome {
        BackupCommands.restore(file, to: dataDir, files: files)
    }
}
