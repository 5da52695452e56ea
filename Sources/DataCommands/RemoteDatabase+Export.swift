import Glibc
import HTTPClient

/// How data is exported.
package struct ExportChoice: Sendable {
    /// Whether priorities are written, as `.priority` members.
    package var hasPriorities = true
    /// Whether gzip compresses the file.
    package var compresses = false
    /// Whether a regular file is read back before it gets its name.
    package var isReadBack = true

    package init() {}
}

extension RemoteDatabase {
    /// Writes the value at `path` to a file, of any size and in constant memory.
    ///
    /// A value that the server gives in one answer is exported as it was at one moment. A larger one is read in
    /// pages, and the console says so.
    ///
    /// - Parameters:
    ///   - path: What is exported.
    ///   - output: The file; nil or `-` is standard output.
    ///   - choice: Its form.
    /// - Throws: `CommandError` when the server refuses, or the file cannot be written.
    package func export(
        _ path: DatabasePath,
        to output: String?,
        _ choice: ExportChoice,
    ) throws(CommandError) {
        let file = try OutputFile(output, compresses: choice.compresses)
        if let draft = file.draftPath {
            Interruption.end(exitCode: 130) { [console] in
                unlink(draft)
                console.say("\nstopped; nothing is left of the export")
            }
        }
        var run = ExportRun(self, file, choice)
        try run.perform(path)
        try file.finish(isReadBack: choice.isReadBack)
        guard let output, output != "-" else { return }
        console.say(
            "exported \(Amounts.bytes(file.byteCount)) from \(address.describe(path)) to "
                + "\(output) in \(Amounts.time(run.elapsed)), "
                + Amounts.rate(file.byteCount, run.elapsed)
        )
    }
}
