import Testing

@testable import JetStream

@Suite("settings of brokers")
struct SettingsTests {
    @Test(
        "name brokers by host and port",
        arguments: ["nats://10.0.0.1:4222", "nats://n1", "nats://[::1]:1", "nats://[::1]"]
    )
    func brokers(address: String) throws {
        let configuration = try JetStreamConfiguration(brokers: [address], node: "a")
        #expect(configuration.brokers == [address])
        #expect(configuration.stream == "LOG_main")
        #expect(configuration.subject == "log.main")
        #expect(configuration.beatSubject == "beat.main.a")
    }

    @Test(
        "refuse other addresses, and show no user of one",
        arguments: [
            "", "n1:4222", "tls://n1:4222", "http://n1", "nats://", "nats://:4222", "nats://n1:0",
            "nats://n1:x", "nats://n1:65536", "nats://n1:", "nats://n1/a", "nats://n1,nats://n2",
            "nats://n 1", "nats://n1\r\n", "nats://ann:secret@n1:4222", "nats://secret@n1",
        ]
    )
    func refusedBrokers(address: String) {
        let error = #expect(throws: JetStreamSettingError.self) {
            try JetStreamConfiguration(brokers: ["nats://n0", address], node: "a")
        }
        #expect(error?.description.contains("must be nats://HOST:PORT") == true)
        #expect(error?.description.contains("secret") == false)
    }

    @Test("want a broker")
    func none() {
        #expect(throws: JetStreamSettingError.noBrokers) {
            try JetStreamConfiguration(brokers: [], node: "a")
        }
    }

    @Test(
        "refuse names that are more than one part of a subject",
        arguments: ["", "a.b", "a b", "*", ">", "ü", "a\n", String(repeating: "a", count: 64)]
    )
    func names(name: String) {
        #expect(throws: JetStreamSettingError.group(name)) {
            try JetStreamConfiguration(brokers: ["nats://n1"], group: name, node: "a")
        }
        #expect(throws: JetStreamSettingError.node(name)) {
            try JetStreamConfiguration(brokers: ["nats://n1"], node: name)
        }
    }

    @Test(
        "show no secret",
        arguments: [
            .user("ann", password: "secret"), .token("secret"), .file(path: "/a.creds"), .none,
        ] as [BrokerCredentials]
    )
    func secrets(credentials: BrokerCredentials) throws {
        var configuration = try JetStreamConfiguration(brokers: ["nats://n1"], node: "a")
        configuration.credentials = credentials
        #expect(!"\(configuration) \(credentials)".contains("secret"))
        #expect("\(configuration)".contains(credentials.description))
    }

    private static let settings = StreamSettings(
        name: "LOG_main",
        subject: "log.main",
        replicaCount: 3
    )

    /// What a broker of version 2.15.1 reports of a stream that these settings have made.
    private static let reported =
        #""name":"LOG_main","subjects":["log.main"],"retention":"limits","max_consumers":-1,"max_msgs":-1,"#
        + #""max_bytes":-1,"max_age":0,"max_msgs_per_subject":-1,"max_msg_size":-1,"discard":"new","#
        + #""storage":"file","num_replicas":3,"duplicate_window":120000000000,"compression":"none","#
        + #""allow_direct":false,"mirror_direct":false,"sealed":false,"deny_delete":true,"deny_purge":false,"#
        + #""allow_rollup_hdrs":false,"consumer_limits":{},"allow_msg_ttl":false"#

    private static func fault(_ members: String) throws -> BrokerFault? {
        let reply = try #require(BrokerReply(Array("{\(members)}".utf8)))
        return settings.fault(in: reply)
    }

    @Test("of a stream are those that a broker reports of it")
    func stream() throws {
        #expect(try Self.fault(Self.reported) == nil)
        let request = try #require(BrokerReply(Self.settings.request))
        #expect(Self.settings.fault(in: request) == nil)
    }

    @Test(
        "of a stream are refused where entries may be lost",
        arguments: [
            (#""subjects":["log.other"]"#, "subjects"),
            (#""subjects":["log.main","log.other"]"#, "subjects"),
            (#""storage":"memory""#, "storage"), (#""retention":"workqueue""#, "retention"),
            (#""discard":"old""#, "discard"), (#""num_replicas":1"#, "num_replicas"),
            (#""max_age":1"#, "max_age"), (#""max_bytes":1000000000000"#, "max_bytes"),
            (#""max_msgs":5"#, "max_msgs"), (#""max_msgs_per_subject":1"#, "max_msgs_per_subject"),
            (#""max_msg_size":1000"#, "max_msg_size"), (#""sealed":true"#, "sealed"),
            (#""deny_purge":true"#, "deny_purge"), (#""no_ack":true"#, "no_ack"),
            (#""mirror":{"name":"b"}"#, "mirror"), (#""sources":[{"name":"b"}]"#, "sources"),
            (#""subject_transform":{"src":"log.main","dest":"b"}"#, "subject_transform"),
            (#""persist_mode":"async""#, "persist_mode"),
        ]
    )
    func otherStream(member: String, setting: String) throws {
        // Of two equal members the last one counts.
        let fault = try #require(try Self.fault("\(Self.reported),\(member)"))
        guard case .stream("LOG_main", setting, let has, let needs) = fault else {
            Issue.record("\(fault)")
            return
        }
        #expect(has != needs)
        #expect(fault.description.contains("the stream LOG_main has \(setting) \(has)"))
    }

    @Test(
        "of a stream may be others where nothing is lost",
        arguments: [
            #""description":"ours""#, #""duplicate_window":1000"#, #""compression":"s2""#,
            #""max_msg_size":1000000"#, #""max_bytes":0"#, #""persist_mode":"default""#,
            #""mirror":null"#, #""sources":[]"#,
        ]
    )
    func harmless(member: String) throws {
        #expect(try Self.fault("\(Self.reported),\(member)") == nil)
    }

    @Test(
        "want a version without the known faults",
        arguments: [
            ("2.12.7", false), ("2.12.8", true), ("2.12.8-RC.1", false), ("2.12.10", true),
            ("2.13.0", false), ("2.13.99", false), ("2.14.0-RC.2", false), ("2.14.0", true),
            ("2.14.1-RC.1", true), ("2.15.1", true), ("3.0.0", true), ("2.9.10", false),
            ("1.4.1", false),
        ]
    )
    func versions(text: String, isSafe: Bool) throws {
        let version = try #require(BrokerVersion(text))
        #expect(version.isSafe == isSafe)
        #expect(version.description == text)
    }

    @Test(
        "do not take other texts for versions",
        arguments: ["", "2", "2.12", "2.x.1", "a", "2.12.8.1"]
    )
    func noVersion(text: String) {
        #expect(BrokerVersion(text) == nil)
    }

    @Test(
        "answers to appends say what became of them",
        arguments: [
            (#"{"stream":"LOG_main","seq":7}"#, .stored(sequence: 7)),
            (
                #"{"stream":"LOG_main","domain":"d","seq": 8,"duplicate":true}"#,
                .stored(sequence: 8)
            ),
            (
                #"{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 12"},"seq":0}"#,
                .refused(last: 12)
            ),
            (
                #"{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 0"},"seq":0}"#,
                .refused(last: 0)
            ),
            // Newer brokers have errors of which they do not say the last number.
            (
                #"{"error":{"code":400,"err_code":10071,"description":"wrong last sequence"}}"#,
                .unknown(
                    .refused(
                        operation: "append to LOG_main",
                        code: 10071,
                        detail: "wrong last sequence"
                    )
                )
            ),
            (
                #"{"error":{"code":503,"err_code":10023,"description":"insufficient resources"},"seq":0}"#,
                .unknown(.full(place: "the stream LOG_main", detail: "insufficient resources"))
            ),
            (#"{"error":{"code":503,"err_code":10008,"description":"a"}}"#, .unknown(nil)),
            ("", .unknown(nil)), ("{}", .unknown(nil)), (#"{"seq":-1}"#, .unknown(nil)),
            ("[", .unknown(nil)), (#"{"seq":"7"}"#, .unknown(nil)),
        ] as [(String, AppendAnswer)]
    )
    func answers(text: String, answer: AppendAnswer) {
        #expect(AppendAnswer(Array(text.utf8), stream: "LOG_main") == answer)
    }
}
