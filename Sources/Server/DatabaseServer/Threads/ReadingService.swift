import Transport

/// Has large messages and bodies read away from the loop, those of each client one after the other.
///
/// A client holds one of the readers at most, so that another finds one free, or waits for one job of another client.
@LoopActor
final class ReadingService {
    /// Threads that read: one more than a single client can hold, so that another finds a free one. Other numbers
    /// were not measured.
    nonisolated static let readerCount = 2

    /// Bytes of all messages and bodies that may wait to be read: four bodies of the greatest size.
    static let byteLimit = 1 << 30

    /// Jobs that may wait.
    static let jobLimit = 10_000

    private struct Job {
        let byteCount: Int
        let body: @Sendable (_ isDone: @escaping @Sendable @LoopActor () -> Void) -> Void
    }

    private let workers: [Worker]
    /// Places of workers that have nothing to do.
    private var free: [Int]
    private var queue = FairQueue<Job>()
    /// Bytes that wait to be read, or are being read.
    private(set) var byteCount = 0
    private let memory: MemoryReturn

    init(_ workers: [Worker], _ memory: MemoryReturn) {
        self.workers = workers
        self.memory = memory
        free = workers.indices.reversed()
    }

    /// Reads so many bytes that a client sent; `then` is called on the loop. Returns whether there was room for them.
    func read<Outcome: Sendable>(
        _ byteCount: Int,
        of client: String,
        _ read: @escaping @Sendable () -> Outcome,
        then: @escaping @Sendable @LoopActor (Outcome) -> Void
    ) -> Bool {
        guard self.byteCount + byteCount <= Self.byteLimit, queue.count < Self.jobLimit else {
            return false
        }
        let job = Job(byteCount: byteCount) { isDone in
            let outcome = read()
            EventLoop.shared.enqueue {
                isDone()
                then(outcome)
            }
        }
        self.byteCount += byteCount
        queue.append(job, of: client)
        begin()
        return true
    }

    /// Gives every free reader a job.
    private func begin() {
        while let index = free.last, let (client, job) = queue.next() {
            free.removeLast()
            let isTaken = workers[index].post(
                .read { job.body { [self] in ended(job, client, index) } }
            )
            // The server is stopping: no request waits for it.
            if !isTaken { return }
        }
    }

    private func ended(_ job: Job, _ client: String, _ index: Int) {
        free.append(index)
        queue.finished(client)
        byteCount -= job.byteCount
        memory.letGo(job.byteCount)
        begin()
    }
}
