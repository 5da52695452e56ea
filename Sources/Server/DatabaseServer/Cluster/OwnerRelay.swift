import Dispatch
import HTTPClient
import Synchronization

/// The threads of a follower that send requests of its clients to the owner, each one request at a time over a connection
/// that stays.
final class OwnerRelay: Sendable {
    /// A request, and what takes the end of it on the relay's thread.
    struct Errand: Sendable {
        let method: Method
        let url: String
        /// `Name: value`
        let headers: [String]
        let body: [UInt8]
        let report: @Sendable (Result<Answer, Fault>) -> Void
    }

    /// A method that is relayed.
    struct Method: Sendable {
        fileprivate let method: HTTPRequest.Method

        /// nil for one that is not.
        init?(_ name: String) {
            guard let method = HTTPRequest.Method(rawValue: name) else { return nil }
            self.method = method
        }
    }

    /// Why the owner said nothing.
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    /// What the owner says.
    struct Answer: Sendable {
        let status: Int
        /// Names in lower case.
        let headers: [String: String]
        let body: [UInt8]
    }

    /// Requests that are with the owner at a time.
    static let threadCount = 8
    /// Requests that may wait for a thread.
    static let waitingLimit = 1_024
    private static let connectSeconds = 5

    private let waiting = Mutex(WaitingLine<Errand>())
    private let isThere = DispatchSemaphore(value: 0)

    /// Begins. `authorityFile` has the authorities of the nodes' certificates, nil for the system's; an answer has at most
    /// `byteLimit` bytes, and comes within `totalSeconds`, 0 for no limit.
    init(
        authorityFile: String?,
        byteLimit: Int,
        threadCount: Int = OwnerRelay.threadCount,
        totalSeconds: Int = 0
    ) {
        for _ in 0..<threadCount {
            // They end with the process: a node relays until then.
            _ = WorkThread { [self] in run(authorityFile, byteLimit, totalSeconds) }
        }
    }

    /// Whether the errand was taken.
    func post(_ errand: Errand) -> Bool {
        let isTaken = waiting.withLock { waiting in
            guard waiting.count < Self.waitingLimit else { return false }
            waiting.append(errand)
            return true
        }
        if isTaken { isThere.signal() }
        return isTaken
    }

    private func run(_ authorityFile: String?, _ byteLimit: Int, _ totalSeconds: Int) {
        var options = HTTPOptions()
        options.totalSeconds = totalSeconds
        options.authorityFile = authorityFile
        options.connectSeconds = Self.connectSeconds
        options.followsRedirects = false
        var client: HTTPClient?
        while true {
            isThere.wait()
            guard let errand = waiting.withLock({ $0.popFirst() }) else { continue }
            do {
                let own = if let client { client } else { try HTTPClient(options) }
                client = own
                errand.report(.success(try Self.answer(to: errand, own, byteLimit)))
            } catch {
                errand.report(.failure(Fault(description: "\(error)")))
            }
        }
    }

    private static func answer(
        to errand: Errand,
        _ client: HTTPClient,
        _ byteLimit: Int
    ) throws -> Answer {
        var request = HTTPRequest(
            errand.method.method,
            errand.url,
            headers: errand.headers,
            body: errand.body.isEmpty ? .none : .bytes(errand.body)
        )
        request.keptByteLimit = byteLimit
        let response = try client.perform(request)
        return Answer(status: response.status, headers: response.headers, body: response.body)
    }
}
