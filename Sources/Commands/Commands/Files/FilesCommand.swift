import ArgumentParser
import DatabaseServer
import Files
import HTTPClient
import JSONTree

struct FilesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "files",
        abstract: "Check the contents of files, take back download links, and copy buckets.",
        discussion: """
            Examples:
              hearth files check --admin-secret-file hearth-data/admin-secret
              hearth files check --data-dir hearth-data            no server runs there
              hearth files revoke-tokens photos --prefix ann/
              hearth files download photos folder
              hearth files upload folder photos
            """,
        subcommands: [Check.self, RevokeTokens.self, Download.self, Upload.self],
    )

    struct Check: Command {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract:
                "Read the contents of all files again, and name those that are missing or damaged.",
            discussion: """
                Changes nothing. Each content is compared with its hash, and with the files that have it; contents that no \
                file has are counted. Exit code 1 when something is missing or damaged. A running server sends all bytes to \
                the command: let it run on the same machine.
                """,
        )

        @Option(help: .value("folder", "Check this data folder, on which no server runs."))
        var dataDir: String?

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func outcome() throws(CommandError) -> CommandOutcome {
            if let dataDir {
                var progress = Progress("check", Console())
                defer { progress.clear() }
                return FileCheck.folder(dataDir) { progress.show(Int($0)) }
            }
            let database = try server.database()
            let references = try database.blobReferences()
            var progress = Progress("check", database.console)
            defer { progress.clear() }
            let total = Int(references.byteCount)
            return FileCheck.run(references, in: ServerBlobs(database)) {
                progress.show(Int($0), of: total)
            }
        }
    }

    struct RevokeTokens: Command {
        static let configuration = CommandConfiguration(
            commandName: "revoke-tokens",
            abstract: "Take back the download links of files: who has one cannot use it any more.",
            discussion: """
                Apps that ask for the link of such a file again get a new one, if rules let them read its metadata.
                """,
        )

        @Argument(help: "The bucket.")
        var bucket: String

        @Option(help: .value("text", "Only files whose names begin with it."))
        var prefix: String?

        @OptionGroup(title: "Server")
        var server: ServerOptions

        func outcome() throws(CommandError) -> CommandOutcome {
            let bucket = StoredBucket(bucket, try server.database())
            let service = AdministeredServer(bucket.database)
            let body: JSONValue = ["metadata": ["firebaseStorageDownloadTokens": .null]]
            var (count, revokedCount) = (0, 0)
            try bucket.visit(prefix: prefix) { object throws(CommandError) in
                count += 1
                guard object.hasTokens else { return }
                _ = try service.answer(.patch, bucket.address(of: object), json: body.text)
                revokedCount += 1
            }
            return .done(
                "took back the links of \(Amounts.count(revokedCount, "file")), of \(count) in \(bucket.name)"
                    + (prefix.map { " below '\($0)'" } ?? "")
            )
        }
    }
}

extension RemoteDatabase {
    /// The contents that the files of the server have now. The server removes none of them while they are read.
    func blobReferences() throws(CommandError) -> BlobReferences {
        var references = BlobReferences()
        do {
            let request = request(.get, resource: "/.backup")
            try perform(request) { try references.feed($0, from: "what the server sent") }
            try references.finish(from: "what the server sent")
            return references
        } catch {
            throw error as? CommandError ?? .failed("\(error)")
        }
    }
}
