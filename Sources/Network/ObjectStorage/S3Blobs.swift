package import BlobStore
import HTTPClient
import JSONTree
import Synchronization

/// Blobs in a bucket of an S3 server, under their hash.
///
///     PREFIX/ab/cdef…     the SHA-256 in hexadecimal, its first two digits as a folder
///
/// Each call takes a client that no other uses, and gives it back: so connections are used again, and there are as many
/// as calls at a time. What is acknowledged is as durable as the store makes it.
package final class S3Blobs: Blobs {
    /// Clients that wait for a call; more are let go.
    private static let idleLimit = 32

    private struct State {
        var idle: [IdleClient] = []
        /// How often each blob is open.
        var openCounts: [BlobHash: Int] = [:]
        /// Those that are being removed.
        var removed: Set<BlobHash> = []
    }

    private let configuration: ObjectStoreConfiguration
    private let clock: ObjectStoreClock
    private let prefix: String
    private let state = Mutex(State())

    /// Names a bucket, and a prefix that all blobs have there, with its slash; connects with the first call.
    ///
    /// - Throws: `ObjectStoreSettingError` for a prefix that no name can have.
    package init(
        _ configuration: ObjectStoreConfiguration,
        prefix: String = "blobs/",
        clock: ObjectStoreClock = .system
    ) throws(ObjectStoreSettingError) {
        let longest = prefix + String(repeating: "0", count: 65)
        guard ObjectKey(longest) != nil, prefix.isEmpty || prefix.hasSuffix("/"),
            !prefix.hasPrefix("/")
        else { throw .prefix(prefix) }
        self.configuration = configuration
        self.prefix = prefix
        self.clock = clock
    }

    /// Finds out whether bucket, address and credentials are right.
    ///
    /// - Throws: `remote`, which says what is wrong.
    package func check() throws(BlobError) {
        try withClient { client throws(ObjectStoreError) in try client.check() }
    }

    package func path(of hash: BlobHash) -> String {
        configuration.address.origin + configuration.address.path(key(hash))
    }

    private func key(_ hash: BlobHash) -> ObjectKey {
        guard let key = ObjectKey("\(prefix)\(hash.hex.prefix(2))/\(hash.hex.dropFirst(2))") else {
            preconditionFailure("the prefix was checked")
        }
        return key
    }

    // MARK: - Writing

    /// Stores a draft, unless its bytes are there. Reads the draft in pieces as they are sent.
    package func adopt(_ draft: BlobDraft) throws(BlobError) -> Adoption {
        guard let sums = draft.sealed else { preconditionFailure("a draft is sealed first") }
        let key = key(sums.hash)
        let source = ObjectSource(byteCount: sums.byteCount) { offset, buffer in
            let bytes = try draft.read(at: offset, count: buffer.count)
            buffer.copyBytes(from: bytes)
            return bytes.count
        }
        return try withClient { client throws(ObjectStoreError) in
            let found = try client.head(key)
            if found?.byteCount == sums.byteCount { return .present }
            try client.put(source, at: key, digest: sums.hash.hex)
            return found == nil ? .new : .replaced
        }
    }

    /// Removes a blob that is not open. One that is stays, for a store would end its readers: a later sweep takes it.
    package func remove(_ hash: BlobHash) throws(BlobError) {
        let isFree = state.withLock { state in
            state.openCounts[hash] == nil && state.removed.insert(hash).inserted
        }
        guard isFree else { return }
        defer { state.withLock { _ = $0.removed.remove(hash) } }
        try withClient { client throws(ObjectStoreError) in try client.delete(key(hash)) }
    }

    // MARK: - Reading

    package func open(_ hash: BlobHash) throws(BlobError) -> any BlobReader {
        let isThere = state.withLock { state in
            guard !state.removed.contains(hash) else { return false }
            state.openCounts[hash, default: 0] += 1
            return true
        }
        guard isThere else { throw .missing(path: path(of: hash)) }
        do throws(BlobError) {
            let key = key(hash)
            let facts = try withClient { client throws(ObjectStoreError) in try client.head(key) }
            guard let facts else { throw .missing(path: path(of: hash)) }
            return S3BlobReader(self, hash, byteCount: facts.byteCount)
        } catch {
            close(hash)
            throw error
        }
    }

    /// Notes that a reader ended.
    fileprivate func close(_ hash: BlobHash) {
        state.withLock { state in
            let count = state.openCounts[hash] ?? 0
            state.openCounts[hash] = count > 1 ? count - 1 : nil
        }
    }

    /// The bytes of a part of a blob.
    fileprivate func read(_ hash: BlobHash, _ range: Range<Int64>) throws(BlobError) -> [UInt8] {
        let key = key(hash)
        return try withClient(hash) { client throws(ObjectStoreError) in
            var bytes: [UInt8] = []
            try client.get(key, range) { part in
                bytes += part
                return true
            }
            return bytes
        }
    }

    package func list(after hash: BlobHash?, limit: Int) throws(BlobError) -> BlobPage {
        var entries: [BlobPage.Entry] = []
        var last = hash.map { key($0).text }
        while entries.count < limit {
            let wanted = min(limit - entries.count, ObjectStoreLimits.listCount)
            let start = last
            let page = try withClient { client throws(ObjectStoreError) in
                try client.list(prefix: prefix, after: start, limit: wanted)
            }
            entries += page.objects.compactMap(entry)
            if page.isLast { return BlobPage(entries: entries, isLast: true) }
            last = page.objects.last?.key
        }
        return BlobPage(entries: entries, isLast: false)
    }

    /// The blob that an object is; nil for one that others keep below the prefix.
    private func entry(_ object: ListedObject) -> BlobPage.Entry? {
        let name = object.key.dropFirst(prefix.count)
        guard name.utf8.count == 65, name.dropFirst(2).first == "/",
            let hash = BlobHash(hex: String(name.prefix(2) + name.dropFirst(3)))
        else { return nil }
        return BlobPage.Entry(hash: hash, byteCount: object.byteCount, modified: object.modified)
    }

    // MARK: - Clients

    /// Runs a call with a client of its own. The blob that `hash` names is missing when the store says so.
    private func withClient<Value>(
        _ hash: BlobHash? = nil,
        _ call: (ObjectStore) throws(ObjectStoreError) -> Value
    ) throws(BlobError) -> Value {
        let idle = state.withLock { $0.idle.popLast() }
        let client: IdleClient
        if let idle { client = idle } else { client = try makeClient() }
        defer {
            state.withLock { if $0.idle.count < Self.idleLimit { $0.idle.append(client) } }
        }
        do throws(ObjectStoreError) { return try call(client.store) } catch {
            if let hash, error.isMissing { throw .missing(path: path(of: hash)) }
            throw .remote("\(error)")
        }
    }

    private func makeClient() throws(BlobError) -> IdleClient {
        do throws(HTTPError) {
            return IdleClient(store: try ObjectStore(configuration, clock: clock))
        } catch {
            throw .remote("\(error)")
        }
    }
}

/// A client between two calls. `@unchecked`: one thread at a time owns it, as it takes it out of the list of idle ones, and
/// libcurl lets another thread go on with a handle.
private struct IdleClient: @unchecked Sendable {
    let store: ObjectStore
}

/// A blob in a bucket. Asks for more than is read next once it is read in order. `@unchecked`: one worker at a time
/// owns it, as `BlobReader` says.
private final class S3BlobReader: BlobReader, @unchecked Sendable {
    /// Bytes that are asked for at a time, at most, when a blob is read in order.
    private static let aheadByteCount: Int64 = 1 << 20

    let byteCount: Int64
    private let blobs: S3Blobs
    private let hash: BlobHash
    private var isOpen = true
    /// Bytes that the store gave, from `begin` on.
    private var window: [UInt8] = []
    private var begin: Int64 = 0
    /// Where a read in order would go on.
    private var next: Int64?

    init(_ blobs: S3Blobs, _ hash: BlobHash, byteCount: Int64) {
        self.blobs = blobs
        self.hash = hash
        self.byteCount = byteCount
    }

    deinit { close() }

    func read(at offset: Int64, count: Int) throws(BlobError) -> [UInt8] {
        let end = min(offset + Int64(count), byteCount)
        guard offset >= 0, offset < end else { return [] }
        defer { next = end }
        if offset < begin || end > begin + Int64(window.count) {
            let ahead = next == offset ? offset + Self.aheadByteCount : end
            let range = offset..<min(max(end, ahead), byteCount)
            window = []
            window = try blobs.read(hash, range)
            begin = offset
            guard window.count == range.count else {
                throw .cutShort(
                    path: blobs.path(of: hash),
                    byteCount: offset + Int64(window.count),
                    expected: byteCount
                )
            }
        }
        return Array(window[Int(offset - begin)..<Int(end - begin)])
    }

    func close() {
        guard isOpen else { return }
        isOpen = false
        window = []
        blobs.close(hash)
    }
}
