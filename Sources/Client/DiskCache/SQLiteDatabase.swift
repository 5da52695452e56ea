import CSQLite

/// One connection to a SQLite file: the little of it that the cache needs. Belongs to one thread at a time. Statements
/// are prepared once for each text.
final class SQLiteDatabase {
    struct Failure: Error {
        /// The primary result code.
        let code: Int32
        let text: String

        var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }
        var isDamage: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB }

        /// Whether a file that has just been opened says in its header that it takes a later SQLite to read or to write
        /// it. SQLite has no code of its own for the first.
        var isOfLaterFormat: Bool {
            code == SQLITE_READONLY || code == SQLITE_ERROR && text == "unsupported file format"
        }
    }

    /// A value bound to a `?`.
    enum Value {
        case integer(Int64)
        case bytes([UInt8])
    }

    /// The current row of a query; good within the call it is given to.
    struct Row {
        fileprivate let statement: OpaquePointer

        func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

        func bytes(_ column: Int32) -> [UInt8] {
            guard let start = sqlite3_column_blob(statement, column) else { return [] }
            let count = Int(sqlite3_column_bytes(statement, column))
            return Array(UnsafeRawBufferPointer(start: start, count: count))
        }

        func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }
    }

    /// Nil once closed.
    private var handle: OpaquePointer?
    private var statements: [String: OpaquePointer] = [:]

    /// Opens a file that is there.
    ///
    /// - Throws: SQLite's error; a file that is not a database fails at its first read.
    init(path: String) throws(Failure) {
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX
        let result = sqlite3_open_v2(path, &handle, flags, nil)
        guard result == SQLITE_OK else {
            let failure = failure(result)
            close()
            throw failure
        }
    }

    deinit { close() }

    /// Closes the connection, which folds the log into the file; harmless when repeated.
    func close() {
        for statement in statements.values { sqlite3_finalize(statement) }
        statements = [:]
        sqlite3_close(handle)
        handle = nil
    }

    func run(_ sql: String, _ values: Value...) throws(Failure) { try step(sql, values) { _ in } }

    /// Performs a statement that takes effect when it is prepared, as some pragmas do.
    func set(_ sql: String) throws(Failure) { try check(sqlite3_exec(handle, sql, nil, nil, nil)) }

    /// Calls `body` with each row of a query.
    func rows(_ sql: String, _ values: Value..., body: (Row) -> Void) throws(Failure) {
        try step(sql, values, body)
    }

    /// The first column of the first row; nil when there is none.
    func integer(_ sql: String, _ values: Value...) throws(Failure) -> Int64? {
        var result: Int64?
        try step(sql, values) { row in result = result ?? row.integer(0) }
        return result
    }

    func text(_ sql: String) throws(Failure) -> String? {
        var result: String?
        try step(sql, []) { row in result = result ?? row.text(0) }
        return result
    }

    private func step(_ sql: String, _ values: [Value], _ body: (Row) -> Void) throws(Failure) {
        let statement = try prepare(sql)
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, value) in values.enumerated() {
            try check(bind(value, to: Int32(index + 1), of: statement))
        }
        while true {
            let result = sqlite3_step(statement)
            if result == SQLITE_DONE { return }
            guard result == SQLITE_ROW else { throw failure(result) }
            body(Row(statement: statement))
        }
    }

    private func prepare(_ sql: String) throws(Failure) -> OpaquePointer {
        if let statement = statements[sql] { return statement }
        var statement: OpaquePointer?
        let result = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
        guard result == SQLITE_OK, let statement else { throw failure(result) }
        statements[sql] = statement
        return statement
    }

    private func bind(_ value: Value, to index: Int32, of statement: OpaquePointer) -> Int32 {
        switch value {
        case .integer(let integer): return sqlite3_bind_int64(statement, index, integer)
        case .bytes(let bytes):
            guard !bytes.isEmpty else { return sqlite3_bind_zeroblob(statement, index, 0) }
            return bytes.withUnsafeBufferPointer {
                sqlite3_bind_blob64(
                    statement,
                    index,
                    $0.baseAddress,
                    UInt64($0.count),
                    hearth_sqlite_transient()
                )
            }
        }
    }

    private func check(_ result: Int32) throws(Failure) {
        guard result == SQLITE_OK else { throw failure(result) }
    }

    private func failure(_ result: Int32) -> Failure {
        let text = handle.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(result)
        return Failure(code: result & 0xff, text: text.map { String(cString: $0) } ?? "\(result)")
    }
}
