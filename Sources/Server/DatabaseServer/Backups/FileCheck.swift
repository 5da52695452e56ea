package import BlobStore
package import Files
import WriteAheadLog

/// Reads all contents of files again, and compares them with their hashes and with the records of files.
package enum FileCheck {
    /// Checks a data folder that no server runs on.
    package static func folder(_ path: String, _ progress: (Int64) -> Void) -> CommandOutcome {
        do throws(BackupError) {
            let storage = FileLogStorage(path: path)
            let references = try logged { () throws(LogError) in
                let folder = try BackupCommands.open(storage)
                defer { folder.close() }
                return BlobReferences(try BackupCommands.state(of: folder).all)
            }
            return run(references, in: BlobFolder(storage).blobs, progress)
        } catch {
            return .failed("error: \(error)")
        }
    }

    /// Checks what a source has against what records refer to. Exit code 1 when something is missing or damaged.
    package static func run(
        _ references: BlobReferences,
        in source: any BlobSource,
        _ progress: (Int64) -> Void
    ) -> CommandOutcome {
        var faults = FileFaults(references)
        let counts: BlobCheck.Counts
        do throws(BlobError) {
            counts = try BlobCheck.run(
                source,
                references: references.all.mapValues(\.byteCount),
                progress: { progress($0.byteCount) }
            ) { finding in
                let file = references.all[finding.hash]?.files ?? "a content that no file has"
                faults.add("\(file): \(finding)")
            }
        } catch {
            return .failed("error: \(error)")
        }
        var lines = faults.texts
        lines.append(
            "\(counts.blobCount) contents, \(counts.byteCount) bytes: "
                + (faults.isEmpty ? "all whole" : "\(faults.texts.count) faults")
        )
        if counts.orphanCount > 0 {
            lines.append(
                "\(counts.orphanCount) that no file has: the server removes them when they are 24 hours old"
            )
        }
        if !faults.isEmpty { lines.append(advice) }
        return CommandOutcome(
            output: lines.joined(separator: "\n"),
            exitCode: faults.isEmpty ? 0 : 1
        )
    }

    private static let advice = """
        Remove a content that is damaged, and copy it from a backup, where it has the same path below the folder of --files; or remove it, \
        and upload the file again. A file that cannot be had any more can only be deleted.
        """
}
