import DatabaseCore
import Testing

@testable import DatabaseServer
@testable import Transport

/// That no connection waits long for the requests of another, counted in messages and ticks.
@Suite("Fairness between clients")
struct FairnessTests {
    @Test("a listener bomb of 10,000 listens lets another client's read through after 64 at most")
    func listenerBomb() throws {
        let served = try ServedDatabase()
        try served.put(#"{"small":"value"}"#)
        let bomber = try served.client()
        let probe = try served.client()
        let bomb = (0..<10_000).flatMap { number in
            WireClient.request(number, "q", #""p":"/a\#(number)","h":"""#)
        }
        try holdingLoop {
            try bomber.send(bytes: bomb)
            try probe.send(bytes: WireClient.request(1, "g", #""p":"/small""#))
        }
        #expect(try probe.message() == #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":"value"}}}"#)
        let before = served.read { $0.messageCount(of: 0, beforeFirstOf: 1) }
        #expect(try #require(before) <= 4 * TickLimits.messagesPerConnection)
        // Listens at these paths get nothing but the answers.
        for _ in 0..<10_000 { _ = try bomber.message() }
        #expect(served.read { $0.mostMessages(of: 0) } <= TickLimits.messagesPerConnection)
        #expect(served.read { $0.server.engine.summaries().map(\.listenCount) } == [10_000])
    }

    @Test("a listen on a huge root leaves in pieces, and others are answered before it has left")
    func hugeRoot() throws {
        let served = try ServedDatabase()
        let children = (0..<50_000).map { #""child\#($0)":"a value of some length \#($0)""# }
        try served.put("{\(children.joined(separator: ","))}", at: "huge")
        let greedy = try served.client(receiveBuffer: 4_096)
        let probe = try served.client()
        try greedy.send(bytes: WireClient.request(1, "q", #""p":"/","h":"""#))
        for number in 0..<20 {
            let answer = try probe.ask(number, "g", #""p":"/huge/child7""#)
            #expect(answer.contains(#""d":"a value of some length 7""#))
        }
        // The kernel holds a part of it, and the client does not read: the rest is not even made.
        let queued = served.read { $0.sockets[0].queuedByteCount }
        #expect(queued < 1 << 20)
        let value = try greedy.message()
        #expect(value.hasPrefix(#"{"t":"d","d":{"a":"d","b":{"p":"","d":{"huge":{"child0":"#))
        #expect(value.utf8.count > 2_000_000)
        #expect(try greedy.message() == #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}"#)
        let most = served.read { $0.mostSentByteCount }
        // One piece more than the limit, and what was sent to the probe.
        #expect(most <= TickLimits.flushedByteCount + TickLimits.pulledByteCount + 4_096)
    }

    @Test("a reader who stops is cut at the queue limit, and those who read miss nothing")
    func slowReader() throws {
        let served = try ServedDatabase { $0.limits.queueByteCount = 256 * 1024 }
        let slow = try served.client(receiveBuffer: 4_096)
        let quick = try (0..<8).map { _ in try served.client() }
        for client in [slow] + quick {
            #expect(try client.ask(1, "q", #""p":"/topic","h":"""#).contains(#""r":1"#))
        }
        let text = String(repeating: "x", count: 10_000)
        var writeCount = 0
        while served.read({ $0.causes.isEmpty }) {
            try served.put(#""\#(writeCount)\#(text)""#, at: "topic")
            for client in quick {
                let push = try client.message()
                #expect(push.contains(#""d":"\#(writeCount)x"#))
            }
            writeCount += 1
            try #require(writeCount < 2_000, "the kernel cannot hold 20 MB for one reader")
        }
        let causes = served.read { $0.causes }
        guard case .slowReader(let waiting) = causes[0], causes.count == 1 else {
            Issue.record("closed because of \(causes)")
            return
        }
        #expect(waiting > 256 * 1024 && waiting < 256 * 1024 + 20_000)
        for client in quick { #expect(try client.ask(2, "g", #""p":"/none""#).contains(#""r":2"#)) }
    }

    // MARK: Reading away from the loop

    @Test("a large message is read away from the loop, and what is behind it waits for it")
    func largeMessage() throws {
        let served = try ServedDatabase()
        let client = try served.client()
        let text = String(repeating: "y", count: Server.readAwayByteCount)
        try client.send(
            bytes: WireClient.request(1, "p", #""p":"/a","d":{"text":"\#(text)","end":1}"#)
                + WireClient.request(2, "g", #""p":"/a/end""#)
                + WireClient.request(3, "p", #""p":"/a","d":null"#)
                + WireClient.request(4, "g", #""p":"/a/end""#)
        )
        let answers = try (0..<4).map { _ in try client.message() }
        #expect(
            answers == [
                #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}"#,
                #"{"t":"d","d":{"r":2,"b":{"s":"ok","d":1}}}"#,
                #"{"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}"#,
                #"{"t":"d","d":{"r":4,"b":{"s":"ok","d":null}}}"#,
            ]
        )
        #expect(served.read { $0.server.workers.reading[0].figures.done } == 1)
    }

    @Test("a large message that is no JSON closes its connection as a small one does")
    func largeNonsense() throws {
        let served = try ServedDatabase()
        let text = "{" + String(repeating: "y", count: Server.readAwayByteCount)
        let large = try served.client()
        try large.send(bytes: WireClient.frame(text))
        let small = try served.client()
        try small.send(bytes: WireClient.frame("{y"))
        #expect(try large.closeCode() == small.closeCode())
    }

    @Test("a client that leaves while its message is read is forgotten, and the write is not done")
    func leaves() throws {
        let served = try ServedDatabase()
        let text = String(repeating: "y", count: Server.readAwayByteCount)
        let worker = served.read { $0.server.workers.reading[0] }
        let gate = Gate()
        // Keeps the thread busy until the client is gone.
        #expect(worker.post(.read { gate.wait() }))
        var client: WireClient? = try served.client()
        try client?.send(bytes: WireClient.request(1, "p", #""p":"/a","d":"\#(text)""#))
        while served.read({ $0.messages.isEmpty }) {}
        served.read { $0.sockets[0].drop() }
        client = nil
        while served.read({ $0.causes.isEmpty }) {}
        gate.open()
        let probe = try served.client()
        while worker.figures.done < 2 {}
        #expect(try probe.ask(1, "g", #""p":"/a""#).contains(#""d":null"#))
        #expect(client == nil)
    }
}
