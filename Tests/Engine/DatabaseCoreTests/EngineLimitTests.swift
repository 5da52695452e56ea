import DatabaseCore
import JSONTree
import SecurityRules
import Testing
import WireProtocol

@Suite("Limits and long work of the engine")
struct EngineLimitTests {
    @Test("one write to 1,000 listeners of a path is one effect with one encoded message")
    func fanOutIsEncodedOnce() throws {
        let driver = EngineDriver()
        for number in 1...1_000 as ClosedRange<UInt64> {
            driver.connect(number)
            driver.send(number, "q", #""p":"/room","h":"""#)
        }
        let effects = try driver.put("/room/topic", Node(string: "tea"))
        let sends = effects.filter { if case .send = $0 { true } else { false } }
        #expect(sends.count == 1)
        guard case .send(.text, let receivers) = sends.first else { return }
        #expect(receivers.count == 1_000)
    }

    @Test("a listen beyond the limit of a session is refused, and the others stay")
    func listenLimit() throws {
        let driver = EngineDriver(inspection: .refused, explainsRefusals: true)
        driver.connect(1)
        for index in 0..<DatabaseCore.Limits.listensPerSession {
            driver.send(1, "q", #""p":"/a/k\#(index)","h":"""#)
        }
        let refused = driver.send(1, "q", #""p":"/more","h":"""#).texts(to: 1)
        #expect(refused.count == 2 && refused[1].contains(#""s":"failed""#))
        // SDKs keep the text of the answer to themselves.
        let text = #""msg":"listen /more refused: More than 10000 listens on one connection""#
        #expect(refused[0].contains(#""a":"sd""#) && refused[0].contains(text))
        let pushed = try driver.put("/a/k7", Node(true)).texts(to: 1)
        #expect(pushed.count == 1)
    }

    @Test("a request too big to be kept has an answer in its turn, in development with a reason")
    func tooBig() {
        for isDevelopment in [false, true] {
            let driver = EngineDriver(inspection: .refused, explainsRefusals: isDevelopment)
            driver.connect(1)
            guard case .verify(let inquiry, _) = driver.send(1, "auth", #""cred":"t""#).first else {
                Issue.record("the credential is checked")
                return
            }
            let request = ClientRequest(number: 0, action: .tooBig(byteLimit: 65_536))
            #expect(driver.step(.received(.request(request), from: ConnectionID(1))).isEmpty)
            let auth = AuthVariable(Node.absent.with("uid", Node(string: "ann")))
            let texts = driver.step(.verified(inquiry, .user(auth))).texts(to: 1).dropFirst()
            #expect(texts.count == (isDevelopment ? 2 : 1))
            #expect(texts.first?.contains(#""a":"sd""#) == isDevelopment)
            let answer = texts.last ?? ""
            #expect(answer.contains(#"{"r":0,"b":{"s":"write_too_big","d":"Data to write exceeds"#))
            #expect(answer.contains("at most 65536 bytes"))
        }
    }

    @Test("a disk that is low takes removals up to their limit, and again after there was room")
    func removalLimit() throws {
        let driver = EngineDriver()
        // Long paths, so that few records fill the limit.
        let folder = String(repeating: "/" + String(repeating: "k", count: 700), count: 31)
        for index in 0..<900 { try driver.put("\(folder)/\(index)", Node(true)) }
        func remove(_ index: Int) throws -> Int? {
            let effects = try driver.put("\(folder)/\(index)", .absent)
            for case .append(let commit) in effects { return commit.payloadByteCount }
            return nil
        }
        driver.step(.log(.diskLow))
        var byteCount = 0
        var index = 0
        while let removed = try remove(index) {
            byteCount += removed
            index += 1
        }
        let limit = DatabaseCore.Limits.removalByteCount
        #expect((limit - 200 * index...limit + 25_000).contains(byteCount))
        #expect(index < 850, "the limit was met")
        // The same as before, since nothing was removed.
        #expect(try remove(index) == nil)
        driver.step(.log(.behind))
        driver.step(.log(.diskLow))
        #expect(try remove(index) == nil, "only room begins anew")
        driver.step(.log(.ready))
        driver.step(.log(.diskLow))
        #expect(try remove(index) != nil)
        driver.step(.log(.diskFull))
        #expect(try remove(index + 1) == nil)
    }

    @Test("ended sessions write up to the limit of removals on a low disk, and the rest with room")
    func endsWithoutRoom() throws {
        let text = String(repeating: "x", count: 1_000)
        let driver = EngineDriver(removalByteCount: 10_000)
        let count = UInt64(2 * DatabaseCore.Limits.roomWaitersAtOnce)
        for number in 1...count {
            driver.connect(number)
            driver.send(number, "o", #""p":"/gone/k\#(number)","d":"\#(text)""#)
        }
        func commits(_ effects: [Effect]) -> Int {
            effects.count { if case .append = $0 { true } else { false } }
        }
        driver.step(.log(.diskLow))
        var done = 0
        for number in 1...count {
            done += commits(driver.step(.disconnected(ConnectionID(number))))
        }
        #expect(done == 8, "as many as fit the limit")
        #expect(commits(try driver.put("/gone", .absent)) == 1, "removals have what is left")
        #expect(commits(driver.step(.log(.diskFull))) == 0)
        #expect(commits(driver.step(.log(.ready))) == DatabaseCore.Limits.roomWaitersAtOnce)
        #expect(commits(try driver.put("/a", Node(true))) == 0, "those that wait come first")
        let rest = Int(count) - done - DatabaseCore.Limits.roomWaitersAtOnce
        #expect(driver.engine.hasWork)
        #expect(commits(driver.step(.longWork(steps: 1))) == rest)
        #expect(commits(try driver.put("/a", Node(true))) == 1)
        #expect(!driver.engine.hasWork)
    }

    @Test("a listen registered twice is one listen")
    func listenTwice() throws {
        let driver = EngineDriver()
        driver.connect(1)
        driver.send(1, "q", #""p":"/a","h":"""#)
        driver.send(1, "q", #""p":"a/","h":"""#)
        #expect(try driver.put("/a", Node(true)).texts(to: 1).count == 1)
        driver.send(1, "n", #""p":"/a""#)
        #expect(try driver.put("/a", Node(false)).texts(to: 1).isEmpty)
    }

    @Test("on-disconnect writes beyond the limit of a session are refused")
    func onDisconnectLimit() {
        let driver = EngineDriver()
        driver.connect(1)
        for index in 0..<DatabaseCore.Limits.onDisconnectWrites {
            driver.send(1, "o", #""p":"/a/k\#(index)","d":1"#)
        }
        let refused = driver.send(1, "o", #""p":"/more","d":1"#).texts(to: 1)
        #expect(refused.count == 1 && refused[0].contains(#""s":"failed""#))
    }

    @Test("a connection that sends without end behind a token check is closed")
    func parkedLimit() {
        let driver = EngineDriver()
        driver.connect(1)
        driver.send(1, "auth", #""cred":"t""#)
        var closed: [CloseReason] = []
        for _ in 0...DatabaseCore.Limits.parkedMessages {
            for case .close(_, let reason) in driver.send(1, "g", #""p":"/a","q":{}"#) {
                closed.append(reason)
            }
        }
        #expect(closed == [.tooManyParkedMessages])
    }

    @Test("a large first value leaves as a stream, in its place before the ok")
    func largeValuesAreStreamed() throws {
        let driver = EngineDriver()
        var large = Node.absent
        for index in 0..<5_000 { large = large.with("k\(index)", Node(integer: Int64(index))) }
        try driver.put("/large", large)
        driver.connect(1)
        let effects = driver.send(1, "q", #""p":"/large","h":"""#)
        #expect(effects.count == 2)
        guard case .send(.stream, _) = effects[0], case .send(.text, _) = effects[1] else {
            Issue.record("a stream, then the ok: \(effects)")
            return
        }
    }

    @Test("a few long texts are large too, and leave as a stream")
    func longTextsAreStreamed() throws {
        let driver = EngineDriver()
        let text = Node(string: String(repeating: "x", count: 600_000))
        try driver.put("/long", Node.absent.with("a", text).with("b", text))
        driver.connect(1)
        let effects = driver.send(1, "q", #""p":"/long","h":"""#)
        guard case .send(.stream, _) = effects.first else {
            Issue.record("a stream: \(effects.count) effects")
            return
        }
    }

    @Test("the hash of a large map is an inquiry, and what follows on the connection waits for it")
    func largeHashesAreInquiries() throws {
        let driver = EngineDriver()
        var large = Node.absent
        for index in 0..<3_000 { large = large.with("k\(index)", Node(integer: Int64(index))) }
        try driver.put("/large", large)
        driver.connect(1)
        let hash = large.hash()
        var effects = driver.send(1, "p", #""p":"/large","d":1,"h":"\#(hash)""#)
        guard case .work(let inquiry, .hash(let node, like: hash)) = effects.first else {
            Issue.record("the engine asks for the hash: \(effects)")
            return
        }
        #expect(driver.send(1, "g", #""p":"/large","q":{}"#).isEmpty)
        effects = driver.step(.worked(inquiry, .hash(node.hash())))
        let texts = effects.texts(to: 1)
        #expect(texts.count == 2)
        #expect(texts.last?.contains(#""d":1"#) == true)
    }

    @Test(
        "a transaction on a large map counts in each form that a client hashes in",
        arguments: [Node.HashForm.standard, .iOS, .javaScript]
    )
    func largeHashForms(form: Node.HashForm) throws {
        let driver = EngineDriver()
        var large = Node.absent
        for index in 0..<3_000 {
            let leaf = Node(integer: (1 << 53) - 1).settingPriority(Node(integer: Int64(-index)))
            large = large.with("k\(index)", leaf)
        }
        try driver.put("/large", large)
        driver.connect(1)
        let effects = driver.send(1, "p", #""p":"/large","d":1,"h":"\#(large.hash(form))""#)
        guard case .work(let inquiry, let work) = effects.first else {
            Issue.record("the engine asks for the hash: \(effects)")
            return
        }
        let texts = driver.step(.worked(inquiry, work.perform())).texts(to: 1)
        #expect(texts.count == 1 && texts[0].contains(#""s":"ok""#))
    }

    @Test("a hash that took too long to compare is stale once the data has changed")
    func staleInquiry() throws {
        let driver = EngineDriver()
        var large = Node.absent
        for index in 0..<3_000 { large = large.with("k\(index)", Node(integer: Int64(index))) }
        try driver.put("/large", large)
        driver.connect(1)
        let effects = driver.send(1, "p", #""p":"/large","d":1,"h":"\#(large.hash())""#)
        guard case .work(let inquiry, .hash(let node, _)) = effects.first else {
            Issue.record("the engine asks for the hash: \(effects)")
            return
        }
        try driver.put("/large/k1", Node(string: "new"))
        let texts = driver.step(.worked(inquiry, .hash(node.hash()))).texts(to: 1)
        #expect(texts.count == 1 && texts[0].contains("datastale"))
    }

    @Test(
        "many listens revoked at once receive nothing until they are decided; the writer's come first"
    )
    func revocationAtSize() throws {
        let rules = try Ruleset.load(
            #"{"rules":{"r":{".read":"root.child('open').val() == true",".write":true},"open":{".write":true}}}"#
        )
        let driver = EngineDriver(rules: rules)
        try driver.put("/open", Node(true))
        let count = UInt64(DatabaseCore.Limits.decisionsAtOnce + 200)
        for number in 1...count {
            driver.connect(number)
            driver.send(number, "q", #""p":"/r","h":"""#)
        }
        let closing = driver.send(1, "p", #""p":"/","d":{"r":1}"#)
        #expect(closing.texts(to: 1).contains { $0.contains("permission_denied") })
        let effects = driver.send(2, "p", #""p":"/open","d":false"#)
        let own = effects.texts(to: 2)
        #expect(own.count == 2 && own[0].contains(#""a":"c""#) && own[1].contains(#""s":"ok""#))
        #expect(effects.texts(to: 3).isEmpty)
        #expect(
            try driver.put("/r/secret", Node(true)).allSatisfy { effect in
                if case .send = effect { false } else { true }
            }
        )
        var cancels = 0
        while driver.engine.hasWork {
            cancels += driver.step(.longWork(steps: 1_000)).count
        }
        #expect(cancels == Int(count) - 1)
    }

    @Test("suspended listens that stay allowed get the present value")
    func awaitingListensCatchUp() throws {
        let rules = try Ruleset.load(
            #"{"rules":{"r":{".read":"root.child('open').val() != 0",".write":true}}}"#
        )
        let driver = EngineDriver(rules: rules)
        let count = UInt64(DatabaseCore.Limits.decisionsAtOnce + 10)
        for number in 1...count {
            driver.connect(number)
            driver.send(number, "q", #""p":"/r","h":"""#)
        }
        try driver.put("/open", Node(integer: 2))
        try driver.put("/r", Node(string: "new"))
        var texts: [String] = []
        while driver.engine.hasWork { texts += driver.step(.longWork(steps: 1_000)).texts(to: 5) }
        #expect(texts.count == 1 && texts[0].contains(#""d":"new""#))
    }

    @Test("many listens of a session that is over end in turns, and nothing of them is left")
    func leavingAtSize() throws {
        let driver = EngineDriver()
        try driver.put("/r", Node(true))
        driver.connect(1)
        driver.connect(2)
        let count = DatabaseCore.Limits.listensEndedAtOnce + 500
        for number in 0..<count {
            let limit = number + 1
            driver.send(1, "q", #""p":"/r","q":{"l":\#(limit),"vf":"l"},"t":\#(limit),"h":"""#)
        }
        driver.step(.disconnected(ConnectionID(1)))
        #expect(driver.engine.summaries()[0].listenCount == count)
        // A listen that ends is four steps.
        driver.step(.longWork(steps: 400))
        #expect(driver.engine.summaries()[0].listenCount == count - 100)
        try driver.put("/r", Node(false))
        while driver.engine.hasWork { driver.step(.longWork(steps: 400)) }
        let summary = driver.engine.summaries()[0]
        #expect(summary.listenCount == 0 && summary.viewCount == 0)
    }

    @Test("messages that have waited go on in portions, in order, and later ones stay behind them")
    func portions() throws {
        let driver = EngineDriver()
        try driver.put("/a", Node(integer: 1))
        driver.connect(1)
        let effects = driver.send(1, "auth", #""cred":"t""#)
        guard case .verify(let inquiry, _) = effects.first else {
            Issue.record("a credential is checked: \(effects)")
            return
        }
        let count = 3 * DatabaseCore.Limits.messagesAtOnce
        for _ in 0..<count { driver.send(1, "g", #""p":"/a","q":{}"#) }
        let first = driver.step(.verified(inquiry, .admin())).texts(to: 1)
        #expect(first.count == 1 + DatabaseCore.Limits.messagesAtOnce)
        #expect(driver.send(1, "p", #""p":"/a","d":2"#).isEmpty)
        var texts: [String] = []
        while driver.engine.hasWork {
            let portion = driver.step(.longWork(steps: 100)).texts(to: 1)
            #expect(portion.count <= DatabaseCore.Limits.messagesAtOnce)
            texts += portion
        }
        #expect(texts.count == count + 1 - DatabaseCore.Limits.messagesAtOnce)
        #expect(texts.dropLast().allSatisfy { $0.contains(#""d":1"#) })
    }
}
