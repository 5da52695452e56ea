// swift-tools-version: 6.2
import PackageDescription

/// Every target of ours: Swift 6 mode with the checks that find mistakes early.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// Targets that touch nothing: no clock, file, socket or thread, and every unsafe expression marked.
let pure: [SwiftSetting] = strict + [.strictMemorySafety()]

/// Targets of tests: the gate builds the rest optimised, and what runs once is not worth the compiler's minutes.
let unoptimised: [SwiftSetting] = [.unsafeFlags(["-Onone"], .when(configuration: .release))]

/// A library of the system, by its name for pkg-config and its Debian package.
func library(_ name: String, _ pkgConfig: String, debian: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([debian])])
}

func module(
    _ name: String,
    _ dependencies: [Target.Dependency] = [],
    settings: [SwiftSetting] = strict
) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(
    of target: String,
    _ others: [Target.Dependency] = [],
    exclude: [String] = []
) -> Target {
    .testTarget(
        name: "\(target)Tests",
        dependencies: [.target(name: target), "TestSupport"] + others,
        exclude: exclude,
        swiftSettings: strict + unoptimised,
    )
}

/// The targets of a folder: the product's stand below `Sources`, all others below `Tests`.
///
/// A target knows those of its own folder and of the folders before it; tests know whatever they test with.
func folder(_ name: String, _ product: [Target], tests: [Target] = []) -> [Target] {
    for target in product { target.path = "Sources/\(name)/\(target.name)" }
    for target in tests { target.path = "Tests/\(name)/\(target.name)" }
    return product + tests
}

let onLinux = TargetDependencyCondition.when(platforms: [.linux])
let withCluster = TargetDependencyCondition.when(traits: ["Cluster"])
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

let system = folder(
    "System",
    [
        library("CLibwebsockets", "libwebsockets", debian: "libwebsockets-dev"),
        library("COpenSSL", "libcrypto", debian: "libssl-dev"),
        library("CArgon2", "libargon2", debian: "libargon2-dev"),
        library("CZlib", "zlib", debian: "zlib1g-dev"),
        library("CCurl", "libcurl", debian: "libcurl4-openssl-dev"),
        library("CSQLite", "sqlite3", debian: "libsqlite3-dev"),
        library("CPNG", "libpng16", debian: "libpng-dev"),
        library("CNats", "libnats", debian: "libnats-dev"),
        .target(
            name: "CTransport",
            dependencies: ["CLibwebsockets"],
            linkerSettings: [.linkedLibrary("uv"), .linkedLibrary("ssl"), .linkedLibrary("crypto")],
        ),
        .target(name: "CClientTransport", dependencies: ["CLibwebsockets"]),
        .target(name: "CFiles"),
        module("Files"),
        module("Locks"),
    ],
    tests: [tests(of: "Files"), tests(of: "Locks")]
)

let data = folder(
    "Data",
    [
        module("JSONTree", [.target(name: "COpenSSL", condition: onLinux)], settings: pure),
        module("Queries", ["JSONTree"], settings: pure),
        module("FileRecords", ["JSONTree"], settings: pure),
    ],
    tests: [
        tests(of: "JSONTree", ["Simulation"], exclude: ["Specs"]),
        tests(of: "Queries", ["JSONTree", "Simulation"]),
        tests(of: "FileRecords", ["JSONTree", "FileSamples"], exclude: ["Specs"]),
    ]
)

let protocols = folder(
    "Protocols",
    [
        module("WireProtocol", ["JSONTree", "Queries"], settings: pure),
        module("EventProtocol", ["JSONTree", "Queries", "WireProtocol"], settings: pure),
        module("FileProtocol", ["JSONTree", "FileRecords"], settings: pure),
    ],
    tests: [
        tests(of: "WireProtocol", ["JSONTree", "Queries"]),
        tests(of: "EventProtocol", ["JSONTree", "Queries", "WireProtocol"], exclude: ["Specs"]),
        tests(
            of: "FileProtocol",
            ["JSONTree", "FileRecords", "FileSamples", "Tokens", "WriteAheadLog"],
            exclude: ["Specs"]
        ),
    ]
)

let rules = folder(
    "Rules",
    [
        module("SecurityRules", ["JSONTree", "Queries"], settings: pure),
        module(
            "RulesTools",
            ["JSONTree", "Queries", "SecurityRules", "WireProtocol", "EventProtocol"],
            settings: pure
        ),
        module("FileRules", ["JSONTree", "SecurityRules", "COpenSSL"], settings: pure),
        module(
            "FileRulesTools",
            ["JSONTree", "SecurityRules", "RulesTools", "FileRules"],
            settings: pure
        ),
    ],
    tests: [
        // A second reading of the language of rules, which shares no code with the first.
        module(
            "RulesOracle",
            ["JSONTree", "Queries", "SecurityRules", "RulesTools", "TestSupport"]
        ),
        tests(
            of: "SecurityRules",
            ["JSONTree", "Queries", "RulesTools", "RulesOracle"],
            exclude: ["Specs"]
        ),
        tests(
            of: "RulesTools",
            ["JSONTree", "Queries", "SecurityRules"],
            exclude: ["Explanations", "Specs"]
        ),
        tests(
            of: "FileRules",
            ["JSONTree", "SecurityRules", "RulesTools", "FileRulesTools", "RulesOracle"],
            exclude: ["Specs"]
        ),
    ]
)

let engine = folder(
    "Engine",
    [
        module(
            "DatabaseCore",
            [
                "JSONTree", "Queries", "SecurityRules", "RulesTools", "WireProtocol",
                "EventProtocol",
            ],
            settings: pure
        )
    ],
    tests: [
        tests(
            of: "DatabaseCore",
            [
                "JSONTree", "Queries", "SecurityRules", "RulesTools", "WireProtocol",
                "EventProtocol", "Simulation", "WriteAheadLog",
            ],
            exclude: ["Transcripts"]
        )
    ]
)

let log = folder(
    "Log",
    [
        module("WriteAheadLog", ["Files", "CFiles"]),
        module(
            "BlobStore",
            ["JSONTree", "FileRecords", "FileProtocol", "Files", "WriteAheadLog", "COpenSSL"]
        ),
        module("StateRecovery", ["JSONTree", "DatabaseCore", "WriteAheadLog"]),
        module("ClusterLog", ["WriteAheadLog", "COpenSSL"], settings: pure),
    ],
    tests: [
        tests(of: "WriteAheadLog", ["Simulation", "SimulatedStorage"], exclude: ["Specs"]),
        tests(
            of: "BlobStore",
            ["JSONTree", "FileRecords", "FileProtocol", "WriteAheadLog", "SimulatedStorage"]
        ),
        tests(
            of: "StateRecovery",
            ["JSONTree", "DatabaseCore", "WriteAheadLog", "SimulatedStorage"]
        ),
        tests(
            of: "ClusterLog",
            ["WriteAheadLog", "COpenSSL", "SimulatedStorage"],
            exclude: ["Specs"]
        ),
    ]
)

let identity = folder(
    "Identity",
    [
        module("Tokens", ["JSONTree", "COpenSSL"], settings: pure),
        module("Passwords", ["JSONTree", "COpenSSL", "CArgon2"]),
        module("Accounts", ["JSONTree", "Tokens", "Passwords"], settings: pure),
        module(
            "IdentityToolkit",
            ["JSONTree", "Passwords", "Accounts", "Tokens"],
            settings: pure
        ),
    ],
    tests: [
        tests(of: "Tokens", ["JSONTree"]),
        tests(of: "Passwords", ["JSONTree", "CArgon2"]),
        tests(of: "Accounts", ["JSONTree", "Tokens", "Passwords"]),
        tests(of: "IdentityToolkit", ["JSONTree", "Passwords", "Accounts", "Tokens"]),
    ]
)

let network = folder(
    "Network",
    [
        module("Gzip", ["CZlib"]),
        module("HTTPClient", ["CCurl"]),
        module("Transport", ["CTransport", "Files"]),
        module(
            "ClientTransport",
            ["Locks", .target(name: "CClientTransport", condition: onLinux)]
        ),
        module("Webhooks", ["JSONTree", "Files", "HTTPClient", "Tokens"]),
        module(
            "JetStream",
            [
                "JSONTree", "Files", "ClusterLog", "HTTPClient",
                .target(name: "CNats", condition: withCluster),
            ]
        ),
        module(
            "ObjectStorage",
            [
                "JSONTree", "Files", "FileRecords", "FileProtocol", "BlobStore", "Tokens",
                "HTTPClient", "COpenSSL",
            ]
        ),
    ],
    tests: [
        tests(of: "Gzip"),
        tests(of: "HTTPClient", ["Transport"]),
        tests(of: "Transport", ["LoopSupport"]),
        tests(of: "ClientTransport"),
        tests(of: "Webhooks"),
        tests(
            of: "ObjectStorage",
            [
                "JSONTree", "FileProtocol", "WriteAheadLog", "BlobStore", "HTTPClient",
                "Transport", "LoopSupport",
            ],
            exclude: ["Specs"]
        ),
        tests(of: "JetStream", ["ClusterLog", "HTTPClient"]),
    ]
)

let server = folder(
    "Server",
    [
        .target(name: "CPages", exclude: ["Pages"]),
        module(
            "DatabaseServer",
            [
                "JSONTree", "Queries", "SecurityRules", "WireProtocol", "EventProtocol", "Tokens",
                "RulesTools", "DatabaseCore", "WriteAheadLog", "StateRecovery", "Transport", "Gzip",
                "Files", "Passwords", "Accounts", "IdentityToolkit", "HTTPClient", "CPages",
                "Webhooks", "FileRecords", "FileProtocol", "FileRules", "FileRulesTools",
                "BlobStore", "ObjectStorage", "ClusterLog", "JetStream", "ClientTransport", logging,
            ]
        ),
    ],
    tests: [
        tests(
            of: "DatabaseServer",
            [
                "ClusterLog", "SimulatedStorage",
                "DatabaseCore", "EventProtocol", "Accounts", "Files", "HTTPClient",
                "FileRecords", "FileProtocol", "BlobStore", "IdentityToolkit", "JSONTree",
                "LoopSupport", "Passwords", "Queries", "RulesTools",
                "SecurityRules", "StateRecovery", "Tokens", "Transport", "Webhooks", "WireProtocol",
                "WriteAheadLog", logging,
            ]
        )
    ]
)

/// What a package that uses the SDK builds, with JSONTree, Queries and WireProtocol.
let client = folder(
    "Client",
    [
        module("HearthCore", ["Locks"]),
        module("SyncCore", ["JSONTree", "Queries", "WireProtocol"], settings: pure),
        module(
            "DiskCache",
            ["JSONTree", "Queries", "WireProtocol", "SyncCore", "HearthCore", "CSQLite"]
        ),
        module(
            "HearthDatabase",
            [
                "JSONTree", "Queries", "WireProtocol", "SyncCore", "DiskCache", "ClientTransport",
                "HearthCore",
            ]
        ),
        module(
            "HearthAuth",
            ["HearthCore", .target(name: "HTTPClient", condition: onLinux)]
        ),
        module(
            "HearthStorage",
            ["HearthCore", .target(name: "HTTPClient", condition: onLinux)]
        ),
    ],
    tests: [
        tests(of: "SyncCore", ["JSONTree", "Queries", "WireProtocol"], exclude: ["Scenarios"]),
        tests(of: "DiskCache", ["JSONTree", "Queries", "WireProtocol", "SyncCore"]),
        tests(
            of: "HearthDatabase",
            [
                "ClientTransport", "DiskCache", "HearthCore", "JSONTree", "Queries", "SyncCore",
                "WireProtocol",
            ]
        ),
        tests(of: "HearthAuth", ["HearthCore", "HearthDatabase"]),
        tests(of: "HearthStorage", ["HearthCore", "HearthAuth"]),
        // Imports nothing of ours but the SDK, as an app does, in the language mode of published code.
        .testTarget(
            name: "TutorialTests",
            dependencies: ["HearthDatabase", "TestSupport"],
            swiftSettings: [.swiftLanguageMode(.v5)] + unoptimised,
        ),
    ]
)

/// Clients like any other, which know nothing of ours but the SDK.
let services = folder(
    "Services",
    [
        module("Social", ["HearthDatabase", "HearthCore"]),
        module("Photos", [.target(name: "CPNG", condition: onLinux)]),
        module(
            "Attachments",
            ["Social", "Photos", "HearthDatabase", "HearthStorage", "HearthCore"]
        ),
        module(
            "Chat",
            [
                "Attachments", "Social", "HearthDatabase", "HearthCore",
                .target(name: "COpenSSL", condition: onLinux),
            ]
        ),
        module("Timeline", ["Attachments", "Social", "HearthDatabase", "HearthCore"]),
        module("Party", ["Attachments", "Social", "HearthDatabase", "HearthStorage", "Photos"]),
        module("PushWorker", ["Social", "HearthDatabase", "HTTPClient", "COpenSSL", "Webhooks"]),
    ],
    tests: [
        module(
            "ServiceSupport",
            ["TestSupport", "HearthCore", "HearthDatabase", "HearthAuth", "HearthStorage"]
        ),
        tests(of: "Social", ["HearthDatabase", "ServiceSupport"]),
        tests(of: "Photos"),
        tests(
            of: "Attachments",
            ["Chat", "Photos", "Social", "HearthDatabase", "HearthStorage", "ServiceSupport"]
        ),
        tests(of: "Chat", ["Social", "HearthDatabase", "ServiceSupport"]),
        tests(
            of: "Timeline",
            ["Attachments", "Social", "HearthDatabase", "HearthStorage", "ServiceSupport"]
        ),
        tests(
            of: "Party",
            [
                "Attachments", "Social", "Photos", "HearthDatabase", "HearthStorage",
                "ServiceSupport",
            ]
        ),
        tests(
            of: "PushWorker",
            ["Chat", "Social", "HearthDatabase", "HearthAuth", "ServiceSupport", "Webhooks"]
        ),
    ]
)

let commands = folder(
    "Commands",
    [
        module(
            "Commands",
            [
                "JSONTree", "WireProtocol", "SecurityRules", "RulesTools", "FileRules",
                "FileRulesTools", "DatabaseServer", "HTTPClient", "Gzip", "Files", "CPages",
                "BlobStore", "FileRecords", "WriteAheadLog", "Tokens", arguments,
            ]
        ),
        program("hearth", ["Commands", "Files", arguments]),
    ],
    tests: [
        tests(of: "Commands", ["HTTPClient", "Files", "JSONTree", "RulesTools", arguments])
    ]
)

let programs = folder(
    "Programs",
    [
        module("Terminal", ["Files"]),
        module(
            "ServiceCommand",
            [
                "HearthCore", "HearthDatabase", "HearthAuth", "HearthStorage", "Social", "Files",
                arguments,
            ]
        ),
        module("ChatScreen", ["Chat", "Social", "Terminal"]),
        program(
            "hearth-chat",
            [
                "Chat", "Social", "ChatScreen", "Terminal", "ServiceCommand", "PushWorker",
                "HearthDatabase", "HearthAuth", "Files", "Webhooks", arguments,
            ]
        ),
        program(
            "hearth-timeline",
            [
                "Timeline", "Attachments", "Social", "Photos", "ServiceCommand", "HearthDatabase",
                "HearthAuth",
                "Files", arguments,
            ]
        ),
        program(
            "hearth-party",
            [
                "Party", "Social", "Photos", "ServiceCommand", "HearthDatabase", "HearthAuth",
                "Files", arguments,
            ]
        ),
        program(
            "demo",
            [
                "Chat", "Timeline", "Party", "Attachments", "Social", "Photos", "HearthCore",
                "HearthDatabase", "HearthAuth", "HearthStorage",
            ]
        ),
    ],
    tests: [
        tests(of: "Terminal"),
        tests(of: "ChatScreen", ["Chat", "Social", "Terminal"]),
        tests(
            of: "ServiceCommand",
            ["HearthCore", "HearthDatabase", "Social", "Files", arguments]
        ),
    ]
)

/// What tests are made with, and measurements.
let support = folder(
    "Support",
    [],
    tests: [
        module("TestSupport"),
        module("FileSamples", ["JSONTree", "FileRecords"]),
        // Beside what the gate leaves unoptimised: tests of the log spend most of their time in it.
        module("SimulatedStorage", ["JSONTree", "WriteAheadLog", "BlobStore", "ClusterLog"]),
        // The one loop of the process that all tests run in.
        module("LoopSupport", ["Transport"]),
        .testTarget(
            name: "TidyTests",
            dependencies: ["TestSupport"],
            swiftSettings: strict + unoptimised,
        ),
    ]
)

let simulation = folder(
    "Simulation",
    [],
    tests: [
        module(
            "Simulation",
            [
                "JSONTree", "Queries", "SecurityRules", "WireProtocol", "EventProtocol",
                "DatabaseCore", "WriteAheadLog", "StateRecovery", "SyncCore", "SimulatedStorage",
            ]
        ),
        tests(
            of: "Simulation",
            [
                "JSONTree", "SecurityRules", "WireProtocol", "DatabaseCore", "WriteAheadLog",
                "StateRecovery", "SyncCore", "SimulatedStorage",
            ]
        ),
    ]
)

/// The program that gives targets their inputs is libFuzzer, which only `make fuzz` links.
let fuzz = folder(
    "Fuzz",
    [],
    tests: [
        module(
            "FuzzTargets",
            [
                "JSONTree", "Queries", "WireProtocol", "EventProtocol", "SecurityRules",
                "RulesTools", "DatabaseCore", "WriteAheadLog", "StateRecovery", "Tokens",
                "Transport", "RulesOracle", "SimulatedStorage", "TestSupport",
            ]
        ),
        tests(of: "FuzzTargets"),
    ] + (Context.environment["HEARTH_FUZZ"] == nil ? [] : [program("fuzz", ["FuzzTargets"])])
)

let benchmarks = folder(
    "Benchmarks",
    [],
    tests: [
        program(
            "bench",
            [
                "JSONTree", "Queries", "SecurityRules", "RulesTools", "WriteAheadLog",
                "DatabaseCore", "WireProtocol", "Tokens", "Passwords", "Accounts",
                "IdentityToolkit", "SyncCore",
                "HearthDatabase", "HearthCore", "Chat", "Social", "Timeline", "Simulation",
                "SimulatedStorage",
            ]
        )
    ]
)

// The gate measures nothing: it optimises what its tests spend their time in, and leaves the rest, whose optimised compile
// takes it two minutes.
if Context.environment["HEARTH_GATE"] != nil {
    let rarelyBusy = (data + protocols + rules + identity + network + client + commands).filter {
        [
            "FileRecords", "FileProtocol", "FileRulesTools", "ObjectStorage", "RulesTools",
            "Accounts", "IdentityToolkit", "SyncCore", "ClientTransport", "HearthAuth",
            "HearthDatabase",
            "HearthStorage", "Commands", "hearth",
        ].contains($0.name)
    }
    for target in services + programs + simulation + benchmarks + rarelyBusy
    where target.type != .test {
        target.swiftSettings? += unoptimised
    }
}

let package = Package(
    name: "hearth",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .executable(name: "hearth", targets: ["hearth"]),
        .library(name: "HearthCore", targets: ["HearthCore"]),
        .library(name: "HearthDatabase", targets: ["HearthDatabase"]),
        .library(name: "HearthAuth", targets: ["HearthAuth"]),
        .library(name: "HearthStorage", targets: ["HearthStorage"]),
        .library(name: "Chat", targets: ["Chat", "Attachments", "Social"]),
        .library(name: "Timeline", targets: ["Timeline", "Attachments", "Social"]),
        .library(name: "Party", targets: ["Party", "Social"]),
        .library(name: "Photos", targets: ["Photos"]),
    ],
    traits: [
        .trait(name: "Cluster", description: "Servers that share a log on NATS; needs libnats."),
        .default(enabledTraits: ["Cluster"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        system, data, protocols, rules, engine, log, identity, network, server, client, services,
        commands, programs, support, simulation, fuzz, benchmarks,
    ].flatMap { $0 }
)
