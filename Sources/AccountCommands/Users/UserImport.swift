package import DataCommands
package import Files
import JSONTree

/// `hearth users import`: the accounts of a file, sent in batches.
package struct UserImport {
    /// How a file is imported.
    package struct Choice: Sendable {
        package var hash = HashChoice()
        /// Whether accounts that are there already are replaced; else they stay as they are.
        package var overwrites = false
        /// Whether it is CSV; nil for what its name says.
        package var isCSV: Bool?

        package init() {}
    }

    /// Accounts of one request. Source: Identity Toolkit API, `accounts:batchCreate`.
    private static let batchCount = 1000

    /// Bytes of accounts in one request, far below what a server takes.
    private static let batchByteCount = 4 << 20

    /// Accounts that are told one by one when they could not be imported.
    private static let toldLimit = 100

    /// How the server begins its refusal of an account that is there already.
    static let existing = "localId belongs to an existing account"

    private let service: AccountService
    private let project: String
    /// nil of an older server, which does not tell it.
    private let taken: TakenSignIn?
    private let choice: Choice
    private let hashing: JSONObjectText
    private var batch: [ImportedUser] = []
    private var batchSize = 0
    private var importedCount = 0
    private var existingCount = 0
    private var failedCount = 0
    /// Accounts that are there now, and that nobody can sign in with.
    private var closedCount = 0

    /// Imports a file; `-` is standard input. Gzip is expanded.
    ///
    /// What failed is told by its place, and the exit code is 1. The same command does what is left when it is given again.
    ///
    /// - Throws: `CommandError` when the file is of no use, or the server refuses all of it.
    package static func run(
        _ path: String,
        into service: AccountService,
        _ choice: Choice
    ) throws(CommandError) -> CommandOutcome {
        let hashing = try choice.hash.members()
        let source = try ImportSource(path)
        let name = path.lowercased()
        let isCSV = choice.isCSV ?? (name.hasSuffix(".csv") || name.hasSuffix(".csv.gz"))
        let realm = try RealmDescription.of(service.database)
        var run = UserImport(
            service: service,
            project: try service.project(realm),
            taken: realm.taken,
            choice: choice,
            hashing: hashing
        )
        if isCSV { try run.readRows(source) } else { try run.readObjects(source) }
        try run.send(source)
        return run.outcome(path)
    }

    private init(
        service: AccountService,
        project: String,
        taken: TakenSignIn?,
        choice: Choice,
        hashing: JSONObjectText
    ) {
        self.service = service
        self.project = project
        self.taken = taken
        self.choice = choice
        self.hashing = hashing
    }

    // MARK: - Reading

    private mutating func readObjects(_ source: ImportSource) throws(CommandError) {
        var objects = UserObjects()
        try readParts(
            source,
            { (bytes) throws(UserFileError) in try objects.read(bytes) },
            { (item) throws(ImportedUser.Fault) in try ImportedUser(item) },
            place: { "users[\($0.index)] (line \($0.line))" }
        )
        do throws(UserFileError) { try objects.finish() } catch { throw fault(error, source) }
    }

    private mutating func readRows(_ source: ImportSource) throws(CommandError) {
        var rows = UserRows()
        let convert = { (row: UserRows.Row) throws(ImportedUser.Fault) in try ImportedUser(row) }
        let place = { (row: UserRows.Row) in "line \(row.line)" }
        try readParts(
            source,
            { (bytes) throws(UserFileError) in try rows.read(bytes) },
            convert,
            place: place
        )
        let last: [UserRows.Row]
        do throws(UserFileError) { last = try rows.finish() } catch { throw fault(error, source) }
        for row in last { try add(row, convert, place: place, source) }
    }

    private mutating func readParts<Item>(
        _ source: ImportSource,
        _ read: (UnsafeRawBufferPointer) throws(UserFileError) -> [Item],
        _ convert: (Item) throws(ImportedUser.Fault) -> ImportedUser,
        place: (Item) -> String
    ) throws(CommandError) {
        while true {
            var items: Result<[Item], UserFileError> = .success([])
            let isMore = try source.read { bytes in
                items = Result { () throws(UserFileError) in try read(bytes) }
            }
            switch items {
            case .failure(let error): throw fault(error, source)
            case .success(let items):
                for item in items { try add(item, convert, place: place, source) }
            }
            guard isMore else { return }
        }
    }

    private func fault(_ error: UserFileError, _ source: ImportSource) -> CommandError {
        let done = importedCount + existingCount
        let rest = done == 0 ? "" : "; the \(done) accounts before it are there"
        return .failed("\(source.name), \(error.text)\(rest)")
    }

    private mutating func add<Item>(
        _ item: Item,
        _ convert: (Item) throws(ImportedUser.Fault) -> ImportedUser,
        place: (Item) -> String,
        _ source: ImportSource
    ) throws(CommandError) {
        let user: ImportedUser
        do throws(ImportedUser.Fault) {
            user = try convert(item)
        } catch {
            tell(place(item), error.words)
            return
        }
        if batch.count == Self.batchCount || batchSize + user.json.count > Self.batchByteCount {
            try send(source)
        }
        batch.append(user)
        batchSize += user.json.count
    }

    // MARK: - Sending

    /// Sends what has been gathered.
    private mutating func send(_ source: ImportSource) throws(CommandError) {
        guard !batch.isEmpty else { return }
        var body = hashing
        body.add("allowOverwrite", choice.overwrites)
        var users: [UInt8] = [UInt8(ascii: "[")]
        for user in batch {
            if users.count > 1 { users.append(UInt8(ascii: ",")) }
            users += user.json
        }
        body.add("users", json: users + [UInt8(ascii: "]")])
        let answer: [UInt8]
        do throws(CommandError) {
            answer = try service.call("accounts:batchCreate", of: project, json: body.bytes)
        } catch {
            guard importedCount + existingCount > 0 else { throw error }
            throw .failed(
                "\(error)\nup to \(batch[0].place) all is done; the same command does the rest"
            )
        }
        try takeErrors(answer)
        batch.removeAll(keepingCapacity: true)
        batchSize = 0
        showProgress(source)
    }

    /// Counts what the server says of a batch.
    private mutating func takeErrors(_ answer: [UInt8]) throws(CommandError) {
        var errors: [(place: String, words: String)] = []
        var presentCount = 0
        var untaken: Set<Int> = []
        try service.tree(answer).member("error").visitChildren { _, error in
            // The index 0 may be left out.
            let index = error.member("index")
            let number = index.integer ?? index.string.flatMap { Int64($0) } ?? 0
            untaken.insert(Int(number))
            let words = error.member("message").string ?? "refused without a reason"
            if words.hasPrefix(Self.existing), !choice.overwrites {
                presentCount += 1
            } else {
                let isKnown = batch.indices.contains(Int(number))
                errors.append((isKnown ? batch[Int(number)].place : "users[?]", words))
            }
            return true
        }
        existingCount += presentCount
        importedCount += max(0, batch.count - presentCount - errors.count)
        for (place, words) in errors { tell(place, words) }
        guard let taken else { return }
        for (index, user) in batch.enumerated() where !untaken.contains(index) {
            if let fault = user.ways.fault(at: taken) { warn(user.place, fault) }
        }
    }

    /// Says that nobody can sign in with an account that is imported.
    private mutating func warn(_ place: String, _ words: String) {
        closedCount += 1
        let console = service.database.console
        if closedCount <= Self.toldLimit {
            console.say("warning: \(place): \(words)")
        } else if closedCount == Self.toldLimit + 1 {
            console.say(
                "more accounts than \(Self.toldLimit) cannot sign in; the others are counted"
            )
        }
    }

    /// Says why an account is not imported.
    private mutating func tell(_ place: String, _ words: String) {
        failedCount += 1
        let console = service.database.console
        if failedCount <= Self.toldLimit {
            console.say("\(place): \(words)")
        } else if failedCount == Self.toldLimit + 1 {
            console.say("more accounts than \(Self.toldLimit) failed; the others are counted")
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

    private static func accounts(_ count: Int) -> String {
        count == 1 ? "1 account" : "\(count) accounts"
    }

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
