import TestSupport
import Logging
import Testing
import Transport

@testable import DatabaseServer

/// The configuration of flags alone.
private func configuration(
    _ flags: [Setting: [String]]
) throws(ConfigurationFaults) -> Configuration {
    try Configuration.read([Setting.layer(commandLine: flags.mapValues(Optional.some))])
}

@Suite("the configuration")
struct ConfigurationTests {
    @Test("without settings is production on loopback, port 9000, synced data in ./hearth-data")
    func builtIn() throws {
        let configuration = try configuration([:])
        #expect(configuration.host == "127.0.0.1")
        #expect(configuration.port == 9000)
        #expect(configuration.mode == .production)
        #expect(configuration.storage == .folder("hearth-data"))
        #expect(configuration.durability == .always)
        #expect(configuration.databases.map(\.name.text) == ["default"])
        #expect(configuration.selection.standard.text == "default")
        #expect(configuration.listenRecheck == .data)
        #expect(configuration.limits == ServerLimits())
        #expect(configuration.bindIsLoopback)
        #expect(configuration.warnings == [])
    }

    @Test("takes what makes it an emulator, with --dev")
    func emulator() throws {
        let configuration = try configuration([
            .dev: ["true"], .project: ["Demo-Party"], .hubPort: ["4400"],
            .import: ["one", "two=three"], .exportOnExit: ["out"], .stopAtEof: ["true"],
        ])
        var expected = EmulatorSettings()
        expected.project = "demo-party"
        expected.hubPort = 4400
        expected.imports = ["one", "two=three"]
        expected.exportFolder = "out"
        #expect(configuration.emulator == expected)
        #expect(configuration.stopsAtEndOfInput)
    }

    @Test(
        "what makes it an emulator means nothing in production",
        arguments: [
            (Setting.hubPort, "0"), (.import, "x"), (.exportOnExit, "x"),
        ]
    )
    func emulatorInProduction(setting: Setting, value: String) throws {
        let faults = #expect(throws: ConfigurationFaults.self) {
            try configuration([setting: [value]])
        }
        #expect(try #require(faults).faults.map(\.place) == ["--\(setting.rawValue)"])
        #expect(try #require(faults).description.contains("means nothing without --dev"))
    }

    @Test("takes every flag")
    func everyFlag() throws {
        let configuration = try configuration([
            .host: ["::"], .port: ["0"], .dataDir: ["/srv/hearth"], .durability: ["interval=250"],
            .rules: ["rules/all.json"], .database: ["chat=rules/chat.json", "Party"],
            .defaultNs: ["chat"], .domain: [".db.example.com"], .mapHost: ["chat.example.com=chat"],
            .alias: ["old=party"], .allowHost: ["hearth.example.com"],
            .allowOrigin: ["https://app.example.com"], .tlsCert: ["c.pem"], .tlsKey: ["k.pem"],
            .adminSecretFile: ["secret"], .jwks: ["keys.json"], .tokenIssuer: ["https://issuer"],
            .tokenAudience: ["party"], .hs256SecretFile: ["hs"], .listenRecheck: ["auth"],
            .logFormat: ["json"], .logLevel: ["debug"], .maxConnections: ["5000"],
            .queueLimit: ["1MiB"], .maxMessage: ["65536"], .maxBody: ["2KiB"],
            .maxResponse: ["1GiB"], .headerTimeout: ["5s"], .bodyTimeout: ["2500ms"],
            .idleTimeout: ["2m"], .pingInterval: ["1h"], .keepAliveInterval: ["15s"],
            .drainTimeout: ["1s"],
        ])
        #expect(configuration.host == "::")
        #expect(!configuration.bindIsLoopback)
        #expect(configuration.port == 0)
        #expect(configuration.storage == .folder("/srv/hearth"))
        #expect(configuration.durability == .interval(milliseconds: 250))
        #expect(configuration.rulesFile == "rules/all.json")
        #expect(
            configuration.databases == [
                .init(name: try DatabaseName("chat"), rulesFile: "rules/chat.json"),
                .init(name: try DatabaseName("party"), rulesFile: nil),
            ]
        )
        #expect(configuration.selection.standard.text == "chat")
        #expect(configuration.selection.domain == "db.example.com")
        let host = try #require(Authority.Host("chat.example.com"))
        #expect(configuration.selection.hosts == [host: try DatabaseName("chat")])
        #expect(
            configuration.selection.aliases == [try DatabaseName("old"): try DatabaseName("party")]
        )
        #expect(configuration.allowedHosts == [try #require(Authority.Host("hearth.example.com"))])
        #expect(
            configuration.allowedOrigins == [try #require(WebOrigin("https://app.example.com"))]
        )
        #expect(configuration.tls == .init(certificate: "c.pem", key: "k.pem"))
        #expect(configuration.adminSecretFile == "secret")
        let tokens = Configuration.TokenSettings(
            jwksFile: "keys.json",
            issuer: "https://issuer",
            audience: "party",
            hs256SecretFile: "hs"
        )
        #expect(configuration.tokens == tokens)
        #expect(configuration.listenRecheck == .auth)
        #expect(configuration.logFormat == .json)
        #expect(configuration.logLevel == .debug)
        var limits = ServerLimits()
        limits.connectionCount = 5000
        limits.queueByteCount = 1 << 20
        limits.messageByteCount = 65536
        limits.bodyByteCount = 2048
        limits.responseByteCount = 1 << 30
        limits.headerTimeout = .seconds(5)
        limits.bodyTimeout = .milliseconds(2500)
        limits.idleTimeout = .seconds(120)
        limits.pingInterval = .seconds(3600)
        limits.keepAliveInterval = .seconds(15)
        limits.drainTimeout = .seconds(1)
        #expect(configuration.limits == limits)
        #expect(configuration.warnings == [])
    }

    @Test("guards the origin with its own hosts, domain and origins")
    func originGuard() throws {
        let configuration = try configuration([
            .domain: ["db.test"], .mapHost: ["chat.example.com=default"],
            .allowHost: ["hearth.example.com"], .allowOrigin: ["https://app.example.com"],
        ])
        let rows = [
            ("localhost", nil, true), ("x.db.test", nil, true), ("chat.example.com", nil, true),
            ("hearth.example.com", nil, true), ("other.example.com", nil, false),
            ("localhost", "https://app.example.com", true),
            ("localhost", "https://evil.com", false),
        ]
        for (host, origin, passes) in rows {
            let request = OriginGuard.Request(path: "/", host: host, origin: origin)
            #expect((configuration.originGuard.check(request) == .accept) == passes)
        }
    }

    @Test(
        "listens where the settings say",
        arguments: [
            ("127.0.0.1", "127.0.0.1", true), ("localhost", "127.0.0.1", true),
            ("::1", "::1", true),
            ("[::1]", "::1", true), ("127.5.5.5", "127.5.5.5", true), ("0.0.0.0", "0.0.0.0", false),
            ("::", "::", false), ("192.168.0.7", "192.168.0.7", false),
        ]
    )
    func bind(text: String, host: String, isLoopback: Bool) throws {
        let configuration = try configuration([.host: [text]])
        #expect(configuration.host == host)
        #expect(configuration.bindIsLoopback == isLoopback)
    }

    @Test("lets a --dev server listen elsewhere only with --dev-exposed")
    func exposure() throws {
        #expect(try configuration([.dev: ["true"]]).mode == .development)
        let exposed: [Setting: [String]] = [
            .dev: ["true"], .devExposed: ["true"], .host: ["0.0.0.0"],
        ]
        #expect(try configuration(exposed).host == "0.0.0.0")
        do throws(ConfigurationFaults) {
            _ = try configuration([.dev: ["true"], .host: ["0.0.0.0"]])
            Issue.record("the server would be exposed")
        } catch {
            #expect(error.faults.count == 1)
            #expect(error.description.contains("--dev-exposed"))
        }
    }

    @Test("may keep data in memory only with --dev")
    func memory() throws {
        #expect(try configuration([.dev: ["true"], .memory: ["true"]]).storage == .memory)
        #expect(throws: ConfigurationFaults.self) { try configuration([.memory: ["true"]]) }
    }

    @Test(
        "takes the only named database as the standard one, unless another is set",
        arguments: [
            (["chat"], nil, "chat"), (["chat", "party"], nil, "default"),
            (["default", "a"], nil, "default"),
            ([], "main", "main"), (["a", "b"], "b", "b"), ([], nil, "default"),
        ] as [([String], String?, String)]
    )
    func standardDatabase(named: [String], standard: String?, expected: String) throws {
        let flags: [Setting: [String]] = [
            .dev: ["true"], .database: named, .defaultNs: standard.map { [$0] } ?? [],
        ]
        #expect(try configuration(flags).selection.standard.text == expected)
    }

    @Test(
        "warns of what is allowed and probably not meant",
        arguments: [
            ([.host: ["0.0.0.0"]], "TLS"), ([.jwks: ["k"]], "--token-issuer"),
            ([.jwks: ["k"], .tokenIssuer: ["i"]], "--token-audience"),
        ] as [([Setting: [String]], String)]
    )
    func warnings(flags: [Setting: [String]], word: String) throws {
        let warnings = try configuration(flags).warnings
        #expect(warnings.count == 1)
        #expect(warnings.first?.contains(word) == true)
    }
}

@Suite("a faulty configuration")
struct ConfigurationFaultTests {
    @Test(
        "says place, problem and advice",
        arguments: [
            (
                [.port: ["70000"]],
                "--port: must be a number from 0 to 65535, not '70000'. Write digits, such as 9000."
            ),
            ([.port: ["9000x"]], "--port: must be a number from 0 to 65535, not '9000x'"),
            ([.port: ["-1"]], "not '-1'"),
            ([.port: [""]], "--port: is empty"), ([.port: ["1", "2"]], "--port: is given 2 times"),
            ([.host: ["example.com"]], "--host: 'example.com' is no address to listen on"),
            ([.host: ["*"]], "--host: '*' is no address"),
            ([.host: ["127.0.0.1:80"]], "--host: '127.0.0.1:80'"),
            ([.host: ["fe80::1%eth0"]], "--host: 'fe80::1%eth0' is no address"),
            ([.devExposed: ["true"]], "--dev-exposed: means nothing without --dev"),
            ([.samples: ["true"]], "--samples: serves pages that are for trying things out"),
            (
                [.dev: ["true"], .samples: ["true"], .alias: ["social=other"]],
                "--alias: 'social' is a database of its own"
            ),
            ([.dev: ["maybe"]], "--dev: 'maybe' is neither true nor false"),
            ([.durability: ["never"]], "--durability: 'never' is not known"),
            ([.durability: ["interval=0"]], "--durability: 'interval=0'"),
            ([.durability: ["interval=60001"]], "--durability: 'interval=60001'"),
            ([.durability: ["interval"]], "--durability: 'interval'"),
            ([.durability: ["ALWAYS"]], "Write always, interval=MS"),
            ([.tlsCert: ["c"]], "--tls-cert: is given without --tls-key"),
            ([.tlsKey: ["c"]], "--tls-key: is given without --tls-cert"),
            (
                [.database: ["a b"]],
                "--database: the name in 'a b' has a bad character at position 2"
            ),
            ([.database: [""]], "--database: the name in '' has 0 characters"),
            ([.database: ["a="]], "--database: 'a=' cannot be read"),
            ([.database: ["a", "A"]], "--database: names 'a' more than once"),
            ([.defaultNs: ["a.b"]], "--default-ns: the name 'a.b' has a bad character"),
            (
                [.database: ["a"], .defaultNs: ["b"]],
                "--default-ns: there is no database 'b'. Add --database b"
            ),
            ([.domain: ["a b"]], "--domain: 'a b' is no domain"),
            ([.domain: ["1.2.3.4"]], "--domain: '1.2.3.4'"),
            ([.mapHost: ["a"]], "--map-host: 'a' cannot be read. Write HOST=NAME"),
            ([.mapHost: ["a:80=default"]], "--map-host: 'a:80=default' cannot be read"),
            ([.mapHost: ["a=other"]], "--map-host: there is no database 'other'"),
            ([.mapHost: ["a=default", "A=default"]], "--map-host: gives one host twice"),
            ([.alias: ["a"]], "--alias: 'a' cannot be read"),
            ([.alias: ["a=b"]], "--alias: there is no database 'b'"),
            ([.alias: ["default=default"]], "--alias: 'default' is a database of its own"),
            ([.alias: ["a=default", "a=default"]], "--alias: gives 'a' twice"),
            (
                [.allowHost: ["a:80"]],
                "--allow-host: 'a:80' cannot be read. Write a host without a port"
            ),
            (
                [.allowOrigin: ["app.example.com"]],
                "--allow-origin: 'app.example.com' cannot be read"
            ),
            ([.allowOrigin: ["null"]], "--allow-origin: 'null' cannot be read"),
            ([.allowOrigin: ["*"]], "--allow-origin: '*' cannot be read"),
            ([.allowOrigin: ["https://a.b/"]], "--allow-origin: 'https://a.b/' cannot be read"),
            (
                [.listenRecheck: ["never"]],
                "--listen-recheck: 'never' is not known. Write one of: data, auth."
            ),
            ([.logFormat: ["xml"]], "Write one of: text, json."),
            ([.logLevel: ["loud"]], "Write one of: trace, debug"),
            ([.maxConnections: ["0"]], "--max-connections: must be a number from 1"),
            (
                [.queueLimit: ["1"]],
                "--queue-limit: must be a size from 65536 bytes to 1024 MiB, not '1'"
            ),
            ([.queueLimit: ["2GiB"]], "not '2GiB'"),
            ([.queueLimit: ["1MB"]], "not '1MB'"),
            ([.queueLimit: ["MiB"]], "not 'MiB'"),
            ([.queueLimit: ["1.5MiB"]], "not '1.5MiB'"),
            ([.queueLimit: ["99999999999999GiB"]], "not '99999999999999GiB'"),
            (
                [.idleTimeout: ["30"]],
                "--idle-timeout: must be a time from 1s to 3600s, not '30'. Write a number with ms, s"
            ),
            ([.idleTimeout: ["0s"]], "not '0s'"),
            ([.idleTimeout: ["2h"]], "not '2h'"),
            ([.idleTimeout: ["1 s"]], "not '1 s'"),
            ([.idleTimeout: ["-1s"]], "not '-1s'"),
        ] as [([Setting: [String]], String)]
    )
    func faults(flags: [Setting: [String]], text: String) {
        do throws(ConfigurationFaults) {
            _ = try configuration(flags)
            Issue.record("taken")
        } catch {
            #expect(error.faults.count == 1)
            #expect(error.description.contains(text), "\(error)")
        }
    }

    @Test("says everything at once")
    func allAtOnce() {
        do throws(ConfigurationFaults) {
            _ = try configuration([
                .port: ["x"], .host: ["y"], .tlsCert: ["c"], .durability: ["z"],
                .allowOrigin: ["null", "https://good.example", "bad"],
            ])
            Issue.record("taken")
        } catch {
            let places = error.faults.map(\.place)
            #expect(
                places == [
                    "--port", "--host", "--tls-cert", "--durability", "--allow-origin",
                    "--allow-origin",
                ]
            )
        }
    }

    @Test("names the files that cannot be read")
    func files() throws {
        let folder = try TemporaryFolder()
        let good = try folder.file("good", "x")
        var configuration = Configuration()
        configuration.rulesFile = good
        #expect(configuration.fileFaults() == [])
        configuration.tls = .init(certificate: good, key: folder.path + "/key.pem")
        configuration.databases = [.init(name: .standard, rulesFile: folder.path + "/rules.json")]
        let faults = configuration.fileFaults()
        #expect(faults.map(\.place) == ["--tls-key", "--database"])
        #expect(faults.first?.problem.contains("No such file") == true)
    }
}

@Suite("a setting")
struct SettingTests {
    @Test("is found on the command line before the environment before the file")
    func precedence() throws {
        let flags = Setting.layer(commandLine: [.port: ["1"], .host: nil, .rules: []])
        let (variables, warnings) = Setting.layer(environment: [
            "HEARTH_PORT": "2", "HEARTH_RULES": "env.json", "HEARTH_ALLOW_HOST": "a.test, b.test",
            "PATH": "/bin",
        ])
        #expect(warnings == [])
        let file = try ConfigurationFile.layer(
            Array(
                #"{"port":3,"rules":"file.json","log-format":"json","allow-host":["c.test"]}"#.utf8
            ),
            path: "hearth.json"
        )
        let configuration = try Configuration.read([flags, variables, file])
        #expect(configuration.port == 1)
        #expect(configuration.rulesFile == "env.json")
        #expect(configuration.logFormat == .json)
        #expect(
            configuration.allowedHosts == [
                try #require(Authority.Host("a.test")), try #require(Authority.Host("b.test")),
            ]
        )
    }

    @Test("names its place in a fault, wherever it is set")
    func places() throws {
        let file = try ConfigurationFile.layer(
            Array("{\n  \"port\": \"x\"}".utf8),
            path: "etc/h.json"
        )
        let (variables, _) = Setting.layer(environment: ["HEARTH_LOG_LEVEL": "loud"])
        do throws(ConfigurationFaults) {
            _ = try Configuration.read([variables, file])
            Issue.record("taken")
        } catch {
            #expect(error.faults.map(\.place) == ["etc/h.json:2:11", "HEARTH_LOG_LEVEL"])
        }
    }

    @Test("that is a variable of ours and unknown is warned of, not refused")
    func unknownVariable() {
        let (layer, warnings) = Setting.layer(environment: [
            "HEARTH_PROT": "1", "HEARTH_CONFIG": "x", "HOME": "/",
        ])
        #expect(layer == [:])
        #expect(warnings == ["HEARTH_PROT is no setting of hearth; it is ignored"])
    }

    @Test("has one word for flag, variable and member")
    func words() {
        #expect(Setting.hs256SecretFile.rawValue == "hs256-secret-file")
        #expect(Setting.hs256SecretFile.variable == "HEARTH_HS256_SECRET_FILE")
        #expect(Setting.defaultNs.variable == "HEARTH_DEFAULT_NS")
        #expect(Setting.nearest(to: "prot") == .port)
        #expect(Setting.nearest(to: "allow-orgin") == .allowOrigin)
        #expect(Setting.nearest(to: "something") == nil)
    }
}

@Suite("the settings file")
struct ConfigurationFileTests {
    private func read(_ text: String) throws(ConfigurationFaults) -> SettingLayer {
        try ConfigurationFile.layer(Array(text.utf8), path: "h.json")
    }

    @Test("takes comments, texts, numbers, booleans, lists and objects")
    func everything() throws {
        let layer = try read(
            """
            // The party's own server.
            {
              "port": 9001, /* not 9000: that is
              taken */ "dev": true, "memory": false,
              "rules": "rules//party.json", // no comment inside a text
              "allow-origin": ["https://a.test", "http://b.test:1"],
              "database": {"party": "rules/party.json", "chat": null, "quote": "a\\"//b"},
              "host": "/* no comment */"
            }
            // end
            """
        )
        #expect(
            layer.mapValues(\.texts) == [
                .port: ["9001"], .dev: ["true"], .memory: ["false"], .rules: ["rules//party.json"],
                .allowOrigin: ["https://a.test", "http://b.test:1"],
                .database: ["party=rules/party.json", "chat", "quote=a\"//b"],
                .host: ["/* no comment */"],
            ]
        )
        #expect(layer[.port]?.origin == .file(path: "h.json", line: 3, column: 11))
        #expect(layer[.dev]?.origin == .file(path: "h.json", line: 4, column: 19))
    }

    @Test(
        "is refused with place and advice",
        arguments: [
            ("", "h.json:1:1: is not JSON here"), ("[]", "h.json:1:1: is not JSON here"),
            ("{", "h.json:1:2: is not JSON here"),
            ("{\"port\":1,}", "h.json:1:11: is not JSON here"),
            ("{\"port\":1} x", "h.json:1:12: is not JSON here"),
            ("{\n\"port\" 1}", "h.json:2:8: is not JSON here"),
            ("{\"port\":1 /* }", "is not JSON here"),
            ("{\"prot\":1}", "h.json:1:9: there is no setting \"prot\". Did you mean \"port\"?"),
            (
                "{\"whatever\":{\"a\":[1]}}",
                "there is no setting \"whatever\". The settings are the flags"
            ),
            ("{\"port\":1,\"port\":2}", "h.json:1:18: \"port\" is set twice"),
            ("{\"port\":[1]}", "\"port\" cannot have such a value. Write a text or a number."),
            ("{\"port\":1.5}", "\"port\" cannot have such a value"),
            ("{\"port\":null}", "\"port\" cannot have such a value"),
            ("{\"port\":true}", "\"port\" cannot have such a value"),
            ("{\"dev\":\"yes\"}", "\"dev\" cannot have such a value. Write true or false."),
            ("{\"dev\":1}", "\"dev\" cannot have such a value"),
            ("{\"database\":[[\"a\"]]}", "\"database\" cannot have such a value"),
            ("{\"database\":{\"a\":{\"b\":1}}}", "\"database\" cannot have such a value"),
            ("{\"database\":[null]}", "\"database\" cannot have such a value"),
        ]
    )
    func bad(text: String, fault: String) {
        do throws(ConfigurationFaults) {
            _ = try read(text)
            Issue.record("taken")
        } catch {
            #expect(error.faults.count == 1)
            #expect(error.description.contains(fault), "\(error)")
        }
    }

    @Test("tells all its faults at once")
    func allAtOnce() {
        do throws(ConfigurationFaults) {
            _ = try read(#"{"a-b":{},"port":[],"dev":0,"host":"::1"}"#)
            Issue.record("taken")
        } catch {
            #expect(error.faults.map(\.place) == ["h.json:1:8", "h.json:1:18", "h.json:1:27"])
        }
    }

    @Test("of the command line beats that of the environment; both must be there")
    func loading() throws {
        let folder = try TemporaryFolder()
        let one = try folder.file("one.json", #"{"port":1}"#)
        let two = try folder.file("two.json", #"{"port":2}"#)
        func port(_ file: String?, _ environment: [String: String]) throws -> Int {
            try Configuration.load(commandLine: [:], file: file, environment: environment).port
        }
        #expect(try port(one, ["HEARTH_CONFIG": two]) == 1)
        #expect(try port(nil, ["HEARTH_CONFIG": two]) == 2)
        #expect(try port(nil, ["HEARTH_CONFIG": two, "HEARTH_PORT": "3"]) == 3)
        #expect(try port("", ["HEARTH_CONFIG": two]) == 9000)
        #expect(try port(nil, ["HEARTH_CONFIG": ""]) == 9000)
        #expect(throws: ConfigurationFaults.self) { try port(folder.path + "/none.json", [:]) }
        #expect(throws: ConfigurationFaults.self) { try port(folder.path, [:]) }
    }
}
