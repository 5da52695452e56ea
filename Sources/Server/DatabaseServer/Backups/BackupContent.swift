import DatabaseCore
import Files
import StateRecovery
import WriteAheadLog

/// What the chunks of a backup hold, read as a start of a server reads a checkpoint.
enum BackupContent {
    /// Reads a backup and everything in it.
    ///
    /// Memory: see `StateCheck`.
    /// - Throws: `archive` and `content` with the first thing that is wrong.
    static func verify(
        _ file: String,
        shownAs name: String? = nil
    ) throws(BackupError) -> BackupSummary {
        let name = name ?? file
        var check = StateCheck()
        let summary = try BackupFile.read(file, shownAs: name) { event throws(BackupError) in
            try feed(event, to: &check, name)
        }
        try compare(summary, check, name)
        return summary
    }

    /// The same for the bytes of one, in memory.
    static func verify(
        _ bytes: [UInt8],
        shownAs name: String
    ) throws(BackupError) -> BackupSummary {
        var check = StateCheck()
        let summary = try BackupFile.read(bytes, shownAs: name) { event throws(BackupError) in
            try feed(event, to: &check, name)
        }
        try compare(summary, check, name)
        return summary
    }

    private static func feed(
        _ event: ArchiveReader.Event,
        to check: inout StateCheck,
        _ name: String
    ) throws(BackupError) {
        guard case .chunk(let chunk) = event else { return }
        try decoding(name) { () throws(CommitDecodingError) in try check.feed(chunk) }
    }

    /// Whether what was read is what the trailer says, and may be in a server.
    private static func compare(
        _ summary: BackupSummary,
        _ check: StateCheck,
        _ name: String
    ) throws(BackupError) {
        // No server makes others, and what is done with a database trusts its name.
        for database in summary.info.heads.map(\.database.description)
        where !DatabaseName.isName(database) && !reserved.contains(database) {
            let shown = TerminalText.shown(database.debugDescription)
            throw .content(path: name, reason: "holds a database that cannot be: \(shown)")
        }
        try decoding(name) { () throws(CommitDecodingError) in try check.finish() }
        guard check.holds(summary.info.heads) else {
            throw .content(path: name, reason: "holds other databases than its trailer says")
        }
    }

    /// Those of the server itself.
    private static let reserved = [DatabaseID.accounts.name, DatabaseID.files.name]

    private static func decoding(
        _ name: String,
        _ body: () throws(CommitDecodingError) -> Void
    ) throws(BackupError) {
        do throws(CommitDecodingError) { try body() } catch {
            throw .content(path: name, reason: "holds what cannot be read: \(error)")
        }
    }
}
