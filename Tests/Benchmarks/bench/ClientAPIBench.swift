import Dispatch
import Glibc
import HearthCore
import HearthDatabase

/// Through the public API, as an app sees it, with the server that `HEARTH_URL` names.
func benchClientAPI(_ figures: Figures) {
    do {
        try HearthApp.make(options: HearthOptions())
        try HearthApp.make(name: "reader", options: HearthOptions())
    } catch {
        return print("bench: \(error)")
    }
    guard let readerApp = HearthApp.app(name: "reader") else { return }
    let writer = Database.database()
    let reader = Database.database(app: readerApp)
    let queue = DispatchQueue(label: "bench.callbacks")
    for database in [writer, reader] { database.callbackQueue = queue }
    benchFirstList(figures, writer: writer, reader: reader)
    benchEcho(figures, writer.reference(withPath: "echo"))
}

/// A list of 10,000 messages that nothing is known of, from `observe` until the last child arrived.
private func benchFirstList(_ figures: Figures, writer: Database, reader: Database) {
    let count = 10_000
    var values: [String: Any] = [:]
    for number in 0..<count {
        values[ChatMessage.key(number)] =
            [
                "content": "message number \(number) of a chat that goes on",
                "timestamp": 1_712_000_000_000 + number,
                "sender": ["uid": "abcdefghijklmnopqrstuvwxyz01", "username": "ann"],
            ] as [String: Any]
    }
    let written = DispatchSemaphore(value: 0)
    writer.reference(withPath: "list").setValue(values) { error, _ in
        if let error { print("bench: \(error)") }
        written.signal()
    }
    written.wait()
    let connected = DispatchSemaphore(value: 0)
    reader.reference(withPath: "nothing").observeSingleEvent(of: .value) { _ in connected.signal() }
    connected.wait()

    // Owned by the callback queue until the semaphore is signalled.
    nonisolated(unsafe) var left = count
    let shown = DispatchSemaphore(value: 0)
    let (start, work) = (time(CLOCK_MONOTONIC), time(CLOCK_PROCESS_CPUTIME_ID))
    let list = reader.reference(withPath: "list")
    list.observe(.childAdded) { _ in
        left -= 1
        if left == 0 { shown.signal() }
    }
    shown.wait()
    figures.report(
        "list of \(count) children first shown by childAdded, the server's part included",
        (time(CLOCK_MONOTONIC) - start) / 1e6,
        "ms"
    )
    figures.report(
        "the same, processor time of the client, all threads",
        (time(CLOCK_PROCESS_CPUTIME_ID) - work) / 1e6,
        "ms"
    )
    list.removeAllObservers()
}

/// From a write to the event that an observer of the same program receives.
private func benchEcho(_ figures: Figures, _ place: DatabaseReference) {
    let count = 5_000
    let arrival = DispatchSemaphore(value: 0)
    // Owned by this thread before each write and by the callback queue in its event: the semaphore lies between.
    nonisolated(unsafe) var start = 0.0
    nonisolated(unsafe) var times: [Double] = []
    times.reserveCapacity(count)
    place.observe(.value) { snapshot in
        if snapshot.exists() { times.append(time(CLOCK_MONOTONIC) - start) }
        arrival.signal()
    }
    arrival.wait()
    for number in 0..<count {
        start = time(CLOCK_MONOTONIC)
        place.setValue(number)
        arrival.wait()
    }
    times.sort()
    for (name, part) in [("p50", 0.5), ("p99", 0.99)] {
        figures.report(
            "write to event of the same program, \(name)",
            times[Int(Double(times.count - 1) * part)],
            "ns"
        )
    }
    place.removeAllObservers()
}

/// Nanoseconds of a clock.
private func time(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}
