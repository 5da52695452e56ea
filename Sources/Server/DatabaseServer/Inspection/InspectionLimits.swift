/// How much one answer about inspected decisions holds, so that it takes some tens of milliseconds of
/// a worker, and a browser shows it at once.
enum InspectionLimits {
    /// Bytes after which no further request begins, 2 MiB.
    static let answerByteCount = 2 << 20

    /// Bytes of the trace of one request after which no further rule begins but the last, 64 KiB.
    static let traceByteCount = 64 << 10

    /// Rules of one trace that are shown, beside the last.
    static let ruleCount = 50

    /// Bytes of the text of a search, 1,000.
    static let searchTextByteCount = 1_000

    /// Searches at a time, of all databases; each keeps an old state of the tree.
    static let searchCount = 4

    /// Says that requests are missing.
    static func words(leftOut count: Int) -> String {
        "\(count) older \(count == 1 ? "request is" : "requests are") left out, for lack of room:"
            + " ask by path, uid, refused=true or a smaller limit."
    }
}
