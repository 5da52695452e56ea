import ArgumentParser
import FileRecords
import Files
import HTTPClient
import JSONTree
import WriteAheadLog

extension FilesCommand {
    struct Download: Command {
        static let configuration = CommandConfiguration(
            commandName: "download",
            abstract: "Copy a bucket into a folder: bytes, metadata and download tokens.",
            discussion: """
                Examples:
                  hearth files download photos folder
                  hearth files download demo.appspot.com folder --store https://storage.googleapis.com --store-token-file token

                The bytes go below FOLDER/objects, and FOLDER/objects.jsonl has a line for each object. What was stopped goes \
                on: bytes that are there with the same hash are not fetched again.
                """,
        )

        @Argument(help: "The bucket.")
        var bucket: String

        @Argument(help: "The folder; it is made if it is missing.", completion: .directory)
        var folder: String

        @Option(help: .value("text", "Only files whose names begin with it."))
        var prefix: String?

        @OptionGroup(title: "Store")
        var store: StoreOptions

        func outcome() throws(CommandError) -> CommandOutcome {
            let source = try store.bucket(bucket)
            let target = ObjectFolder(path: folder)
            var transfer = Transfer("download", source.database.console)
            defer { transfer.progress.clear() }
            do {
                try target.make()
                let list = try FileDraft(target.full(ObjectFolder.list))
                try source.visit(prefix: prefix) { object throws(CommandError) in
                    var object = object
                    let place = try target.place(of: object.name)
                    object.path = place
                    let isThere = try target.has(object, at: place)
                    try transfer.run(object, isThere: isThere) { () throws(CommandError) in
                        try fetch(object, from: source, to: target.full(place))
                    }
                    do throws(FileError) { try list.write(object.line.text + [0x0A]) } catch {
                        throw .failed("\(error)")
                    }
                }
                if transfer.faults.isEmpty { try list.commit() }
            } catch {
                return .failed("error: \(error)", output: transfer.summary)
            }
            return transfer.outcome
        }

        private func fetch(
            _ object: StoredObject,
            from source: StoredBucket,
            to path: String
        ) throws(CommandError) {
            var crc32c: UInt32 = 0
            do {
                let draft = try FileDraft(path)
                try source.database.perform(source.download(object)) { bytes in
                    try draft.write(bytes)
                    crc32c = CRC32C.update(crc32c, bytes)
                }
                guard FileContent.text(crc32c: crc32c) == object.crc32c else {
                    throw CommandError.failed("came with other bytes than those of its crc32c")
                }
                try draft.commit()
            } catch {
                throw error as? CommandError ?? .failed("\(error)")
            }
        }
    }

    struct Upload: Command {
        static let configuration = CommandConfiguration(
            commandName: "upload",
            abstract: "Copy a folder that 'download' has made into a bucket.",
            discussion: """
                Examples:
                  hearth files upload folder photos --admin-secret-file hearth-data/admin-secret

                Metadata and download tokens come along, so links to files stay the same but for the server's address. \
                What was stopped goes on: files that the bucket has with the same hash are not sent again. Others of the same \
                name are replaced.
                """,
        )

        @Argument(help: "The folder.", completion: .directory)
        var folder: String

        @Argument(help: "The bucket.")
        var bucket: String

        @OptionGroup(title: "Store")
        var store: StoreOptions

        func outcome() throws(CommandError) -> CommandOutcome {
            let source = ObjectFolder(path: folder)
            let objects = try source.objects()
            let target = try store.bucket(bucket)
            var hashes: [String: String] = [:]
            try target.visit(prefix: nil) { hashes[$0.name] = "\($0.crc32c) \($0.byteCount)" }
            let total = objects.reduce(0) { $0 + $1.byteCount }
            var transfer = Transfer("upload", target.database.console, of: total)
            defer { transfer.progress.clear() }
            for object in objects {
                let isThere = hashes[object.name] == "\(object.crc32c) \(object.byteCount)"
                do throws(CommandError) {
                    try transfer.run(object, isThere: isThere) { () throws(CommandError) in
                        let file = try Descriptor.reading(source.full(object.path ?? ""))
                        guard try Descriptor.byteCount(file.status()) == object.byteCount else {
                            throw .failed("\(file.name): has not the size of its line")
                        }
                        try target.database.perform(
                            target.upload(object) { try file.read(into: $0) }
                        )
                    }
                } catch {
                    return .failed("error: \(error)", output: transfer.summary)
                }
            }
            return transfer.outcome
        }
    }
}

/// A series of objects that are copied: how far it is, and what did not work.
private struct Transfer {
    private let verb: String
    private let total: Int?
    var progress: Progress
    private(set) var faults: [String] = []
    private var (copiedCount, thereCount, byteCount, doneByteCount) = (0, 0, 0, 0)

    /// Failures in a row after which the next would fail, too.
    private static let faultLimit = 10
    private var faultsInARow = 0

    init(_ verb: String, _ console: Console, of total: Int? = nil) {
        self.verb = verb
        self.total = total
        progress = Progress(verb, console)
    }

    /// Copies an object unless it is there.
    ///
    /// - Throws: The failure of one after several.
    mutating func run(
        _ object: StoredObject,
        isThere: Bool,
        _ copy: () throws(CommandError) -> Void
    ) throws(CommandError) {
        if isThere {
            thereCount += 1
        } else {
            do throws(CommandError) {
                try copy()
                copiedCount += 1
                byteCount += object.byteCount
                faultsInARow = 0
            } catch {
                faults.append("\(object.name): \(error)")
                faultsInARow += 1
                if faultsInARow == Self.faultLimit { throw error }
            }
        }
        doneByteCount += object.byteCount
        progress.show(doneByteCount, of: total)
    }

    var summary: String {
        "\(verb): \(Amounts.count(copiedCount, "file")) copied, \(Amounts.bytes(byteCount)); "
            + "\(thereCount) were there; \(faults.count) failed"
    }

    var outcome: CommandOutcome {
        if faults.isEmpty { return .done(summary) }
        return .failed(
            (faults.prefix(100).map { "error: \($0)" } + ["The same command does the rest."])
                .joined(separator: "\n"),
            output: summary
        )
    }
}
