import BlobStore
import Transport

/// A blob of the data folder that is open, shared by its downloads.
final class OpenBlob: Sendable {
    let hash: BlobHash
    let reader: any BlobReader
    private let worker: Worker

    init(_ hash: BlobHash, _ reader: any BlobReader, _ worker: Worker) {
        self.hash = hash
        self.reader = reader
        self.worker = worker
    }

    deinit {
        // The last descriptor of a blob that was removed gives its room on the disk back, which takes time.
        worker.post(.read { [reader] in withExtendedLifetime(reader) {} })
    }
}

/// Blobs that were opened a moment ago, so that one that is downloaded often is not looked up on the disk each time.
///
/// Each for five seconds: then a blob that was removed gives its room back, and one that was damaged and brought back by hand
/// is read as it is now.
struct OpenBlobs {
    /// Descriptors that are kept at most.
    static let limit = 256
    /// Nanoseconds for which a blob is kept.
    static let lifetime: UInt64 = 5_000_000_000

    private struct Entry {
        let blob: OpenBlob
        let opened: UInt64
    }

    private var blobs: [BlobHash: OpenBlob] = [:]
    /// In the order in which they were opened.
    private var line = WaitingLine<Entry>()

    /// Number of blobs.
    var count: Int { line.count }

    /// The blob of this hash; nil when it has to be opened.
    func blob(_ hash: BlobHash) -> OpenBlob? { blobs[hash] }

    /// Keeps a blob that was opened now, unless another download has opened it meanwhile; times are in nanoseconds of any clock
    /// that never goes back.
    mutating func keep(_ blob: OpenBlob, now: UInt64) {
        guard blobs[blob.hash] == nil else { return }
        if line.count == Self.limit { removeFirst() }
        blobs[blob.hash] = blob
        line.append(Entry(blob: blob, opened: now))
    }

    /// Has a blob opened anew, since its bytes could not be read.
    mutating func forget(_ blob: OpenBlob) {
        if blobs[blob.hash] === blob { blobs[blob.hash] = nil }
    }

    /// Lets go of those whose time is over.
    mutating func removeOld(now: UInt64) {
        while let first = line.first, now >= first.opened + Self.lifetime { removeFirst() }
    }

    private mutating func removeFirst() {
        if let entry = line.popFirst() { forget(entry.blob) }
    }
}
