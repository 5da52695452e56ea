/// What waits, in the order in which it came. What is taken is let go at once.
struct WaitingLine<Element> {
    private var elements: [Element?] = []
    /// Those before it are taken.
    private var start = 0

    var count: Int { elements.count - start }
    var isEmpty: Bool { count == 0 }

    /// The first; nil when there is none.
    var first: Element? { isEmpty ? nil : elements[start] }

    mutating func append(_ element: Element) { elements.append(element) }

    /// Takes the first; nil when there is none.
    mutating func popFirst() -> Element? {
        guard start < elements.count else { return nil }
        let first = elements[start].take()
        start += 1
        // Half of them at least, so that taking is O(1) over time.
        if start == elements.count || start > 64 && 2 * start > elements.count {
            elements.removeFirst(start)
            start = 0
        }
        return first
    }
}

/// Jobs of several clients. Each client has one under way at a time, and its next one follows those of the others.
///
///     append ─► waits in its client's line ─► next ─► under way ─► finished
///
/// A client with many jobs waits for its own: another client's job is begun as soon as a worker is free.
struct FairQueue<Job> {
    private struct Line {
        var jobs = WaitingLine<Job>()
        var isUnderWay = false
    }

    private var lines: [String: Line] = [:]
    /// Clients that have a job waiting and none under way, in the order of their ready.
    private var ready = WaitingLine<String>()
    /// Jobs that wait.
    private(set) var count = 0

    /// Puts a job at the end of its client's line.
    mutating func append(_ job: Job, of client: String) {
        let line = lines[client]
        if line.map({ $0.jobs.isEmpty && !$0.isUnderWay }) ?? true { ready.append(client) }
        lines[client, default: Line()].jobs.append(job)
        count += 1
    }

    /// The next job, which is under way from now on; nil when none may begin.
    mutating func next() -> (client: String, job: Job)? {
        guard let client = ready.popFirst() else { return nil }
        guard let job = lines[client]?.jobs.popFirst() else {
            preconditionFailure("a client that is ready has a job")
        }
        lines[client]?.isUnderWay = true
        count -= 1
        return (client, job)
    }

    /// Says that the job which a client had under way is done.
    mutating func finished(_ client: String) {
        precondition(lines[client]?.isUnderWay == true, "a job ends that was begun")
        if lines[client]?.jobs.isEmpty == true {
            lines[client] = nil
        } else {
            lines[client]?.isUnderWay = false
            ready.append(client)
        }
    }
}
