import HTTPClient
import Synchronization

/// The thread that sends to a webhook: several requests at a time, each once. Its caller decides what is tried again.
final class WebhookSender: Sendable {
    /// One try.
    struct Errand: Sendable {
        let request: @Sendable () -> HTTPRequest?
        /// Called on the sender's thread.
        let report: @Sendable (Outcome) -> Void
    }

    enum Outcome: Sendable, Equatable {
        case taken
        /// Whether another try may have a better end, and what happened in words that say nothing of the message.
        case failed(isPassing: Bool, reason: String)
    }

    /// Requests in flight; ours.
    static let flightLimit = 16
    /// Seconds for a whole request; ours: a person waits for the email, and another try comes soon.
    static let timeoutSeconds = 10
    /// Milliseconds between two looks at what has arrived while requests are in flight.
    private static let lookMilliseconds = 50
    /// Milliseconds that requests in flight have when the server ends.
    private static let farewellMilliseconds = 2_000

    private let mailbox: Mailbox<Errand>
    private let isStopping: Flag
    private let thread: WorkThread

    private final class Flag: Sendable {
        let value = Atomic<Bool>(false)
    }

    /// - Parameter limit: errands that may wait.
    init(limit: Int) {
        let mailbox = Mailbox<Errand>(limit: limit)
        let flag = Flag()
        self.mailbox = mailbox
        isStopping = flag
        thread = WorkThread {
            var delivery = Delivery(mailbox) { flag.value.load(ordering: .relaxed) }
            delivery.run()
        }
    }

    /// Whether the errand was taken.
    func post(_ errand: Errand) -> Bool { mailbox.post(errand) }

    /// Gives what is in flight a moment, and ends the thread.
    func stop() {
        isStopping.value.store(true, ordering: .relaxed)
        mailbox.close()
        thread.join()
    }

    /// What happens on the thread, which owns the HTTP client.
    private struct Delivery {
        private let mailbox: Mailbox<Errand>
        private let isStopping: () -> Bool
        private var waiting: [Errand] = []
        private var flying: [HTTPClient.RequestID: Errand] = [:]

        init(_ mailbox: Mailbox<Errand>, _ isStopping: @escaping () -> Bool) {
            self.mailbox = mailbox
            self.isStopping = isStopping
        }

        mutating func run() {
            var options = HTTPOptions()
            options.connectSeconds = WebhookSender.timeoutSeconds
            options.silenceSeconds = WebhookSender.timeoutSeconds
            options.totalSeconds = WebhookSender.timeoutSeconds
            do throws(HTTPError) {
                let client = try HTTPClient(options)
                while takeArrived() { try step(client) }
            } catch {
                fail(reason: "libcurl cannot be used")
                while takeArrived() { fail(reason: "libcurl cannot be used") }
            }
        }

        /// Takes what has arrived, and waits for it when there is nothing else to do; false at the end.
        private mutating func takeArrived() -> Bool {
            var arrived: [Errand] = []
            let isIdle = waiting.isEmpty && flying.isEmpty
            let isMore = mailbox.takeAll(&arrived, waits: isIdle)
            waiting += arrived
            return isMore || !isIdle
        }

        /// Starts what there is room for and takes in one end.
        private mutating func step(_ client: HTTPClient) throws(HTTPError) {
            if isStopping() {
                try finish(client)
                return
            }
            while !waiting.isEmpty, flying.count < WebhookSender.flightLimit {
                start(waiting.removeFirst(), client)
            }
            guard let ended = try client.next(milliseconds: WebhookSender.lookMilliseconds)
            else { return }
            report(ended)
        }

        private mutating func start(_ errand: Errand, _ client: HTTPClient) {
            guard let request = errand.request() else {
                errand.report(.failed(isPassing: true, reason: "there is no memory left"))
                return
            }
            do throws(HTTPError) {
                flying[try client.start(request)] = errand
            } catch {
                errand.report(.failed(isPassing: false, reason: "\(error.reason)"))
            }
        }

        private mutating func report(_ ended: HTTPClient.Ended) {
            guard let errand = flying.removeValue(forKey: ended.id) else { return }
            switch ended.result {
            case .success(let response) where response.isSuccess: errand.report(.taken)
            case .success(let response):
                let status = response.status
                errand.report(
                    .failed(
                        isPassing: status >= 500 || status == 408 || status == 429,
                        reason: "status \(status)"
                    )
                )
            case .failure(let error as HTTPError):
                errand.report(.failed(isPassing: error.isPassing, reason: "\(error.reason)"))
            case .failure: errand.report(.failed(isPassing: true, reason: "unknown"))
            }
        }

        private mutating func finish(_ client: HTTPClient) throws(HTTPError) {
            let clock = ContinuousClock()
            let end = clock.now.advanced(by: .milliseconds(WebhookSender.farewellMilliseconds))
            while !flying.isEmpty, clock.now < end {
                if let ended = try client.next(milliseconds: WebhookSender.lookMilliseconds) {
                    report(ended)
                }
            }
            fail(reason: "the server is stopping")
        }

        private mutating func fail(reason: String) {
            for errand in waiting + flying.values {
                errand.report(.failed(isPassing: false, reason: reason))
            }
            waiting = []
            flying = [:]
        }
    }
}
