import DatabaseCore
import Files
import SecurityRules
import WriteAheadLog

/// What the chunks of a backup hold, read as a start of a server reads a checkpoint.
enum BackupContent {
    /// Reads a backup and everything in it.
    ///
    /// Memory: the largest of its databases.
    /// - Throws: `archive` and `content` with the first thing that is wrong.
    static func verify(_ file: String) throws(BackupError) -> BackupSummary {
        var decoder = CheckpointDecoder()
        var found: [LogHead] = []
        let summary = try BackupFile.read(file) { event throws(BackupError) in
            guard case .chunk(let chunk) = event else { return }
            do throws(CommitDecodingError) {
                try decoder.feed(chunk) { snapshot throws(CommitDecodingError) in
                    found.append(try head(of: snapshot))
                }
            } catch {
                throw .content(path: file, reason: "holds what makes no sense: \(error)")
            }
        }
        // No server makes others, and what is done with a database trusts its name.
        for name in summary.info.heads.map(\.database.description)
        where !DatabaseName.isName(name) && name != DatabaseID.accounts.name {
            let shown = TerminalText.shown(name.debugDescription)
            throw .content(path: file, reason: "holds a database that cannot be: \(shown)")
        }
        do throws(CommitDecodingError) { try decoder.finish() } catch {
            throw .content(path: file, reason: "ends within a database")
        }
        guard found == summary.info.heads else {
            throw .content(path: file, reason: "holds other databases than its trailer says")
        }
        return summary
    }

    /// The last commit of a database whose rules load.
    private static func head(of snapshot: DatabaseSnapshot) throws(CommitDecodingError) -> LogHead {
        if let text = snapshot.rules {
            do throws(RulesError) { _ = try Ruleset.load(text) } catch { throw .badRules }
        }
        do throws(LogError) {
            let name = try LogDatabaseName(snapshot.database.name)
            return LogHead(database: name, commit: snapshot.number.value)
        } catch {
            throw .badText(offset: 0)
        }
    }
}
