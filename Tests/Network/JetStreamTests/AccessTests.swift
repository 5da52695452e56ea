#if Cluster
    import ClusterLog
    import Foundation
    import HTTPClient
    import TestSupport
    import Testing

    @testable import JetStream

    /// Single brokers with settings of their own.
    @Suite("access to brokers", .enabled(if: RunningBrokers.areInstalled))
    struct AccessTests {
        private static func broker(
            jetstream: String? = "",
            extra: String = ""
        ) throws -> RunningBrokers {
            var settings = RunningBrokers.Settings()
            settings.count = 1
            settings.jetstream = jetstream
            settings.extra = extra
            return try RunningBrokers(settings)
        }

        private static func configuration(
            _ brokers: RunningBrokers,
            _ credentials: BrokerCredentials = .none,
            host: String = "127.0.0.1",
            tls: BrokerTLS? = nil
        ) throws -> JetStreamConfiguration {
            var configuration = try JetStreamConfiguration(
                brokers: brokers.addresses.map { $0.replacing("127.0.0.1", with: host) },
                node: "a"
            )
            configuration.credentials = credentials
            configuration.tls = tls
            configuration.replicaCount = 1
            return configuration
        }

        private static func fault(_ configuration: JetStreamConfiguration) -> BrokerFault? {
            #expect(throws: BrokerFault.self) {
                try JetStreamLog(configuration, failed: { _ in }, deliver: { _ in })
            }
        }

        /// The log works with a configuration.
        private static func use(_ configuration: JetStreamConfiguration) throws {
            let log = try TestLog(configuration)
            let last = try log.until("bounds") { $0.bounds.last?.last }
            try log.store([1], number: 1, expecting: last)
        }

        @Test("needs the user and password, over TLS that is trusted for its host")
        func passwordAndTLS() throws {
            let folder = try TemporaryFolder()
            let (certificate, key) = ("\(folder.path)/certificate.pem", "\(folder.path)/key.pem")
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = [
                "openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=broker", "-addext",
                "subjectAltName=DNS:localhost", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:P-256", "-keyout", key, "-out", certificate,
            ]
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            try #require(process.terminationStatus == 0)
            let brokers = try Self.broker(
                extra: """
                    tls { cert_file: "\(certificate)", key_file: "\(key)" }
                    authorization { user: ann, password: right }
                    """
            )
            let trusting = BrokerTLS(authorityFile: certificate)
            let right = BrokerCredentials.user("ann", password: "right")
            try Self.use(Self.configuration(brokers, right, host: "localhost", tls: trusting))
            for credentials in [.user("ann", password: "wrong"), .token("right"), .none]
                as [BrokerCredentials]
            {
                let fault = try Self.fault(
                    Self.configuration(brokers, credentials, host: "localhost", tls: trusting)
                )
                #expect(fault == .credentials(brokers: Self.place(brokers, host: "localhost")))
                #expect(fault?.description.contains("wrong") == false)
            }
            let others: [(host: String, tls: BrokerTLS?)] = [
                // The certificate is not for this name, or of no authority of the system's.
                ("127.0.0.1", trusting), ("localhost", BrokerTLS()), ("localhost", nil),
            ]
            for other in others {
                let fault = try Self.fault(
                    Self.configuration(brokers, right, host: other.host, tls: other.tls)
                )
                guard case .untrusted = fault else {
                    Issue.record("\(other): \(String(describing: fault))")
                    continue
                }
            }
            guard
                case .file(let detail) = try Self.fault(
                    Self.configuration(brokers, right, tls: BrokerTLS(authorityFile: key))
                )
            else {
                Issue.record("a key is no certificate")
                return
            }
            #expect(detail.hasPrefix(key))
        }

        @Test("needs the token")
        func token() throws {
            let brokers = try Self.broker(extra: "authorization { token: right }")
            try Self.use(Self.configuration(brokers, .token("right")))
            let place = Self.place(brokers)
            #expect(
                try Self.fault(Self.configuration(brokers, .token("x")))
                    == .credentials(brokers: place)
            )
            #expect(
                try Self.fault(Self.configuration(brokers, .token("right"), tls: BrokerTLS()))
                    == .noTLS(brokers: place)
            )
            guard
                case .file(let detail) = try Self.fault(
                    Self.configuration(brokers, .file(path: "/nowhere/a.creds"))
                )
            else {
                Issue.record("a file that is not there")
                return
            }
            #expect(detail.hasPrefix("/nowhere/a.creds: "))
        }

        @Test("says what the account is not permitted")
        func permissions() throws {
            let brokers = try Self.broker(
                extra: """
                    authorization {
                        users: [{ user: ann, password: a, permissions: { publish: { deny: "beat.>" } } }]
                    }
                    """
            )
            let log = try TestLog(Self.configuration(brokers, .user("ann", password: "a")))
            log.log.beat([1])
            let detail = try log.until("a fault") { record in
                record.faults.compactMap { fault in
                    if case .notPermitted(let detail) = fault { detail } else { nil }
                }.first
            }
            #expect(detail.contains("beat.main.a"))
            try log.store([1], number: 1, expecting: 0)
        }

        @Test("needs a broker that runs")
        func unreachable() throws {
            // No program serves port 1.
            let configuration = try JetStreamConfiguration(
                brokers: ["nats://127.0.0.1:1"],
                node: "a"
            )
            guard case .unreachable("nats://127.0.0.1:1", _) = Self.fault(configuration) else {
                Issue.record("no broker is there")
                return
            }
        }

        @Test("needs JetStream")
        func noJetStream() throws {
            let brokers = try Self.broker(jetstream: nil)
            let fault = try Self.fault(Self.configuration(brokers))
            #expect(fault == .noJetStream(place: Self.place(brokers)))
            let found = BrokerMonitor.check(
                brokers.monitors,
                requiresSync: false,
                http: HTTPOptions()
            )
            #expect(found.faults == [.noJetStream(place: "the broker n0")])
        }

        @Test("needs room for entries, in one message and on the disk")
        func small() throws {
            let tight = try Self.broker(extra: "max_payload: 65536")
            #expect(
                try Self.fault(Self.configuration(tight))
                    == .smallMessages(place: Self.place(tight), byteLimit: 65_536)
            )
            let brokers = try Self.broker(jetstream: "max_file_store: 4MB")
            let log = try TestLog(Self.configuration(brokers))
            let entry = [UInt8](repeating: 7, count: JetStreamLimits.entryByteCount)
            var number: UInt64 = 0
            while log.record.unknown.isEmpty {
                log.log.append(entry, number: number + 1, expecting: number)
                number += 1
                try log.see("an answer") { $0.stored[number] != nil || !$0.unknown.isEmpty }
            }
            #expect(number > 5)
            let isFull = log.record.faults.contains { if case .full = $0 { true } else { false } }
            #expect(isFull, "\(log.record.faults)")
            let found = BrokerMonitor.check(
                brokers.monitors,
                requiresSync: true,
                http: HTTPOptions()
            )
            #expect(found.faults.count == 2)
            #expect(found.faults.first == .notSynced(broker: "n0"))
            guard case .full("the broker n0", _) = found.faults.last else {
                Issue.record("\(found.faults)")
                return
            }
        }

        @Test("is checked by their monitoring ports")
        func monitors() throws {
            let brokers = try RunningBrokers()
            let found = BrokerMonitor.check(
                brokers.monitors,
                requiresSync: true,
                http: HTTPOptions()
            )
            #expect(found.faults == [])
            #expect(found.facts.map(\.name) == ["n0", "n1", "n2"])
            let two = BrokerMonitor.check(
                Array(brokers.monitors.dropLast()),
                requiresSync: true,
                http: HTTPOptions()
            )
            #expect(two.faults == [.unmonitored(monitoredCount: 2, brokerCount: 3)])
        }

        private static func place(_ brokers: RunningBrokers, host: String = "127.0.0.1") -> String {
            brokers.addresses[0].replacing("127.0.0.1", with: host)
        }
    }
#endif
