/// Which pending writes are sent next, and how many bytes of them wait for an answer. A client that comes back with
/// hundreds of megabytes to write would fill the queue of its socket, which closes at a limit, and would do so on each
/// connection.
struct WriteWindow {
    /// In the order of the calls; those before `sentCount` were sent on this connection.
    private var writes: [WriteID] = []
    private var sentCount = 0
    /// Of requests without an answer, by their numbers.
    private var byteCounts: [Int64: Int] = [:]
    private var byteCount = 0

    /// A write is to be sent when those before it were.
    mutating func append(_ id: WriteID) { writes.append(id) }

    /// The write to send now; nil while there is none, or too much waits for an answer.
    mutating func next() -> WriteID? {
        guard sentCount < writes.count, byteCount < SyncLimits.unansweredWriteByteCount else {
            return nil
        }
        let id = writes[sentCount]
        sentCount += 1
        if sentCount == writes.count {
            writes.removeAll(keepingCapacity: true)
            sentCount = 0
        }
        return id
    }

    /// The write of `next` went out in the request with this number.
    mutating func sent(_ request: Int64, byteCount: Int) {
        byteCounts[request] = byteCount
        self.byteCount += byteCount
    }

    mutating func answered(_ request: Int64) {
        byteCount -= byteCounts.removeValue(forKey: request) ?? 0
    }
}
