/// Sizes and times of the client of files.
enum StorageLimits {
    /// Bytes up to which an upload is one request; the size of the first chunk of a longer one.
    static let wholeByteCount: Int64 = 256 * 1024
    /// Bytes of a chunk when its size has doubled as often as it may.
    #if canImport(Darwin)
        // A chunk is in memory there as long as it is sent.
        static let chunkByteCount: Int64 = 1024 * 1024
    #else
        static let chunkByteCount: Int64 = 32 * 1024 * 1024
    #endif
    /// Bytes that chunks are multiples of, when the server does not say.
    static let granularity: Int64 = 256 * 1024
    /// Answers in a row that take a step without progress, after which an upload is given up.
    static let stallCount = 8
    /// Bytes of an answer that is no object: a page of a list has up to 1,000 names of 1 KiB, which escapes make longer.
    static let answerByteCount = 16 * 1024 * 1024
    /// How many entries a page of a list may have.
    static let pageSizes: ClosedRange<Int64> = 1...1000
    /// Seconds to be connected, TLS included.
    static let connectSeconds = 15
    /// Seconds without a byte after which a request counts as lost. A server syncs a large object before it answers.
    static let silenceSeconds = 120
    /// How long a connection is used again; servers end idle ones after a minute.
    static let idleTime = Duration.seconds(20)
    /// Uploads and downloads at a time; others wait for them.
    static let transferCount = 6
    /// Other requests at a time.
    static let operationCount = 4
    /// The wait before the second attempt, which doubles, and what it doubles to.
    static let retryDelays: ClosedRange<Duration> = .seconds(1) ... .seconds(64)
}
