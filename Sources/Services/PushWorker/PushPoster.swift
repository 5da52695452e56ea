import Dispatch
import Foundation
import HTTPClient
import Synchronization

/// Posts to the webhook, on a thread of its own that owns the connections.
final class PushPoster: Sendable {
    private struct Post: Sendable {
        let thread: PushThread
        let id: String
        let body: String
        let time: Int64
    }

    private struct Mailbox {
        var posts: [Post] = []
        var isClosed = false
    }

    // No longer than the posts that the core allows at a time.
    private let mailbox = Mutex(Mailbox())
    private let news = DispatchSemaphore(value: 0)
    private let webhook: PushWebhook
    private let answered: @Sendable (PushThread, PostAnswer) -> Void

    /// Milliseconds after which it looks for new posts while others are under way.
    private static let pollMilliseconds = 20

    init(_ webhook: PushWebhook, answered: @escaping @Sendable (PushThread, PostAnswer) -> Void) {
        self.webhook = webhook
        self.answered = answered
    }

    /// Starts the thread, which ends after `close`.
    func start() {
        let thread = Thread { self.work() }
        thread.name = "push"
        thread.start()
    }

    /// Posts once; `answered` receives the outcome. `time` is the server's, in seconds.
    func post(_ thread: PushThread, id: String, body: String, time: Int64) {
        mailbox.withLock {
            $0.posts.append(Post(thread: thread, id: id, body: body, time: time))
        }
        news.signal()
    }

    /// Closes it; cuts requests under way.
    func close() {
        mailbox.withLock { $0.isClosed = true }
        news.signal()
    }

    private func work() {
        var options = HTTPOptions()
        options.connectSeconds = PushLimits.postSeconds
        options.totalSeconds = PushLimits.postSeconds
        options.authorityFile = webhook.authorityFile
        options.agent = "hearth-chat push"
        let client: HTTPClient
        do throws(HTTPError) {
            client = try HTTPClient(options)
        } catch {
            return refuseAll("\(error)")
        }
        var threads: [HTTPClient.RequestID: PushThread] = [:]
        while true {
            if threads.isEmpty { news.wait() }
            let (posts, isClosed) = take()
            if isClosed { return }
            for post in posts {
                guard
                    let request = webhook.request(id: post.id, body: post.body, time: post.time)
                else {
                    answered(post.thread, .later("there is no memory to sign it", seconds: nil))
                    continue
                }
                do throws(HTTPError) {
                    threads[try client.start(request)] = post.thread
                } catch {
                    answered(post.thread, PushWebhook.meaning(error))
                }
            }
            do throws(HTTPError) {
                guard let ended = try client.next(milliseconds: Self.pollMilliseconds),
                    let thread = threads.removeValue(forKey: ended.id)
                else { continue }
                answered(thread, Self.meaning(ended.result))
            } catch {
                for thread in threads.values { answered(thread, PushWebhook.meaning(error)) }
                return refuseAll("\(error)")
            }
        }
    }

    private func take() -> (posts: [Post], isClosed: Bool) {
        mailbox.withLock { mailbox in
            defer { mailbox.posts = [] }
            return (mailbox.posts, mailbox.isClosed)
        }
    }

    private static func meaning(_ result: Result<HTTPResponse, any Error>) -> PostAnswer {
        switch result {
        case .success(let response):
            PushWebhook.meaning(response.status, retryAfter: response.headers["retry-after"])
        case .failure(let error as HTTPError): PushWebhook.meaning(error)
        case .failure(let error): .refused("\(error)")
        }
    }

    /// Without libcurl nothing is ever posted; all is kept for the next start.
    private func refuseAll(_ reason: String) {
        while true {
            let (posts, isClosed) = take()
            if isClosed { return }
            for post in posts { answered(post.thread, .later(reason, seconds: nil)) }
            news.wait()
        }
    }
}
