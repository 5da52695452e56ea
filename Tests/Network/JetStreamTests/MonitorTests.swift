import HTTPClient
import TestSupport
import Testing

@testable import JetStream

@Suite("the check of brokers")
struct MonitorTests {
    private static func answer(
        id: String = "A",
        version: String = "2.15.1",
        clusterSize: Int = 1,
        jetStream: String =
            #"{"config":{"max_storage":100000000,"sync_always":true},"stats":{"storage":5}"#,
        maxPayload: Int = 1_048_576
    ) -> ScriptedServer.Answer {
        ScriptedServer.Answer(
            200,
            text:
                #"{"server_id":"\#(id)","server_name":"n-\#(id)","version":"\#(version)","#
                + #""max_payload":\#(maxPayload),"jetstream":\#(jetStream)"#
                + (jetStream == "{" ? "}}" : #","meta":{"cluster_size":\#(clusterSize)}}}"#)
        )
    }

    private static func check(
        _ answers: [ScriptedServer.Answer],
        requiresSync: Bool = true
    ) throws -> (facts: [BrokerFacts], faults: [BrokerFault]) {
        let servers = try answers.map { try ScriptedServer([$0]) }
        let found = BrokerMonitor.check(
            servers.map(\.url),
            requiresSync: requiresSync,
            http: HTTPOptions()
        )
        for server in servers {
            #expect(server.requests.map(\.target) == ["/varz"])
        }
        return found
    }

    @Test("finds nothing wrong with three that are as they should be")
    func right() throws {
        let answers = ["A", "B", "C"].map { Self.answer(id: $0, clusterSize: 3) }
        let found = try Self.check(answers)
        #expect(found.faults == [])
        #expect(found.facts.map(\.name) == ["n-A", "n-B", "n-C"])
        #expect(found.facts.allSatisfy { $0.isSynced && $0.version == "2.15.1" })
    }

    @Test(
        "says what is wrong with one",
        arguments: [
            (answer(version: "2.9.10"), .version(broker: "n-A", version: "2.9.10")),
            (answer(version: "new"), .version(broker: "n-A", version: "new")),
            (answer(jetStream: "{"), .noJetStream(place: "the broker n-A")),
            (answer(jetStream: #"{"config":{"max_storage":-1}"#), .notSynced(broker: "n-A")),
            (
                answer(maxPayload: 65_536),
                .smallMessages(place: "the broker n-A", byteLimit: 65_536)
            ),
            (
                answer(
                    jetStream:
                        #"{"config":{"max_storage":9000000,"sync_always":true},"stats":{"storage":8999999}"#
                ),
                .full(place: "the broker n-A", detail: "8999999 of 9000000 bytes are used")
            ),
        ] as [(ScriptedServer.Answer, BrokerFault)]
    )
    func wrong(answer: ScriptedServer.Answer, fault: BrokerFault) throws {
        #expect(try Self.check([answer]).faults == [fault])
    }

    @Test("asks for synced entries only where they are wanted")
    func unsynced() throws {
        let answer = Self.answer(jetStream: #"{"config":{"max_storage":-1}"#)
        let found = try Self.check([answer], requiresSync: false)
        #expect(found.faults == [])
        #expect(found.facts.map(\.isSynced) == [false])
    }

    @Test("names everything that is wrong")
    func several() throws {
        let answers = [
            Self.answer(id: "A", version: "2.13.0", clusterSize: 3),
            Self.answer(
                id: "B",
                clusterSize: 3,
                jetStream: #"{"config":{"max_storage":-1,"sync_always":false}"#
            ),
        ]
        let found = try Self.check(answers)
        #expect(
            found.faults == [
                .version(broker: "n-A", version: "2.13.0"), .notSynced(broker: "n-B"),
                .unmonitored(monitoredCount: 2, brokerCount: 3),
            ]
        )
    }

    @Test("counts a broker with two addresses once")
    func twice() throws {
        let answers = ["A", "A", "B"].map { Self.answer(id: $0, clusterSize: 3) }
        let found = try Self.check(answers)
        #expect(found.facts.count == 2)
        #expect(found.faults == [.unmonitored(monitoredCount: 2, brokerCount: 3)])
    }

    @Test("names an address that is not that of a broker")
    func noBroker() throws {
        for answer in [
            ScriptedServer.Answer(404), .init(200, text: "{}"), .init(200, text: "hello"),
        ] {
            let found = try Self.check([answer])
            #expect(found.facts == [])
            guard case .notABroker = found.faults.first, found.faults.count == 1 else {
                Issue.record("\(found.faults)")
                continue
            }
        }
    }

    @Test("names an address that does not answer, and looks at the others")
    func silent() throws {
        let server = try ScriptedServer([Self.answer(clusterSize: 2)])
        // No program serves port 1.
        let found = BrokerMonitor.check(
            ["http://127.0.0.1:1", server.url],
            requiresSync: true,
            http: HTTPOptions()
        )
        #expect(found.facts.map(\.name) == ["n-A"])
        guard case .noMonitor("http://127.0.0.1:1", _) = found.faults.first,
            found.faults.count == 1
        else {
            Issue.record("\(found.faults)")
            return
        }
    }

    @Test("says of each fault what happened and what to do")
    func texts() {
        let faults: [BrokerFault] = [
            .unreachable(brokers: "nats://n1", detail: "a"), .credentials(brokers: "nats://n1"),
            .file(detail: "a"), .untrusted(brokers: "nats://n1", detail: "a"),
            .noTLS(brokers: "nats://n1"), .lost(brokers: "nats://n1", detail: "a"),
            .noJetStream(place: "the broker n1"), .noAnswer(operation: "purge"),
            .full(place: "the broker n1", detail: "a"), .noStream(stream: "LOG_main"),
            .stream(stream: "LOG_main", setting: "discard", has: "\"old\"", needs: "\"new\""),
            .smallMessages(place: "nats://n1", byteLimit: 1), .notPermitted(detail: "a"),
            .refused(operation: "purge", code: 10_003, detail: "a"),
            .noMonitor(address: "http://n1", detail: "a"),
            .notABroker(address: "http://n1", detail: "a"),
            .version(broker: "n1", version: "2.9.10"), .notSynced(broker: "n1"),
            .unmonitored(monitoredCount: 1, brokerCount: 3),
        ]
        for fault in faults {
            let parts = fault.description.split(separator: "; ")
            #expect(parts.count >= 2, "\(fault)")
            #expect(parts.allSatisfy { $0.count > 15 }, "\(fault)")
        }
        #expect(Set(faults.map(\.description)).count == faults.count)
        // What a broker sends moves no cursor.
        #expect(!BrokerFault.notPermitted(detail: "\u{1B}[2J").description.contains("\u{1B}"))
    }
}
