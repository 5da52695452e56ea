/// A download, attempt by attempt, without its bytes: where it goes on behind a cut.
struct DownloadState: Equatable, Sendable {
    /// What to do with the bytes of an answer.
    enum Placement: Equatable, Sendable {
        /// They follow those that are there.
        case append
        /// They are the object from its start: what is there goes.
        case restart
        /// They are others than were asked for.
        case unusable
    }

    /// Bytes that are there.
    private(set) var byteCount: Int64 = 0
    /// Of the whole object; nil when the server does not say.
    private(set) var totalByteCount: Int64?
    /// Tells one content from another: only the same one goes on where it was cut. Nil: it cannot go on.
    private(set) var entityTag: String?

    /// Takes the head of an answer of status 200 or 206.
    mutating func begin(_ answer: StorageAnswer) -> Placement {
        if answer.status == 206 {
            guard let range = answer.contentRange, range.start == byteCount, byteCount > 0 else {
                return .unusable
            }
            totalByteCount = range.total
            return .append
        }
        let isEncoded = answer.headers["content-encoding"] != nil
        byteCount = 0
        // What inflates on its way has another length.
        totalByteCount = isEncoded ? nil : answer.contentByteCount
        // A weak tag does not promise the same bytes.
        let tag = answer.headers["etag"]
        entityTag = isEncoded || tag?.hasPrefix("W/") ?? true ? nil : tag
        return .restart
    }

    mutating func add(_ count: Int) { byteCount += Int64(count) }

    /// Begins from nothing.
    mutating func restart() { self = DownloadState() }

    /// Whether an answer that has ended has brought everything.
    var isWhole: Bool { totalByteCount.map { $0 == byteCount } ?? true }
}
