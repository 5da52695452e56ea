import JSONTree
import SecurityRules
import Simulation
import TestSupport
import Testing
import WireProtocol

@testable import DatabaseCore

@Suite("Commits as the log keeps them")
struct CommitRecordTests {
    private static let session = SessionID("s-1")

    private func sample() throws -> [CommitOperation] {
        var draft = try Draft(json: Array(#"{"a":1,"t":{".sv":"timestamp"}}"#.utf8))
        draft.serverValues.append(
            DraftServerValue(
                target: try WriteTarget("n"),
                value: .increment(Node(integer: 2)),
                priority: Node(integer: 7),
            )
        )
        return [
            .write(try WriteTarget("/a/b"), try Node(json: Array(#"{"x":[1,2]}"#.utf8))),
            .write(try WriteTarget("/a/.priority"), Node(string: "p")),
            .write(.init(path: .root, isPriority: false), .absent),
            .setRules(#"{"rules":{}}"#),
            .detachRules,
            .identify(Self.session, .admin),
            .identify(Self.session, .nobody),
            .identify(Self.session, .user(AuthVariable(try Node(json: #"{"uid":"ann"}"#)))),
            .onDisconnect(Self.session, try WriteTarget("/status"), draft),
            .cancelOnDisconnect(Self.session, try WriteTarget("/status/ann")),
            .endSession(Self.session),
        ]
    }

    @Test("every operation reads back as it was written")
    func roundTrip() throws {
        let operations = try sample()
        let read = try CommitDecoder.decode(CommitEncoder.encode(operations))
        #expect(read.map { "\($0)" } == operations.map { "\($0)" })
    }

    @Test(
        "claims keep keys that no tree may have, data does not",
        arguments: [
            #"{"https://example.com/role":"admin"}"#,
            #"{"firebase":{"identities":{"google.com":["1"],"a.b":{"":{"[x]#$":true}}}}}"#,
            "{\"control \\u0001 \\u007f\":1}",
        ]
    )
    func claims(json: String) throws {
        let claims = try Node.readingAnyJSON(Array(json.utf8))
        let identified = [CommitOperation.identify(Self.session, .user(AuthVariable(claims)))]
        let read = try CommitDecoder.decode(CommitEncoder.encode(identified))
        #expect(read.map { "\($0)" } == identified.map { "\($0)" })
        let written = [CommitOperation.write(try WriteTarget("/a"), claims)]
        #expect(throws: CommitDecodingError.badNode(offset: 5)) {
            try CommitDecoder.decode(CommitEncoder.encode(written))
        }
    }

    @Test("a large commit is encoded when it is asked for, in exactly the length given before")
    func large() throws {
        let text = Node(string: String(repeating: "x", count: 100_000))
        var operations: [CommitOperation] = []
        for name in ["a", "b", "c"] { operations.append(.write(try WriteTarget(name), text)) }
        let payload = CommitPayload(operations)
        let bytes = CommitEncoder.encode(operations)
        #expect(payload.encoded() == bytes)
        #expect(payload.pieces != nil)
        #expect(payload.byteCount == bytes.count)
        // With others among them it is encoded at once.
        operations.append(.detachRules)
        let mixed = CommitPayload(operations)
        #expect(mixed.pieces == nil)
        #expect(mixed.byteCount == bytes.count + 1)
        #expect(mixed.encoded().count == mixed.byteCount)
    }

    @Test(
        "the pieces of a large commit are its encoding, each of about a megabyte, made twice alike, and read back",
        arguments: KeyOrder.allCases
    )
    func pieces(order: KeyOrder) throws {
        let child = Node(string: String(repeating: "c", count: 3_000))
        var wide = Node.absent
        var random = TestSeed.generator(7)
        for key in order.keys(1_100, &random) {
            wide.set(child, at: Path([try Key(key), try Key("v")]))
        }
        let long = try WriteTarget(String(repeating: "p", count: 200))
        let operations: [CommitOperation] = [
            .write(try WriteTarget("/"), .absent),
            .write(try WriteTarget("/a/.priority"), Node(integer: 5)),
            .write(long, wide),
            .endSession(Self.session),
            .write(try WriteTarget("/b"), Node(string: String(repeating: "x", count: 100_000))),
            .write(try WriteTarget("/c"), Node(true)),
            .write(long, wide),
        ]
        let bytes = CommitEncoder.encode(operations)
        let pieces = try #require(CommitPayload(operations).pieces)
        #expect(pieces.byteCount == bytes.count && bytes.count > 6_000_000)
        for _ in 0..<2 {
            var rest = pieces
            var found: [UInt8] = []
            var hasMore = true
            while hasMore {
                var piece: [UInt8] = []
                hasMore = rest.next(into: &piece)
                #expect(piece.count < 1024 * 1024 + 110_000)
                #expect(piece.count >= 1024 * 1024 || !hasMore)
                found += piece
            }
            let isWhole = found == bytes
            #expect(isWhole)
        }
        let read = try CommitDecoder.decode(bytes)
        let nodes = read.map { operation in
            if case .write(_, let node) = operation { node } else { Node.absent }
        }
        #expect(nodes.count == operations.count && nodes[2] == wide && nodes[6] == wide)
    }

    @Test("a payload cut anywhere is refused or ends between two operations")
    func cuts() throws {
        let bytes = CommitEncoder.encode(try sample())
        for count in 0..<bytes.count {
            let read = try? CommitDecoder.decode(Array(bytes[..<count]))
            if let read { #expect(read.count < 11) }
        }
    }

    @Test("a payload with any byte changed never crashes the reader")
    func damage() throws {
        let bytes = CommitEncoder.encode(try sample())
        for index in bytes.indices {
            for flip: UInt8 in [0x01, 0x80, 0xFF] {
                var changed = bytes
                changed[index] ^= flip
                _ = try? CommitDecoder.decode(changed)
            }
        }
    }

    @Test("a payload of another version is refused by its number")
    func version() {
        #expect(throws: CommitDecodingError.unknownVersion(9)) {
            try CommitDecoder.decode([9, 3])
        }
    }

    @Test("a checkpoint cut anywhere is refused")
    func checkpointCuts() throws {
        let database = Database(
            id: DatabaseID("d"),
            defaultRules: .open,
            Transcript.policy()
        )
        database.root = try Node(json: Array(#"{"a":{"b":[1,2,3]},"c":"x"}"#.utf8))
        database.number = CommitNumber(4)
        database.ownRules = .closed
        database.applyBookkeeping(.identify(Self.session, .admin))
        database.applyBookkeeping(
            .onDisconnect(Self.session, try WriteTarget("/s"), Draft(Node(true)))
        )
        var encoder = CheckpointEncoder([database.snapshot])
        var bytes: [UInt8] = []
        while encoder.next(into: &bytes, atLeast: 16) {}
        for count in 0..<bytes.count {
            #expect(throws: CommitDecodingError.self) {
                var decoder = CheckpointDecoder()
                try decoder.feed(Array(bytes[..<count])) { _ in }
                try decoder.finish()
            }
        }
        var found: [DatabaseSnapshot] = []
        var decoder = CheckpointDecoder()
        try decoder.feed(bytes) { found.append($0) }
        try decoder.finish()
        #expect(found.count == 1 && found[0].root == database.root)
        #expect(found[0].rules == Ruleset.closed.text && found[0].disconnects.count == 1)
    }
}

@Suite("On-disconnect writes of a session")
struct OnDisconnectWritesTests {
    /// One line a case: what is done, and what is stored then.
    static let cases: [(steps: [String], stored: [String])] = [
        (["set /a 1", "set /b 2"], ["/a=1", "/b=2"]),
        (["set /a/b 1", "set /a/c 2", "set /a 3"], ["/a=3"]),
        (["set /a {\"x\":1,\"y\":2}", "set /a/x 9"], ["/a={\"x\":9,\"y\":2}"]),
        (["set /a {\"x\":1}", "set /a/y/z 9"], ["/a={\"x\":1,\"y\":{\"z\":9}}"]),
        (["set /a {\"x\":1,\"y\":2}", "cancel /a/x"], ["/a/y=2"]),
        (["set /a {\"x\":{\"p\":1,\"q\":2},\"y\":2}", "cancel /a/x/p"], ["/a/x/q=2", "/a/y=2"]),
        (["set /a 1", "cancel /a/b"], ["/a=1"]),
        (["set /a/b 1", "set /c 1", "cancel /a"], ["/c=1"]),
        (["set /a 1", "cancel /"], []),
        (["set / {\"a\":1}", "set /b 2"], ["/={\"a\":1,\"b\":2}"]),
        (["set /a 1", "set /a/.priority 5"], ["/a={\".value\":1,\".priority\":5}"]),
        (["set /a null", "set /a/b 1"], ["/a={\"b\":1}"]),
    ]

    @Test("sets replace below and edit above; cancels split", arguments: cases)
    func table(steps: [String], stored: [String]) throws {
        var writes = OnDisconnectWrites()
        for step in steps {
            let words = step.split(separator: " ", maxSplits: 2).map(String.init)
            let target = try WriteTarget(words[1])
            if words[0] == "set" {
                writes.store(try Draft(json: Array(words[2].utf8)), at: target)
            } else {
                let isWithinLimit = writes.forget(target)
                #expect(isWithinLimit)
            }
        }
        let found = writes.writes.map { write in
            "\(write.target.path)=\(String(decoding: write.draft.node.json(.export), as: UTF8.self))"
        }
        #expect(found == stored)
    }

    @Test("server values move with what they stand in")
    func serverValues() throws {
        var writes = OnDisconnectWrites()
        writes.store(
            try Draft(json: Array(#"{"on":false,"at":{".sv":"timestamp"}}"#.utf8)),
            at: try WriteTarget("/s")
        )
        let isWithinLimit = writes.forget(try WriteTarget("/s/on"))
        #expect(isWithinLimit)
        #expect(writes.writes.map { "\($0.target.path)" } == ["/s/at"])
        #expect(writes.writes[0].draft.serverValues.map(\.value) == [.timestamp])
        #expect(writes.writes[0].draft.serverValues[0].target.path.isRoot)
    }
}
