enum TreeLimits {
    /// Bytes of encoded server data of listens that are closed, kept for the disk cache. Source: the cache size that
    /// the iOS SDK sets out with.
    static let closedByteCount = 10 * 1024 * 1024
}
