package import JSONTree

/// What blobs are read from: a store, or a server that has one.
///
/// Every call blocks: call it on a worker. Calls may come from many threads at the same time.
package protocol BlobSource: Sendable {
    /// Opens a blob; what is open can be read to its end, also after `remove`.
    ///
    /// - Throws: `missing`, `notAFile`, `disk`, `remote`.
    func open(_ hash: BlobHash) throws(BlobError) -> any BlobReader

    /// The next blobs behind a hash, ascending, at most `limit` of them; nil begins.
    ///
    /// Sees every blob that is there all the time. What came or went meanwhile may be seen or not.
    ///
    /// - Throws: `disk`, `remote`.
    func list(after hash: BlobHash?, limit: Int) throws(BlobError) -> BlobPage

    /// Where a blob is, for messages.
    func path(of hash: BlobHash) -> String
}

/// A store of blobs: bytes that never change, named by their SHA-256.
///
/// Every call blocks: call it on a worker. Calls may come from many threads at the same time.
package protocol Blobs: BlobSource {
    /// Takes the bytes of a sealed draft. When this returns they survive a power cut under their hash.
    ///
    /// May be repeated, and two uploads may bring the same bytes at once. The draft's file stays until its upload is
    /// removed. Pin the hash before, until the commit that refers to it: else a sweep may take the blob away.
    ///
    /// - Throws: `disk`, `stopped`, `missing` when the draft's file is gone, `notAFile`, `remote`. Afterwards the blob
    ///   may be there or not.
    func adopt(_ draft: BlobDraft) throws(BlobError) -> Adoption

    /// Removes a blob; nothing happens when there is none.
    ///
    /// - Throws: `disk`, `stopped`, `remote`.
    func remove(_ hash: BlobHash) throws(BlobError)
}

/// What became of a draft.
package enum Adoption: Sendable, Equatable {
    /// It is a new blob.
    case new
    /// The blob was there, with the same size.
    case present
    /// A blob of another size was there, so a damaged one, and the draft replaced it.
    case replaced
}

/// A blob that is open. Used by one worker at a time, but for `readCached`.
package protocol BlobReader: AnyObject, Sendable {
    var byteCount: Int64 { get }

    /// Reads from `offset` on what is in memory already: fewer bytes than there is room for; nil when that is nothing. Never
    /// blocks, and may be called from any thread.
    func readCached(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int?

    /// Reads bytes from `offset` on: `count` of them, fewer at the end of the blob. Blocks.
    ///
    /// - Throws: `disk`, `remote`.
    func read(at offset: Int64, count: Int) throws(BlobError) -> [UInt8]

    /// Gives it back to the system, once; releasing the reader does too.
    func close()
}

extension BlobReader {
    /// A reader of bytes that are elsewhere.
    package func readCached(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int? {
        nil
    }
}

/// Some of the blobs of a store.
package struct BlobPage: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        package let hash: BlobHash
        package let byteCount: Int64
        /// When its bytes were written.
        package let modified: Timestamp

        package init(hash: BlobHash, byteCount: Int64, modified: Timestamp) {
            self.hash = hash
            self.byteCount = byteCount
            self.modified = modified
        }
    }

    /// Ascending by hash.
    package let entries: [Entry]
    /// Whether no blob follows them.
    package let isLast: Bool

    package init(entries: [Entry], isLast: Bool) {
        self.entries = entries
        self.isLast = isLast
    }
}
