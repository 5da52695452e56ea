/// What the blob store reads, keeps and removes at a time.
package enum BlobLimits {
    /// Bytes of one read of a file.
    package static let pieceByteCount = 256 * 1024

    /// Bytes of an upload after which the system begins to write them. Left alone it keeps them in memory until there are very
    /// many, and the sync at the end then waits for all.
    package static let writingByteCount: Int64 = 8 << 20

    /// Milliseconds after which a blob without references is removed: 24 hours. Source: ours; an upload whose server ends
    /// between its last byte and its commit may be finished again.
    package static let orphanAge: Int64 = 24 * 3_600_000

    /// Blobs in one slice of a sweep. The caller takes one slice a second at most.
    package static let sliceCount = 1000

    /// Bytes of the record of an upload, which holds metadata of at most 64 KiB and an answer about it.
    package static let recordByteCount = 1024 * 1024
}
