import Foundation

/// Creating and opening the file, and handling a damaged one.
extension CacheFile {
    static func damaged(_ path: String) -> DiskCacheError {
        .damaged(path: path, movedTo: path + ".damaged")
    }

    /// Opens a file that is ours, or makes it.
    ///
    /// - Throws: `damaged` for one that must be moved aside first.
    static func open(_ path: String) throws(DiskCacheError) -> SQLiteDatabase {
        try makeFile(path)
        do {
            let database = try SQLiteDatabase(path: path)
            try database.set("PRAGMA locking_mode = EXCLUSIVE")
            // Before the first table; the file shrinks when data is deleted.
            try database.set("PRAGMA auto_vacuum = FULL")
            try database.set("PRAGMA journal_mode = WAL")
            try database.set("PRAGMA synchronous = NORMAL")
            try database.set("PRAGMA journal_size_limit = 4194304")
            // Deleted data is overwritten: its user may have signed out.
            try database.set("PRAGMA secure_delete = ON")
            try check(database, path)
            return database
        } catch let error as SQLiteDatabase.Failure {
            if error.isBusy { throw .inUse(path: path) }
            // This version writes no later format, so the header is damaged.
            if error.isDamage || error.isOfLaterFormat { throw damaged(path) }
            throw .failed("open \(path)", error.text)
        } catch let error as DiskCacheError {
            throw error
        } catch {
            throw .failed("open \(path)", "\(error)")
        }
    }

    /// A new file gets its tables; an old one must be ours, of this schema, and whole.
    private static func check(_ database: SQLiteDatabase, _ path: String) throws {
        // Takes the lock and keeps it. A database closed early undoes its transaction.
        try database.run("BEGIN IMMEDIATE")
        let tables = "SELECT count(*) FROM sqlite_master"
        let application = try database.integer("PRAGMA application_id") ?? 0
        if application == 0, try database.integer(tables) == 0 {
            try makeTables(database)
        } else if application != applicationID {
            let ours = tables + " WHERE name IN ('writes', 'listens', 'nodes', 'account')"
            throw try database.integer(ours) == 4
                ? damaged(path) : DiskCacheError.foreign(path: path)
        } else {
            let version = try database.integer("PRAGMA user_version") ?? 0
            if version > schema { throw DiskCacheError.newer(path: path, version: version) }
            guard version == schema, hasColumns(database),
                try database.text("PRAGMA quick_check(1)") == "ok"
            else { throw damaged(path) }
        }
        try database.run("COMMIT")
    }

    /// Whether every column has its name: SQLite takes a damaged name for another column.
    private static func hasColumns(_ database: SQLiteDatabase) -> Bool {
        let reads = [
            "id, checksum, request FROM writes",
            "id, request, isActive, lastUse, byteCount, priority FROM listens",
            "listen, key, data FROM nodes",
            "id, name FROM account",
        ]
        return reads.allSatisfy { (try? database.run("SELECT \($0) LIMIT 0")) != nil }
    }

    private static func makeTables(_ database: SQLiteDatabase) throws {
        let statements = [
            """
            CREATE TABLE writes (
                id INTEGER PRIMARY KEY, checksum INTEGER NOT NULL, request BLOB NOT NULL
            )
            """,
            """
            CREATE TABLE listens (
                id INTEGER PRIMARY KEY, request BLOB NOT NULL UNIQUE, isActive INTEGER NOT NULL,
                lastUse INTEGER NOT NULL, byteCount INTEGER NOT NULL, priority BLOB NOT NULL
            )
            """,
            """
            CREATE TABLE nodes (
                listen INTEGER NOT NULL, key BLOB NOT NULL, data BLOB NOT NULL,
                PRIMARY KEY (listen, key)
            )
            """,
            "CREATE TABLE account (id INTEGER PRIMARY KEY, name BLOB NOT NULL)",
            "PRAGMA application_id = \(applicationID)",
            "PRAGMA user_version = \(schema)",
        ]
        for statement in statements { try database.run(statement) }
    }

    /// The folder is made for its owner alone; the file is kept so.
    private static func makeFile(_ path: String) throws(DiskCacheError) {
        let files = FileManager.default
        let folder = URL(filePath: path).deletingLastPathComponent().path
        do {
            if !files.fileExists(atPath: folder) {
                try files.createDirectory(
                    atPath: folder,
                    withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700]
                )
            }
            let permissions: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
            if files.fileExists(atPath: path) {
                try files.setAttributes(permissions, ofItemAtPath: path)
            } else if !files.createFile(atPath: path, contents: nil, attributes: permissions) {
                throw DiskCacheError.failed("make \(path)", "the file cannot be written")
            }
        } catch let error as DiskCacheError {
            throw error
        } catch {
            throw .failed("make \(path)", error.localizedDescription)
        }
    }

    /// Renames a file, and its log, replacing an older one of the new name.
    static func moveAside(_ path: String) throws(DiskCacheError) {
        let files = FileManager.default
        for end in ["", "-wal", "-shm"] {
            let (old, new) = (path + end, path + ".damaged" + end)
            do {
                if files.fileExists(atPath: new) { try files.removeItem(atPath: new) }
                if files.fileExists(atPath: old) { try files.moveItem(atPath: old, toPath: new) }
            } catch {
                throw .failed("move \(old) to \(new)", error.localizedDescription)
            }
        }
    }
}
