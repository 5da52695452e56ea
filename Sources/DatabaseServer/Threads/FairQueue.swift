/// Jobs of several clients, each of whom has one under way at a time and gets its turn after the others.
///
///     append ─► waits in its client's line ─► next ─► under way ─► finished
///
/// Whoever brings many jobs waits for itself: another client's job is begun as soon as a worker is free.
struct FairQueue<Job> {
    private struct Line {
        var jobs: [Job] = []
        var start = 0
        var isUnderWay = false

        var isEmpty: Bool { start == jobs.count }

        mutating func takeFirst() -> Job {
            defer {
                start += 1
                if start == jobs.count || start > 64 {
                    jobs.removeFirst(start)
                    start = 0
                }
            }
            return jobs[start]
        }
    }

    private var lines: [String: Line] = [:]
    /// Clients that have a job waiting and none under way, in the order of their turns.
    private var turns: [String] = []
    private var turnStart = 0
    /// Jobs that wait.
    private(set) var count = 0

    /// Puts a job at the end of its client's line.
    mutating func append(_ job: Job, of client: String) {
        let line = lines[client]
        if line.map({ $0.isEmpty && !$0.isUnderWay }) ?? true { turns.append(client) }
        lines[client, default: Line()].jobs.append(job)
        count += 1
    }

    /// The job whose turn it is, which is under way from now on; nil when none may begin.
    mutating func next() -> (client: String, job: Job)? {
        guard turnStart < turns.count else { return nil }
        let client = turns[turnStart]
        turnStart += 1
        if turnStart == turns.count || turnStart > 64 {
            turns.removeFirst(turnStart)
            turnStart = 0
        }
        guard let job = lines[client]?.takeFirst() else {
            preconditionFailure("who has a turn has a job")
        }
        lines[client]?.isUnderWay = true
        count -= 1
        return (client, job)
    }

    /// Says that the job which a client had under way is done.
    mutating func finished(_ client: String) {
        precondition(lines[client]?.isUnderWay == true, "a job ends that was begun")
        if lines[client]?.isEmpty == true {
            lines[client] = nil
        } else {
            lines[client]?.isUnderWay = false
            turns.append(client)
        }
    }
}
