import BlobStore
import DatabaseCore
import FileProtocol
import FileRecords
import JSONTree
import Logging
import Transport
import WireProtocol

/// The records of files, and what is known of all of them together: names in order, references of blobs, usage.
///
/// Records are in the reserved database. The rest is made of them at the start, and follows each commit.
@LoopActor
final class FileStore {
    private unowned let server: Server
    private let disk: FileDisk
    private(set) var catalog = FileCatalog()
    /// Records that were read lately.
    private var known: [ObjectAddress: KnownRecord] = [:]
    /// Records that are kept, of some 2 KB each.
    static let knownLimit = 1_024

    init(_ server: Server, _ disk: FileDisk) {
        self.server = server
        self.disk = disk
    }

    /// Reads every record; the log says which are damaged.
    func load() {
        var damaged: [Path] = []
        tree.visit({ catalog.add($0) }, damaged: { damaged.append($0) })
        for path in damaged.prefix(100) {
            server.log.critical(
                "a record of a file cannot be read: its object is not there",
                metadata: ["path": "\(path)"]
            )
        }
    }

    /// The records as they are now; what is seen in them may not be durable yet.
    var tree: FileTree { FileTree(root: server.engine.root(of: .files)) }

    func record(_ address: ObjectAddress) -> FileRecord? { known(address)?.record }

    /// The record of an object with what downloads say of it; nil when there is none.
    ///
    /// A record costs more to read than all else of a small download. So the last ones are kept, each for as long as its node
    /// in the tree is the same one.
    func known(_ address: ObjectAddress) -> KnownRecord? {
        let known = known[address]
        let path = known?.path ?? FileTree.path(address)
        let node = tree.root.descendant(at: path)
        if let known, known.node.isIdentical(to: node) { return known }
        guard let record = FileTree.record(node) else {
            self.known[address] = nil
            return nil
        }
        if self.known.count >= Self.knownLimit { self.known = [:] }
        let fresh = KnownRecord(record, path, node)
        self.known[address] = fresh
        return fresh
    }

    /// The generation of a write that is made now.
    func nextGeneration(_ now: Timestamp) -> Int64 {
        FileRecord.nextGeneration(after: catalog.lastGeneration, now: now)
    }

    // MARK: - Changes

    /// Changes objects by one commit; `then` is called once that is durable, or with the reason why it is not done.
    ///
    /// Callers decide and call this in one tick, so nothing comes between.
    func commit(
        _ changes: [FileChange],
        _ others: [(path: Path, node: Node)] = [],
        then: @escaping @LoopActor (FileFault?) -> Void
    ) {
        var writes = others
        for change in changes {
            guard let record = change.new ?? change.old else { continue }
            let path = FileTree.path(ObjectAddress(record.bucket, record.name))
            let text = change.new.map { String(decoding: $0.json, as: UTF8.self) }
            writes.append((path, text.map { Node(string: $0) } ?? .absent))
        }
        let before = tree.root
        let entries = writes.map { path, node in
            MergeEntry(target: WriteTarget(path: path), draft: Draft(node))
        }
        // After a power cut what is replaced may be there again.
        let held = changes.compactMap { $0.old.flatMap { hold($0.content) } }
        server.ask(.merge(.root, entries), of: .files) { response in
            withExtendedLifetime(held) {}
            switch response {
            case .done, .merged: then(nil)
            default: then(.busy(retryAfter: 5))
            }
        }
        // The engine takes a small write at once, or refuses it.
        if !tree.root.isIdentical(to: before) { catalog.apply(changes) }
    }

    /// Removes all objects and buckets that were made.
    func removeAll(then: @escaping @LoopActor (FileFault?) -> Void) {
        let all = catalog
        commit([], FileTree.roots.map { ($0, .absent) }, then: then)
        let isDone = FileTree.roots.allSatisfy { tree.root.descendant(at: $0).isAbsent }
        if isDone { catalog = FileCatalog(after: all) }
    }

    /// Calls `then` once everything that could be seen is durable.
    func whenDurable(_ then: @escaping @LoopActor () -> Void) {
        server.ask(.confirm, of: .files) { _ in then() }
    }

    // MARK: - Blobs

    /// Keeps the bytes of a file from being collected for as long as the slot lives; nil while they are being removed.
    func hold(_ content: FileContent) -> WorkSlot? {
        BlobHash(hex: content.blob).flatMap { disk.pin($0) }
    }
}

/// A record that was read, and what it was read of.
final class KnownRecord {
    let record: FileRecord
    let headers: DownloadHeaders
    /// The blob of its bytes; nil where the record names none.
    let blob: BlobHash?
    fileprivate let path: Path
    fileprivate let node: Node

    fileprivate init(_ record: FileRecord, _ path: Path, _ node: Node) {
        self.record = record
        self.path = path
        self.node = node
        headers = DownloadHeaders(record)
        blob = BlobHash(hex: record.content.blob)
    }
}
