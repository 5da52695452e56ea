import IdentityToolkit
import Passwords
import Testing

@testable import DatabaseServer

private func configuration(
    _ flags: [Setting: [String]]
) throws(ConfigurationFaults) -> Configuration {
    try Configuration.read([Setting.layer(commandLine: flags.mapValues(Optional.some))])
}

/// A value that is taken, and another one, for each setting; the others' needs come with them.
private let samples: [Setting: (one: [String], other: [String])] = [
    .host: (["127.0.0.2"], ["::1"]), .port: (["9001"], ["9002"]),
    .dev: (["true"], ["false"]), .devExposed: (["false"], ["no"]), .dataDir: (["a"], ["b"]),
    .memory: (["false"], ["off"]), .durability: (["always"], ["memory"]),
    .rules: (["a.json"], ["b.json"]), .database: (["one"], ["two", "three=x.json"]),
    .defaultNs: (["default"], ["DEFAULT"]), .domain: (["a.test"], ["b.test"]),
    .mapHost: (["a.test=default"], ["b.test=default"]), .alias: (["a=default"], ["b=default"]),
    .allowHost: (["a.test"], ["b.test", "c.test"]),
    .allowOrigin: (["https://a.test"], ["https://b.test", "http://c.test:1"]),
    .tlsCert: (["a.pem"], ["b.pem"]), .tlsKey: (["a.key"], ["b.key"]),
    .adminSecretFile: (["a"], ["b"]), .jwks: (["a.json"], ["b.json"]),
    .tokenIssuer: (["a"], ["b"]), .tokenAudience: (["a"], ["b"]),
    .hs256SecretFile: (["a"], ["b"]), .accountsIssuer: (["https://a"], ["https://b"]),
    .accountsAudience: (["a"], ["b"]), .accountsPort: (["0"], ["9099"]),
    .console: (["true"], ["false"]), .consolePort: (["0"], ["9443"]),
    .accountsWebhook: (["https://a.test/x"], ["http://127.0.0.1:1/y"]),
    .accountsWebhookSecretFile: (["a"], ["b"]),
    .publicURL: (["https://a.test"], ["https://b.test:8443"]),
    .signIn: (["password"], ["anonymous", "custom"]), .signUp: (["open"], ["admin"]),
    .emailGuard: (["true"], ["false"]), .passwordLength: (["8"], ["12"]),
    .passwordRequires: (["digit"], ["lowercase", "symbol"]),
    .passwordMemory: (["32MiB"], ["65536KiB"]), .passwordPasses: (["2"], ["4"]),
    .signingKeyLifetime: (["24h"], ["3600s"]),
    .trustedProxy: (["10.0.0.1"], ["::1", "10.0.0.0/8"]),
    .listenRecheck: (["data"], ["auth"]), .inspect: (["off"], ["refused"]),
    .logFormat: (["json"], ["text"]), .logLevel: (["debug"], ["error"]),
    .maxConnections: (["10"], ["20"]), .maxAddressConnections: (["0"], ["50"]),
    .maxConnectionRate: (["0"], ["5"]), .queueLimit: (["1MiB"], ["2MiB"]),
    .maxMessage: (["1MiB"], ["2MiB"]), .maxBody: (["1MiB"], ["2MiB"]),
    .maxResponse: (["1MiB"], ["2MiB"]), .headerTimeout: (["1s"], ["2s"]),
    .bodyTimeout: (["1s"], ["2s"]), .idleTimeout: (["1s"], ["2s"]), .pingInterval: (["1s"], ["2s"]),
    .keepAliveInterval: (["1s"], ["2s"]), .pollHold: (["1s"], ["2s"]),
    .pollSilence: (["1s"], ["2s"]), .drainTimeout: (["1s"], ["2s"]), .project: (["a"], ["b"]),
    .filesRules: (["a.storage"], ["b.storage"]),
    .filesBucket: (["one"], ["two-a", "three=x.storage"]), .filesClientLimit: (["1MiB"], ["2MiB"]),
    .filesQuota: (["1GiB"], ["2GiB", "one=1MiB"]),
    .filesLimit: (["1GiB"], ["2GiB"]), .filesS3: (["https://a.test"], ["http://b.test"]),
    .filesS3Bucket: (["one"], ["two"]), .filesS3Region: (["eu-1"], ["eu-2"]),
    .filesS3KeyFile: (["one"], ["two"]), .filesS3CAFile: (["one"], ["two"]),
    .hubPort: (["0"], ["4400"]), .import: (["a"], ["b", "c=d"]),
    .exportOnExit: (["a"], ["b"]),
    .stopAtEof: (["true"], ["false"]), .samples: (["true"], ["false"]),
    .clusterNode: (["n1"], ["n2"]), .clusterBrokers: (["a:4222"], ["b:4222", "c:4222"]),
    .clusterMonitors: (["http://a:8222"], ["http://b:8222", "http://c:8222"]),
    .clusterBrokerUserFile: (["one"], ["two"]), .clusterSecretFile: (["one"], ["two"]),
    .clusterCAFile: (["one"], ["two"]),
    .clusterAdvertise: (["a:9000"], ["b:9000"]),
]

/// What has to be set too, for one setting to mean something.
private let companions: [Setting: [Setting: [String]]] = [
    .tlsCert: [.tlsKey: ["k"]], .tlsKey: [.tlsCert: ["c"]], .tokenIssuer: [.jwks: ["j"]],
    .tokenAudience: [.jwks: ["j"]],
    .accountsWebhookSecretFile: [
        .accountsWebhook: ["https://a.test"], .publicURL: ["https://a.test"],
    ],
    .accountsWebhook: [.accountsWebhookSecretFile: ["s"], .publicURL: ["https://a.test"]],
    .hubPort: [.dev: ["true"]], .import: [.dev: ["true"]], .exportOnExit: [.dev: ["true"]],
    .devExposed: [.dev: ["true"]], .samples: [.dev: ["true"]],
    .filesS3: [.filesS3Bucket: ["files"], .filesS3KeyFile: ["key"]],
    .filesS3Bucket: [.filesS3: ["https://a.test"], .filesS3KeyFile: ["key"]],
    .filesS3Region: [
        .filesS3: ["https://a.test"], .filesS3Bucket: ["files"], .filesS3KeyFile: ["key"],
    ],
    .filesS3KeyFile: [.filesS3: ["https://a.test"], .filesS3Bucket: ["files"]],
    .filesS3CAFile: [
        .filesS3: ["https://a.test"], .filesS3Bucket: ["files"], .filesS3KeyFile: ["key"],
    ],
    .clusterNode: [.clusterBrokers: ["a:4222"], .clusterAdvertise: ["a:9000"]],
    .clusterBrokers: [.clusterNode: ["n1"], .clusterAdvertise: ["a:9000"]],
    .clusterAdvertise: [.clusterNode: ["n1"], .clusterBrokers: ["a:4222"]],
    .clusterMonitors: [
        .clusterNode: ["n1"], .clusterBrokers: ["a:4222"], .clusterAdvertise: ["a:9000"],
    ],
    .clusterBrokerUserFile: [
        .clusterNode: ["n1"], .clusterBrokers: ["a:4222"], .clusterAdvertise: ["a:9000"],
    ],
    .clusterCAFile: [
        .clusterNode: ["n1"], .clusterBrokers: ["a:4222"], .clusterAdvertise: ["a:9000"],
    ],
    .clusterSecretFile: [
        .clusterNode: ["n1"], .clusterBrokers: ["a:4222"], .clusterAdvertise: ["a:9000"],
    ],
]

@Suite("every setting")
struct EverySettingTests {
    /// A member of the settings file with these texts.
    private func member(_ setting: Setting, _ texts: [String]) -> String {
        let words = texts.map { "\"\($0)\"" }
        let value =
            switch setting.kind {
            case .text: words.first ?? "null"
            case .toggle: ["true", "yes", "on"].contains(texts.first ?? "") ? "true" : "false"
            case .list: "[\(words.joined(separator: ","))]"
            }
        return "\"\(setting.rawValue)\": \(value)"
    }

    @Test(
        "is taken from the command line before the environment before the file before what is built in",
        arguments: Setting.allCases
    )
    func precedence(setting: Setting) throws {
        let sample = try #require(samples[setting], "a sample for \(setting)")
        let needed = Setting.layer(
            commandLine: (companions[setting] ?? [:]).mapValues(Optional.some)
        )
        let flag = Setting.layer(commandLine: [setting: sample.one])
        let (variable, warnings) = Setting.layer(environment: [
            setting.variable: sample.other.joined(separator: ", ")
        ])
        #expect(warnings == [])
        let file = try ConfigurationFile.layer(
            Array("{\n  \(member(setting, sample.one))\n}".utf8),
            path: "hearth.json"
        )
        func found(_ layers: SettingLayer...) throws -> SettingInForce {
            let configuration = try Configuration.read([needed] + layers)
            return try #require(configuration.settingsInForce.first { $0.setting == setting })
        }
        let all = try found(flag, variable, file)
        #expect(all.place == "--\(setting.rawValue)")
        let two = try found(variable, file)
        #expect(two.place == setting.variable)
        let one = try found(file)
        #expect(one.place.hasPrefix("hearth.json:2:"))
        let none = try Configuration.read([]).settingsInForce.first { $0.setting == setting }
        #expect(none?.place == "default")
        guard setting != .accountsWebhook else { return }
        #expect(all.texts == sample.one)
        #expect(two.texts == sample.other)
        if setting.kind != .toggle { #expect(one.texts == sample.one) }
    }

    @Test(
        "that is misspelt in the file is an error that names the nearest",
        arguments: Setting.allCases
    )
    func nearest(setting: Setting) throws {
        let misspelt = String(setting.rawValue.dropLast()) + "_"
        let faults = #expect(throws: ConfigurationFaults.self) {
            try ConfigurationFile.layer(Array("{\"\(misspelt)\": 1}".utf8), path: "h.json")
        }
        let text = try #require(faults).description
        #expect(text.contains("there is no setting \"\(misspelt)\""))
        // Of short names another may be as near.
        #expect(text.contains("Did you mean \""))
        if setting.rawValue.count > 5 {
            #expect(text.contains("Did you mean \"\(setting.rawValue)\"?"), "\(text)")
        }
    }

    @Test("that is empty in the environment is a fault, but for lists, which are empty then")
    func emptyVariables() throws {
        for setting in Setting.allCases where setting.kind != .list {
            let (variable, _) = Setting.layer(environment: [setting.variable: ""])
            #expect(throws: ConfigurationFaults.self, "\(setting)") {
                try Configuration.read([variable])
            }
        }
        let (variable, _) = Setting.layer(environment: ["HEARTH_TRUSTED_PROXY": ""])
        #expect(try Configuration.read([variable]).trustedProxies == [])
    }
}

@Suite("settings of accounts")
struct AccountSettingsTests {
    @Test("are careful in production and open in development, unless set otherwise")
    func builtIn() throws {
        let production = try configuration([:]).accounts
        #expect(production.policy.methods == [.password, .custom])
        #expect(production.policy.guardsEmails)
        #expect(production.policy.isSignUpOpen)
        #expect(production.policy.cost == .standard)
        #expect(production.policy.issuer == "https://securetoken.google.com/hearth")
        #expect(production.policy.audience == "hearth")
        let development = try configuration([.dev: ["true"]]).accounts
        #expect(development.policy.methods == Set(IdentityPolicy.SignInMethod.allCases))
        #expect(!development.policy.guardsEmails)
    }

    @Test("are all taken")
    func all() throws {
        let configuration = try configuration([
            .project: ["Party"], .accountsIssuer: ["https://id.test"], .accountsAudience: ["all"],
            .accountsPort: ["9099"], .accountsWebhook: ["https://mail.test/hook?key=1"],
            .accountsWebhookSecretFile: ["secret"], .publicURL: ["https://db.test"],
            .signIn: ["anonymous", "email-link"], .signUp: ["admin"], .emailGuard: ["false"],
            .passwordLength: ["10"], .passwordRequires: ["digit", "symbol"],
            .passwordMemory: ["32MiB"], .passwordPasses: ["4"], .signingKeyLifetime: ["48h"],
            .trustedProxy: ["10.0.0.0/8", "::1"],
        ])
        let accounts = configuration.accounts
        #expect(accounts.policy.project == "party")
        #expect(accounts.policy.issuer == "https://id.test")
        #expect(accounts.policy.audience == "all")
        #expect(accounts.port == 9099)
        #expect(accounts.webhook == "https://mail.test/hook?key=1")
        #expect(accounts.webhookSecretFile == "secret")
        #expect(accounts.publicURL == "https://db.test")
        #expect(accounts.policy.methods == [.anonymous, .emailLink])
        #expect(!accounts.policy.isSignUpOpen)
        #expect(!accounts.policy.guardsEmails)
        #expect(accounts.policy.passwords.lengths.lowerBound == 10)
        #expect(accounts.policy.passwords.required == [.digit, .symbol])
        #expect(accounts.policy.cost == PasswordCost(memoryKiB: 32 << 10, passes: 4))
        #expect(accounts.signingKeyLifetime == .seconds(48 * 3600))
        #expect(configuration.trustedProxies.count == 2)
    }

    @Test("take a list of ways to sign in from a variable")
    func listInVariable() throws {
        let (layer, _) = Setting.layer(environment: ["HEARTH_SIGN_IN": "password, anonymous"])
        let policy = try Configuration.read([layer]).accounts.policy
        #expect(policy.methods == [.password, .anonymous])
    }

    @Test(
        "that make no sense say place, problem and advice",
        arguments: [
            ([.project: ["a b"]], "--project: the name 'a b' has a bad character"),
            ([.accountsIssuer: ["a b"]], "--accounts-issuer: 'a b' cannot stand in a token"),
            ([.accountsAudience: ["\u{e9}"]], "--accounts-audience: '\u{e9}' cannot stand"),
            (
                [.accountsPort: ["65536"]],
                "--accounts-port: must be a number from 0 to 65535, not '65536'"
            ),
            ([.accountsPort: ["9000"]], "--accounts-port: 9000 is the port of --port"),
            (
                [.dev: ["true"], .hubPort: ["4400"], .accountsPort: ["4400"]],
                "--accounts-port: 4400 is the port of --hub-port"
            ),
            ([.dev: ["true"], .hubPort: ["9000"]], "--hub-port: 9000 is the port of --port"),
            (
                [.accountsWebhook: ["ftp://a.test"]],
                "--accounts-webhook: is no http or https address"
            ),
            ([.accountsWebhook: ["a.test/x"]], "--accounts-webhook: is no http or https address"),
            ([.accountsWebhook: ["https://u:p@a.test"]], "--accounts-webhook: is no http or https"),
            ([.accountsWebhook: ["https://a.test/ x"]], "--accounts-webhook: is no http or https"),
            ([.accountsWebhook: ["https://"]], "--accounts-webhook: is no http or https address"),
            (
                [.accountsWebhook: ["http://a.test/x"]],
                "--accounts-webhook: would send codes through the network unencrypted"
            ),
            (
                [.accountsWebhook: ["https://a.test"], .publicURL: ["https://a.test"]],
                "--accounts-webhook: has no secret to sign with"
            ),
            (
                [.accountsWebhook: ["https://a.test"], .accountsWebhookSecretFile: ["s"]],
                "--accounts-webhook: sends links, and nothing says where they lead"
            ),
            (
                [.accountsWebhookSecretFile: ["s"]],
                "--accounts-webhook-secret-file: means nothing without --accounts-webhook"
            ),
            ([.publicURL: ["db.test"]], "--public-url: 'db.test' is no address"),
            ([.publicURL: ["https://db.test/path"]], "--public-url: 'https://db.test/path' is no"),
            ([.publicURL: ["ws://db.test"]], "--public-url: 'ws://db.test' is no address"),
            ([.signIn: ["sms"]], "--sign-in: 'sms' cannot be read. Write some of: password"),
            ([.signUp: ["closed"]], "--sign-up: 'closed' is not known. Write one of: open, admin."),
            ([.emailGuard: ["maybe"]], "--email-guard: 'maybe' is neither true nor false"),
            (
                [.passwordLength: ["5"]],
                "--password-length: must be a number from 6 to 128, not '5'"
            ),
            (
                [.passwordLength: ["129"]],
                "--password-length: must be a number from 6 to 128, not '129'"
            ),
            ([.passwordRequires: ["emoji"]], "--password-requires: 'emoji' cannot be read"),
            (
                [.passwordMemory: ["1MiB"]],
                "--password-memory: must be a size from 8388608 bytes"
            ),
            (
                [.passwordMemory: ["2GiB"]],
                "--password-memory: must be a size from 8388608 bytes to 1024 MiB, not '2GiB'"
            ),
            ([.passwordPasses: ["0"]], "--password-passes: must be a number from 1 to 20, not '0'"),
            ([.signingKeyLifetime: ["1m"]], "--signing-key-lifetime: must be a time from 3600s"),
            ([.trustedProxy: ["proxy.test"]], "--trusted-proxy: 'proxy.test' cannot be read"),
            ([.trustedProxy: ["10.0.0.0/40"]], "--trusted-proxy: '10.0.0.0/40' cannot be read"),
            ([.tokenIssuer: ["i"]], "--token-issuer: means nothing without --jwks"),
            ([.tokenAudience: ["i"]], "--token-audience: means nothing without --jwks"),
        ] as [([Setting: [String]], String)]
    )
    func faults(flags: [Setting: [String]], text: String) {
        do throws(ConfigurationFaults) {
            _ = try configuration(flags)
            Issue.record("taken")
        } catch {
            #expect(error.faults.count == 1, "\(error)")
            #expect(error.description.contains(text), "\(error)")
        }
    }

    @Test("name no way to sign in only by mistake")
    func noWayIn() {
        let (layer, _) = Setting.layer(environment: ["HEARTH_SIGN_IN": ""])
        #expect(throws: ConfigurationFaults.self) { try Configuration.read([layer]) }
    }

    @Test("a fault of a webhook does not tell the address, which may hold a secret")
    func quietFault() throws {
        for address in ["ftp://a.test/MARKER", "http://a.test/MARKER", "MARKER"] {
            let faults = #expect(throws: ConfigurationFaults.self) {
                try configuration([.accountsWebhook: [address]])
            }
            #expect(try !#require(faults).description.contains("MARKER"))
        }
    }

    @Test(
        "are shown without what may be secret",
        arguments: [
            ("https://a.test", "https://a.test"), ("https://a.test/MARKER", "https://a.test/..."),
            ("https://a.test:8443?k=MARKER", "https://a.test:8443/..."),
            ("https://a.test/#MARKER", "https://a.test/..."),
            ("https://me:MARKER@a.test/x", "https://a.test/..."), ("MARKER", "..."),
        ]
    )
    func shortened(address: String, shown: String) {
        #expect(Configuration.shortened(address) == shown)
    }

    @Test(
        "warn of what is allowed and probably not meant",
        arguments: [
            ([.signIn: ["anonymous"]], "make accounts without end"),
            ([.passwordMemory: ["8MiB"]], "hashed with less work"),
            ([.passwordMemory: ["19MiB"], .passwordPasses: ["1"]], "hashed with less work"),
            ([.emailGuard: ["false"]], "--no-email-guard"),
            ([.signIn: ["phone"]], "there is no delivery for the codes that --sign-in phone needs"),
            ([.publicURL: ["http://db.test"]], "--public-url is not https"),
            ([.trustedProxy: ["0.0.0.0/0"]], "--trusted-proxy names every address"),
            ([.host: ["0.0.0.0"]], "without TLS"), ([.durability: ["memory"]], "a power cut"),
            (
                [.dev: ["true"], .devExposed: ["true"], .host: ["0.0.0.0"]],
                "other machines reach this --dev server"
            ),
        ] as [([Setting: [String]], String)]
    )
    func warnings(flags: [Setting: [String]], text: String) throws {
        let warnings = try configuration(flags).warnings
        #expect(warnings.count == 1, "\(warnings)")
        #expect(warnings.first?.contains(text) == true, "\(warnings)")
    }

    @Test(
        "warn of nothing where nothing is unsafe",
        arguments: [
            [:], [.host: ["0.0.0.0"], .tlsCert: ["c"], .tlsKey: ["k"]],
            [.host: ["10.0.0.5"], .trustedProxy: ["10.0.0.1"]],
            [.publicURL: ["http://localhost:9000"]],
            [.passwordMemory: ["19MiB"], .passwordPasses: ["2"]],
            [.signIn: ["anonymous"], .signUp: ["admin"]], [.dev: ["true"]],
        ] as [[Setting: [String]]]
    )
    func quiet(flags: [Setting: [String]]) throws {
        #expect(try configuration(flags).warnings == [])
    }
}

@Suite("a look at a data folder")
struct FolderLookTests {
    @Test("reads exclusive locks from the system's list")
    func locks() {
        let line = "1: FLOCK  ADVISORY  WRITE 4711 08:02:1310733 0 EOF"
        let lock = FolderLook.HeldLock(line[...])
        #expect(lock?.process == 4711)
        #expect(lock?.inode == 1_310_733)
        #expect(lock?.device == 0x802)
        for other in [
            "1: FLOCK  ADVISORY  READ 4711 08:02:1310733 0 EOF",
            "2: POSIX  ADVISORY  WRITE 4711 08:02:1310733 0 EOF",
            "2: -> FLOCK  ADVISORY  WRITE 4711 08:02:1310733 0 EOF", "", "1: FLOCK",
        ] {
            #expect(FolderLook.HeldLock(other[...]) == nil, "\(other)")
        }
    }
}
