import Files
import JSONTree

/// `hearth users import`: the accounts of a file, sent in batches.
struct UserImport {
    /// Accounts of one request. Source: Identity Toolkit API, `accounts:batchCreate`.
    private static let batchCount = 1000

    /// Bytes of accounts in one request, far below a server's limit.
    private static let batchByteCount = 4 << 20

    /// How many failed accounts are reported one by one.
    private static let shownLimit = 100

    /// How the server begins its refusal of an account that is there already.
    static let existing = "localId belongs to an existing account"

    private let service: AdministeredServer
    private let project: String
    /// nil for an older server, which does not give it.
    private let taken: TakenSignIn?
    /// Whether accounts that are there already are replaced; else they stay as they are.
    private let overwrites: Bool
    private let hashing: JSONMembers
    private var batch: [ImportedUser] = []
    private var batchSize = 0
    private var importedCount = 0
    private var existingCount = 0
    private var failedCount = 0
    /// Imported accounts that no one can sign in with.
    private var closedCount = 0

    init(
        service: AdministeredServer,
        project: String,
        taken: TakenSignIn?,
        overwrites: Bool,
        hashing: JSONMembers
    ) {
        self.service = service
        self.project = project
        self.taken = taken
        self.overwrites = overwrites
        self.hashing = hashing
    }

    /// Imports a file. Gzip is expanded.
    ///
    /// Each failure is reported with its location, and the exit code is 1. Repeating the command imports the rest.
    ///
    /// - Throws: `CommandError` when the file is of no use, or the server refuses all of it.
    mutating func outcome(
        of source: ImportSource,
        isCSV: Bool,
        _ path: String
    ) throws(CommandError) -> CommandOutcome {
        if isCSV { try readRows(source) } else { try readObjects(source) }
        try send(source)
        return outcome(path)
    }

    // MARK: - Reading

    private mutating func readObjects(_ source: ImportSource) throws(CommandError) {
        var objects = UserObjects()
        try readParts(source) { bytes throws(UserFileError) in
            try objects.read(bytes).map { item in
                (item.location, Result { () throws(Fault) in try ImportedUser(object: item) })
            }
        }
        do throws(UserFileError) { try objects.finish() } catch { throw fault(error, source) }
    }

    private mutating func readRows(_ source: ImportSource) throws(CommandError) {
        var rows = UserRows()
        try readParts(source) { bytes throws(UserFileError) in
            try rows.read(bytes).map { Self.user(of: $0) }
        }
        let last: [UserRows.Row]
        do throws(UserFileError) { last = try rows.finish() } catch { throw fault(error, source) }
        for row in last { try add(Self.user(of: row), source) }
    }

    private static func user(of row: UserRows.Row) -> Read {
        (row.location, Result { () throws(Fault) in try ImportedUser(row: row) })
    }

    private typealias Fault = ImportedUser.Fault
    private typealias Read = (location: String, user: Result<ImportedUser, Fault>)

    private mutating func readParts(
        _ source: ImportSource,
        _ read: (UnsafeRawBufferPointer) throws(UserFileError) -> [Read]
    ) throws(CommandError) {
        var isMore = true
        while isMore {
            var users: Result<[Read], UserFileError> = .success([])
            isMore = try source.read { bytes in
                users = Result { () throws(UserFileError) in try read(bytes) }
            }
            switch users {
            case .failure(let error): throw fault(error, source)
            case .success(let users): for user in users { try add(user, source) }
            }
        }
    }

    private func fault(_ error: UserFileError, _ source: ImportSource) -> CommandError {
        let done = importedCount + existingCount
        let rest = done == 0 ? "" : "; the \(done) accounts before it are there"
        return .failed("\(source.name), \(error.text)\(rest)")
    }

    private mutating func add(_ read: Read, _ source: ImportSource) throws(CommandError) {
        let user: ImportedUser
        do throws(Fault) {
            user = try read.user.get()
        } catch {
            return reject(read.location, error.words)
        }
        if batch.count == Self.batchCount || batchSize + user.json.count > Self.batchByteCount {
            try send(source)
        }
        batch.append(user)
        batchSize += user.json.count
    }

    // MARK: - Sending

    /// Sends the gathered accounts.
    private mutating func send(_ source: ImportSource) throws(CommandError) {
        guard !batch.isEmpty else { return }
        var body = hashing
        body.add("allowOverwrite", .boolean(overwrites))
        body.add("users", .list(batch.map { .raw($0.json) }))
        let answer: [UInt8]
        do throws(CommandError) {
            answer = try service.call("accounts:batchCreate", of: project, body.value)
        } catch {
            guard importedCount + existingCount > 0 else { throw error }
            throw .failed(
                "\(error)\nup to \(batch[0].location) all is done; the same command does the rest"
            )
        }
        try takeErrors(answer)
        batch.removeAll(keepingCapacity: true)
        batchSize = 0
        showProgress(source)
    }

    /// Counts the server's results for a batch.
    private mutating func takeErrors(_ answer: [UInt8]) throws(CommandError) {
        var errors: [(location: String, words: String)] = []
        var presentCount = 0
        var untaken: Set<Int> = []
        for error in try service.tree(answer).member("error").elements {
            // The index 0 may be left out.
            let index = error.member("index")
            let number = index.integer ?? index.string.flatMap { Int64($0) } ?? 0
            untaken.insert(Int(number))
            let words = error.member("message").string ?? "refused without a reason"
            if words.hasPrefix(Self.existing), !overwrites {
                presentCount += 1
            } else {
                let isKnown = batch.indices.contains(Int(number))
                errors.append((isKnown ? batch[Int(number)].location : "users[?]", words))
            }
        }
        existingCount += presentCount
        importedCount += max(0, batch.count - presentCount - errors.count)
        for (location, words) in errors { reject(location, words) }
        guard let taken else { return }
        for (index, user) in batch.enumerated() where !untaken.contains(index) {
            if let fault = user.ways.fault(at: taken) { warn(user.location, fault) }
        }
    }

    /// Warns that no one can sign in with an imported account.
    private mutating func warn(_ location: String, _ words: String) {
        report(\.closedCount, "warning: \(location): \(words)", what: "cannot sign in")
    }

    /// Says why an account is not imported.
    private mutating func reject(_ location: String, _ words: String) {
        report(\.failedCount, "\(location): \(words)", what: "failed")
    }

    /// Counts an account, and says a line of it unless there were too many.
    private mutating func report(
        _ counter: WritableKeyPath<Self, Int>,
        _ line: String,
        what: String,
    ) {
        self[keyPath: counter] += 1
        let console = service.database.console
        if self[keyPath: counter] <= Self.shownLimit {
            console.say(line)
        } else if self[keyPath: counter] == Self.shownLimit + 1 {
            console.say("more accounts than \(Self.shownLimit) \(what); the others are counted")
        }
    }

    private func showProgress(_ source: ImportSource) {
        let console = service.database.console
        guard console.showsProgress else { return }
        var line = "imported \(Self.accounts(importedCount))"
        if let total = source.byteCount, total > 0 {
            line += ", \(min(100, source.readByteCount * 100 / total))%"
        }
        console.showLine(line)
    }

    private static func accounts(_ count: Int) -> String { Amounts.count(count, "account") }

    private func outcome(_ path: String) -> CommandOutcome {
        let console = service.database.console
        if console.showsProgress, importedCount > 0 { console.showLine("") }
        var words = "imported \(Self.accounts(importedCount)) into project \(project)"
        if existingCount > 0 {
            words += "; \(existingCount) were there already and stay as they are"
            words += " (--overwrite replaces them)"
        }
        if closedCount > 0 {
            console.say(
                "warning: \(Self.accounts(closedCount)) of \(path) cannot sign in to this server as they are"
            )
        }
        guard failedCount > 0 else { return .done(words) }
        return .failed("\(Self.accounts(failedCount)) of \(path) failed", output: words)
    }
}
