package import HearthDatabase
import Social

/// Calls a webhook about messages that wait for absent people. It is a normal client, signed in to an account whose
/// token has `pushWorker`. `PushCore` decides; this connects it with the database, the clock and the webhook.
package final class PushWorker: Sendable {
    private let database: Database
    private let webhook: PushWebhook
    private let options: PushOptions
    private let clock: PushClock
    private let say: @Sendable (String) -> Void

    /// A worker for the database of the signed-in account; `say` receives lines for the operator, without message
    /// texts.
    package init(
        database: Database,
        webhook: PushWebhook,
        options: PushOptions = PushOptions(),
        clock: PushClock = .system,
        say: @escaping @Sendable (String) -> Void,
    ) {
        self.database = database
        self.webhook = webhook
        self.options = options
        self.clock = clock
        self.say = say
    }

    /// Runs until its task is cancelled; then ends the pushes under way, and returns.
    ///
    /// The next worker takes over claims that could not end.
    ///
    /// - Throws: `PushFault` when the account may not read the needed data.
    package func run() async throws {
        let (events, sink) = AsyncStream.makeStream(of: PushEvent.self)
        let poster = PushPoster(webhook) { sink.yield(.input(.answered($0, $1))) }
        let watch = PushWatch(database) { sink.yield($0) }
        let core = PushCore(options)
        poster.start()
        watch.start()
        // A cancelled task is given no events; this one is not cancelled with it.
        let work = Task { try await self.work(core, events, sink, poster, watch) }
        let result = await withTaskCancellationHandler {
            await work.result
        } onCancel: {
            sink.yield(.stop)
        }
        watch.stop()
        poster.close()
        sink.finish()
        try result.get()
    }

    private func work(
        _ core: PushCore,
        _ events: AsyncStream<PushEvent>,
        _ sink: AsyncStream<PushEvent>.Continuation,
        _ poster: PushPoster,
        _ watch: PushWatch,
    ) async throws {
        var core = core
        var offset: Int64 = 0
        var connection = 0
        var alarm: Task<Void, Never>?
        var deadline: Task<Void, Never>?
        defer {
            alarm?.cancel()
            deadline?.cancel()
        }
        for await event in events {
            let input: PushInput
            switch event {
            case .input(let received): input = received
            case .offset(let milliseconds):
                offset = milliseconds
                input = .tick
            case .connected(let isConnected):
                connection += 1
                if isConnected { watch.askBack(connection) }
                input = .watching(false)
            case .caughtUp(let number):
                guard number == connection else { continue }
                say("watching")
                input = .watching(true)
            case .fault(let fault):
                say("left out \(fault)")
                continue
            case .stop:
                let end = clock.now() + Int64(PushLimits.stopping / .milliseconds(1))
                deadline = Task { [clock] in
                    await clock.wait(end)
                    if !Task.isCancelled { sink.yield(.giveUp) }
                }
                input = .stop
            case .giveUp: return
            case .failed(let fault): throw fault
            }
            let now = clock.now() + offset
            for effect in core.step(input, now: now) {
                switch effect {
                case .lookUp(let thread, let username): watch.lookUp(thread, username)
                case .claim(let thread, let record): watch.claim(thread, record)
                case .end(let thread, let record): watch.end(thread, record)
                case .forget(let thread): watch.forget(thread)
                case .post(let thread, let id, let body):
                    poster.post(thread, id: id, body: body, time: now / 1000)
                case .wake(let time):
                    alarm?.cancel()
                    alarm = Task { [clock, offset] in
                        await clock.wait(time - offset)
                        if !Task.isCancelled { sink.yield(.input(.tick)) }
                    }
                case .say(let report): say("\(report)")
                case .finished: return
                }
            }
        }
    }
}

/// An event for a push worker from outside.
enum PushEvent: Sendable {
    case input(PushInput)
    /// Milliseconds to add to this machine's clock.
    case offset(Int64)
    case connected(Bool)
    /// All data that the server had at this connection's request has arrived.
    case caughtUp(connection: Int)
    case fault(RecordFault)
    case stop
    /// The pushes under way at `stop` take too long.
    case giveUp
    case failed(PushFault)
}
