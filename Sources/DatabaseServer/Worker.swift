import DatabaseCore
import JSONTree
import Tokens
import WireProtocol

/// The thread for sums that would hold the loop: token signatures, hashes and lengths of large
/// values, and giving back the memory of large trees.
final class Worker: Sendable {
    enum Job: Sendable {
        case verify(String, TokenVerifier, @Sendable (CredentialOutcome) -> Void)
        case hash(Node, @Sendable (String) -> Void)
        /// Learns how long a message is, up to a limit of bytes; nil when it is longer.
        case measure(StreamedMessage, byteLimit: Int, @Sendable (StreamedMessage?) -> Void)
        /// The bytes of a node's JSON text, up to a limit; nil when there are more.
        case count(Node, Node.JSONForm, byteLimit: Int, @Sendable (Int?) -> Void)
        case release(Node)
    }

    /// Jobs that may wait.
    static let jobLimit = 100_000

    private let mailbox = Mailbox<Job>(limit: jobLimit)
    private let thread: WorkThread

    init() {
        let mailbox = mailbox
        thread = WorkThread {
            var jobs: [Job] = []
            while mailbox.takeAll(&jobs) {
                for job in jobs { Worker.perform(job) }
            }
        }
    }

    /// Whether the job was taken; its outcome then comes on the worker's thread.
    @discardableResult
    func post(_ job: Job) -> Bool { mailbox.post(job) }

    /// Finishes what waits, then ends the thread.
    func stop() {
        mailbox.close()
        thread.join()
    }

    private static func perform(_ job: Job) {
        switch job {
        case .verify(let token, let verifier, let report):
            report(CredentialOutcome(verifier.verify(token, now: Clock.now())))
        case .hash(let node, let report):
            report(node.hash(.priority))
        case .measure(let message, let byteLimit, let report):
            report(Worker.measured(message, byteLimit))
        case .count(let node, let form, let byteLimit, let report):
            report(Worker.byteCount(of: node, form, byteLimit))
        case .release:
            // The job held the last reference; it goes with the job.
            break
        }
    }

    private static func measured(_ message: StreamedMessage, _ byteLimit: Int) -> StreamedMessage? {
        var message = message
        do throws(StreamedMessage.TooBig) {
            while try !message.measure(atLeast: 1 << 20) {
                if message.byteCount > byteLimit { return nil }
            }
            return message.byteCount > byteLimit ? nil : message
        } catch {
            // Longer than clients of this protocol can take.
            return nil
        }
    }

    private static func byteCount(
        of node: Node,
        _ form: Node.JSONForm,
        _ byteLimit: Int
    ) -> Int? {
        var stream = JSONStream(node, form)
        var chunk: [UInt8] = []
        var byteCount = 0
        var isMore = true
        while isMore {
            chunk.removeAll(keepingCapacity: true)
            isMore = stream.next(into: &chunk, atLeast: 1 << 20)
            byteCount += chunk.count
            if byteCount > byteLimit { return nil }
        }
        return byteCount
    }
}
