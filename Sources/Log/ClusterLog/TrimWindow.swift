/// Which entries are the newest, up to a number of bytes. Memory: some hundred bytes, whatever the entries are.
struct TrimWindow {
    private struct Run {
        let first: UInt64
        var byteCount = 0
    }

    /// Runs in which the window is counted.
    private static let runCount = 64

    private let byteCount: Int
    private var runs: [Run] = []
    private var sum = 0

    init(byteCount: Int) { self.byteCount = byteCount }

    /// The first entry of the window; nil until more entries came than fit.
    private(set) var first: UInt64?

    /// Adds the next entry.
    mutating func append(_ sequence: UInt64, byteCount entryByteCount: Int) {
        if runs.last.map({ $0.byteCount >= byteCount / Self.runCount }) ?? true {
            runs.append(Run(first: sequence))
        }
        runs[runs.count - 1].byteCount += entryByteCount
        sum += entryByteCount
        while let oldest = runs.first, runs.count > 1, sum - oldest.byteCount >= byteCount {
            sum -= oldest.byteCount
            runs.removeFirst()
            first = runs.first?.first
        }
    }
}
