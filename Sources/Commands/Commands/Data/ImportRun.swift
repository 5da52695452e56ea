import Glibc
import JSONTree
import WireProtocol

/// One import from its start, or from where an earlier one was stopped.
struct ImportRun {
    private let database: RemoteDatabase
    private let source: ImportSource
    private let target: DatabasePath
    private let choice: ImportCommand

    private var pieces: FilteredPieces
    private var isRead = false
    private var sender: ImportSender
    private var progress: Progress

    /// Values that were found, and bytes of those that this run wrote.
    private var valueCount = 0
    private var writtenByteCount = 0

    /// The record beside the file; nil for a pipe, or where it cannot be written.
    private var record: ImportRecord?
    private let recordPath: String
    private var lastSave = ContinuousClock.now
    /// Between two of its changes: each waits for the disk.
    private static let savePause = Duration.milliseconds(200)

    init(
        _ database: RemoteDatabase,
        _ source: ImportSource,
        _ target: DatabasePath,
        _ choice: ImportCommand,
    ) throws(CommandError) {
        self.database = database
        self.source = source
        self.target = target
        self.choice = choice
        // So small that each value without children is a piece.
        let pieceByteCount = choice.merge ? 1 : choice.partByteLimit
        do throws(PathError) {
            let filter = try Path(choice.part.description)
            pieces = FilteredPieces(byteCount: pieceByteCount, filter: filter)
        } catch {
            throw .failed("--filter \(choice.part.description): \(FaultText.path(error))")
        }
        sender = ImportSender(database, target, choice, from: 0)
        progress = Progress("importing", database.console)
        recordPath = ImportRecord.path(of: source.name)
        if let byteCount = source.byteCount {
            record = ImportRecord(
                target: database.address.describe(target),
                filter: choice.part.description,
                merges: choice.merge,
                byteCount: byteCount,
                modified: source.modified
            )
        }
    }

    /// Goes to where an earlier import of the same kind was stopped; false when there was none.
    ///
    /// - Throws: `CommandError` when another import of the file was stopped, or the file has changed since.
    mutating func resume() throws(CommandError) -> Bool {
        guard let record, let old = try ImportRecord.load(recordPath) else { return false }
        guard old.isSameSource(as: record) else {
            throw .failed(
                "\(source.name) has changed since its import into \(old.target) was stopped;"
                    + " remove \(recordPath) to start anew"
            )
        }
        guard old.isSameImport(as: record) else {
            throw .failed(
                "an import of \(source.name) (--filter \(old.filter)\(old.merges ? " --merge" : ""))"
                    + " into \(old.target) was stopped; finish it, or remove \(recordPath)"
            )
        }
        if old.confirmedOffset > 0, try database.isEmpty(target) {
            database.console.say("the data of the import that was stopped is gone: starting anew")
            return false
        }
        self.record = old
        sender = ImportSender(database, target, choice, from: old.confirmedOffset)
        let doneBefore = source.isCompressed ? 0 : old.confirmedOffset
        progress = Progress("importing", database.console, doneBefore: doneBefore)
        database.console.say(
            "going on at \(location(old.confirmedOffset)) of \(source.name), where the last import was"
                + " stopped"
        )
        return true
    }

    /// How far an offset in the text is, for people.
    private func location(_ offset: Int) -> String {
        guard !source.isCompressed, let byteCount = source.byteCount, byteCount > 0 else {
            return "\(Amounts.bytes(offset)) of the text"
        }
        return "\(offset * 100 / byteCount)%"
    }

    /// Keeps a record from now on, so that the import can go on when it is stopped.
    mutating func begin() {
        do throws(CommandError) {
            try record?.save(recordPath)
        } catch {
            record = nil
            database.console.say("\(error): this import cannot go on when it is stopped")
        }
    }

    /// Writes all that is not written yet.
    mutating func perform() throws(CommandError) {
        do throws(CommandError) {
            try sendAll()
            while !sender.isIdle {
                try sender.wait()
                try note()
            }
        } catch {
            progress.clear()
            throw .failed("\(error)\(hint())")
        }
        progress.clear()
        if record != nil, unlink(recordPath) != 0, errno != ENOENT {
            throw Descriptor.systemError(recordPath)
        }
        guard valueCount > 0 || choice.part.keys.isEmpty else {
            throw .failed("\(source.name) has no data at \(choice.part.description)")
        }
        database.console.say(
            "imported \(Amounts.bytes(writtenByteCount)) into \(database.address.describe(target)) in "
                + "\(Amounts.time(progress.elapsed)), \(Amounts.rate(writtenByteCount, progress.elapsed))"
        )
    }

    /// Stores the progress of a failed run; returns a hint for the user.
    private mutating func hint() -> String {
        if record == nil { return "" }
        guard sender.mayHaveWritten else {
            // A run that did nothing leaves nothing; the file may be another the next time.
            if unlink(recordPath) != 0 {
                database.console.say("\(Descriptor.systemError(recordPath))")
            }
            return "\nnothing of the file is written"
        }
        do throws(CommandError) {
            try save()
        } catch {
            database.console.say("\(error)")
        }
        return "\nwhat came before is written; the same command goes on"
    }

    private mutating func sendAll() throws(CommandError) {
        let done = sender.confirmedOffset
        var merged = MergePart(byteLimit: choice.partByteLimit)
        while let piece = try nextPiece() {
            if !piece.isNothing { valueCount += 1 }
            if piece.endOffset <= done { continue }
            if choice.merge {
                try merge(piece, &merged)
            } else if !piece.isNothing || piece.mustFollow {
                writtenByteCount += piece.json.count
                try send(reading { () throws(JSONError) in try ImportPart(piece) })
            }
        }
        if let part = merged.part { try send(part) }
    }

    /// Adds the values of a piece to a part, after sending the part if it is full.
    private mutating func merge(
        _ piece: JSONPieces.Piece,
        _ merged: inout MergePart
    ) throws(CommandError) {
        for entry in try reading({ () throws(JSONError) in try MergePart.entries(piece) }) {
            writtenByteCount += entry.json.count
            if !merged.takes(entry) {
                if let part = merged.part { try send(part) }
                merged = MergePart(byteLimit: choice.partByteLimit)
            }
            merged.append(entry)
        }
    }

    private mutating func send(_ part: ImportPart) throws(CommandError) {
        try sender.send(part)
        try note()
    }

    private mutating func nextPiece() throws(CommandError) -> JSONPieces.Piece? {
        while true {
            do throws(JSONError) {
                if let piece = try pieces.next() { return piece }
            } catch {
                throw fault(error)
            }
            if isRead { return nil }
            if try !source.read({ pieces.append(Array($0)) }) {
                pieces.end()
                isRead = true
            }
        }
    }

    private func reading<T>(_ body: () throws(JSONError) -> T) throws(CommandError) -> T {
        do throws(JSONError) {
            return try body()
        } catch {
            throw fault(error)
        }
    }

    private func fault(_ error: JSONError) -> CommandError {
        let location = pieces.faultPosition.map { " at line \($0.line), column \($0.column)" } ?? ""
        return .failed("\(source.name): \(FaultText.json(error.reason))\(location)")
    }

    /// Shows and keeps how far it is.
    private mutating func note() throws(CommandError) {
        // For a compressed file, the bytes read: slightly more than is written.
        let done = source.isCompressed ? source.readByteCount : sender.confirmedOffset
        progress.show(done, of: source.byteCount)
        if lastSave.duration(to: .now) >= Self.savePause { try save() }
    }

    private mutating func save() throws(CommandError) {
        guard record != nil else { return }
        record?.confirmedOffset = sender.confirmedOffset
        try record?.save(recordPath)
        lastSave = .now
    }
}
