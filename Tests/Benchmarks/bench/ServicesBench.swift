import Chat
import Dispatch
import Foundation
import Glibc
import HearthCore
import HearthDatabase
import Social
import Synchronization
import Timeline

/// The services as an app has them, with the server that `HEARTH_URL` names: one in development mode with the rules of
/// `rules/social.json`, whose database `bare` anybody may write. `scripts/bench` makes it, and puts there a reader `reader`
/// with a long timeline and a poster `poster` with many followers.
func benchServices(_ figures: Figures) throws {
    guard getenv("HEARTH_URL") != nil else {
        return print("bench: services: no HEARTH_URL, so nothing is measured")
    }
    try waiting { try await benchMessages(figures) }
    try waiting { try await benchPages(figures) }
}

/// Posts when a line comes on standard input, and prints when it began and how long it took: the followers are connected
/// elsewhere, and note when the last of them has the post. `timelines` has goals of its own in `scripts/bench`.
func benchPosts(_ figures: Figures) throws {
    guard getenv("HEARTH_URL") != nil else {
        return print("bench: posts: no HEARTH_URL, so nothing is measured")
    }
    let database = try database(of: "poster")
    let me = UserProfile(uid: "poster", username: "poster")
    let posts = PostService(database: database, me: me)
    while readLine() != nil {
        let begun = now()
        try waiting {
            _ = try await posts.create(imageURL: "https://example.com/1.png", imageHeight: 200)
        }
        print(#"{"begun_ns":\#(begun),"returned_ms":\#(Double(now() - begun) / 1e6)}"#)
        fflush(nil)
    }
}

/// From a message that is sent until the other member sees it, and a bare put in turn with that.
private func benchMessages(_ figures: Figures) async throws {
    let (ann, bea) = (try database(of: "ann"), try database(of: "bea"))
    var people: [UserProfile] = []
    for (database, name) in [(ann, "ann"), (bea, "bea")] {
        people.append(try await UserService(database: database, uid: name).create(username: name))
    }
    try await FollowGraph(database: ann, uid: "ann").follow("bea")
    let sender = ChatService(database: ann, me: people[0])
    let chat = try await sender.create(from: "Hello", with: people[1])

    let (seen, arrivals) = AsyncStream<Void>.makeStream()
    let messages = ChatService(database: bea, me: people[1])
    let observation = messages.observeMessages(forChatKey: chat.key, newest: 1) { event in
        if case .added = event { arrivals.yield() }
    }
    let writer = try bare(of: "ann").reference(withPath: "list")
    let reader = try bare(of: "bea").reference(withPath: "list").queryLimited(toLast: 1)
    let (heard, hears) = AsyncStream<Void>.makeStream()
    reader.observe(.childAdded) { _ in hears.yield() }
    var (seens, heards) = (seen.makeAsyncIterator(), heard.makeAsyncIterator())
    await seens.next()

    var (sends, puts): ([Double], [Double]) = ([], [])
    let value: [String: Any] = [
        "content": "message number 1 of a chat", "timestamp": 1_712_000_000_000,
        "sender": ["uid": "ann", "username": "ann"],
    ]
    for number in 0..<1_100 {
        var start = now()
        writer.childByAutoId().setValue(value) { _, _ in }
        await heards.next()
        let put = now() - start
        start = now()
        let sending = Task {
            try await sender.sendMessage("message number \(number) of a chat", for: chat)
        }
        await seens.next()
        let send = now() - start
        _ = try await sending.value
        // The first ones warm both up.
        guard number >= 100 else { continue }
        puts.append(Double(put) / 1e6)
        sends.append(Double(send) / 1e6)
    }
    observation.remove()
    reader.removeAllObservers()
    figures.report("bare put until another client receives it, p50", middle(puts), "ms")
    figures.report("chat message sent until the other member sees it, p50", middle(sends), "ms")
    figures.report("the second as a multiple of the first", middle(sends) / middle(puts), "x")
}

/// Pages of a timeline of 10,000 entries, from the newest back.
private func benchPages(_ figures: Figures) async throws {
    let users = UserService(database: try database(of: "reader"), uid: "reader")
    var times: [Double] = []
    var cursor: String?
    for number in 0..<120 {
        let start = now()
        let page = try await users.timeline(before: cursor)
        let time = Double(now() - start) / 1e6
        cursor = page.next
        guard page.posts.count == TimelineLimits.pageSize, page.faults.isEmpty else {
            return print("bench: services: a page has \(page.posts.count) posts, \(page.faults)")
        }
        if number >= 20 { times.append(time) }
    }
    figures.report("page of 20 of a timeline of 10,000, p50", middle(times), "ms")
    figures.report("the same, slowest of \(times.count)", times.max() ?? 0, "ms")
}

/// The database as a server in development mode lets anybody be anybody.
private func database(of uid: String) throws -> Database {
    let app = try HearthApp.make(name: uid, options: HearthOptions())
    app.tokenSource = UnsignedToken(uid)
    let database = Database.database(app: app)
    database.callbackQueue = DispatchQueue(label: "bench.\(uid)")
    return database
}

/// The database `bare` of the same server, on a connection of its own.
private func bare(of uid: String) throws -> Database {
    guard let app = HearthApp.app(name: uid), let text = getenv("HEARTH_URL"),
        let address = String(cString: text).split(separator: "?").first
    else { throw HearthAppError.invalidDatabaseName(uid) }
    let database = Database.database(app: app, url: "\(address)?ns=bare")
    database.callbackQueue = DispatchQueue(label: "bench.bare.\(uid)")
    return database
}

/// An unsigned token, which a server in development mode takes.
private final class UnsignedToken: TokenSource {
    private let uid: String
    private let token: String

    init(_ uid: String) {
        self.uid = uid
        let head = Data(#"{"alg":"none","typ":"JWT"}"#.utf8).base64EncodedString()
        let body = Data(#"{"sub":"\#(uid)","user_id":"\#(uid)"}"#.utf8).base64EncodedString()
        token = "\(head).\(body).".replacing("=", with: "")
    }

    func fetchToken(
        forcingRefresh: Bool,
        completion: @escaping @Sendable (Result<String?, any Error>) -> Void,
    ) { completion(.success(token)) }

    func onCredentialChange(
        _ listener: @escaping @Sendable (_ token: String?, _ account: String?) -> Void
    ) { listener(token, uid) }
}

/// Runs what is asynchronous to its end.
private func waiting(_ body: @escaping @Sendable () async throws -> Void) throws {
    let done = DispatchSemaphore(value: 0)
    let failure = Mutex<(any Error)?>(nil)
    Task.detached {
        do { try await body() } catch { failure.withLock { $0 = error } }
        done.signal()
    }
    done.wait()
    if let error = failure.withLock({ $0 }) { throw error }
}

private func middle(_ values: [Double]) -> Double {
    values.isEmpty ? 0 : values.sorted()[values.count / 2]
}

/// Nanoseconds of a clock that never goes back, the same for all processes.
private func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
