import TestSupport
import DatabaseCore
import Files
import JSONTree
import SecurityRules
import StateRecovery
import Testing
import WriteAheadLog

@testable import DatabaseServer

/// The database of accounts, and names of databases that cannot be.
@Suite("Databases that no client names")
struct ReservedDatabaseTests {
    @Test(
        "no text is the name of a database that is not of its characters",
        arguments: [
            ":accounts", ":Accounts", "\u{FF1A}accounts", "\u{2236}accounts", ":accounts\u{0}",
            "\u{0}:accounts", "%3Aaccounts", "../:accounts", "a/b", "..", ".", "", " accounts",
            "accounts\n", "a:b", "\u{200B}accounts", String(repeating: "a", count: 64),
        ]
    )
    func grammar(_ text: String) {
        #expect(!DatabaseName.isName(text))
        #expect(throws: DatabaseNameError.self) { try DatabaseName(text) }
        var selection = DatabaseSelection()
        selection.domain = "db.example.com"
        #expect(throws: DatabaseNameError.self) {
            try selection.database(ns: text, at: Authority("db.example.com"))
        }
        for suffix in ["localhost", "db.example.com"] {
            // A host that cannot be read names no database at all.
            do throws(DatabaseNameError) {
                let meant = try selection.database(ns: nil, at: Authority("\(text).\(suffix)"))
                #expect(meant == .standard)
            } catch {
                #expect(error.description.contains("character"))
            }
        }
    }

    @Test("a name is one as it is, not in capitals")
    func letterForLetter() {
        #expect(DatabaseName.isName("accounts"))
        #expect(!DatabaseName.isName("Accounts"))
    }

    private func snapshots(of names: [String]) throws -> [DatabaseSnapshot] {
        let policy = EnginePolicy(
            databases: names.map { DatabaseID($0) },
            createsDatabases: false,
            defaultRules: .open
        )
        let engine = DatabaseEngine(policy)
        for (number, name) in names.enumerated() {
            let request = Request(
                database: DatabaseID(name),
                credential: .server,
                operation: .put(try WriteTarget("/a"), Draft(Node(string: name)))
            )
            var effects: [Effect] = []
            let id = RequestID(UInt64(number))
            engine.step(
                .requested(request, id: id),
                now: Timestamp(milliseconds: 1),
                effects: &effects
            )
        }
        return engine.snapshots()
    }

    private func write(_ snapshots: [DatabaseSnapshot], to path: String) throws {
        var pieces = try ArchivePieces(
            snapshots,
            at: .start.next,
            time: Timestamp(milliseconds: 1),
            id: 7
        )
        var bytes: [UInt8] = []
        while pieces.next(into: &bytes, atLeast: 4_096) {}
        let draft = try FileDraft(path)
        try draft.write(bytes)
        try draft.commit()
    }

    @Test(
        "an archive with a database that cannot be is not restored",
        arguments: [
            "../evil", ":other", ":accounts2", "Accounts", "/etc/x", "a\nb", "\u{FF1A}accounts",
        ]
    )
    func hostileArchive(_ name: String) throws {
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/archive"
        try write(try snapshots(of: ["good", name]), to: file)
        let outcome = BackupCommands.restore(file, to: "\(folder.path)/data")
        #expect(outcome.exitCode != 0)
        #expect(outcome.errors.contains("holds a database that cannot be"))
        #expect(!outcome.errors.dropLast().contains("\n"))
        #expect(FileStamp.of("\(folder.path)/data") == nil)
    }

    @Test("an archive with the accounts is restored")
    func accountsInArchive() throws {
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/archive"
        try write(try snapshots(of: ["good", ":accounts"]), to: file)
        let outcome = BackupCommands.restore(file, to: "\(folder.path)/data")
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(outcome.output.contains(":accounts"))
    }

    @Test("an export files nothing under a name that is none")
    func hostileExport() throws {
        let folder = try TemporaryFolder()
        let all = try snapshots(of: ["good", ":accounts", "../evil", "/x"])
        try EmulatorExport.write(all, to: "\(folder.path)/out")
        #expect(try Folder.names("\(folder.path)/out/database_export") == ["good.json"])
        #expect(FileStamp.of("\(folder.path)/out/evil.json") == nil)
    }
}
