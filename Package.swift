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

func tests(
    of target: String,
    _ others: Target.Dependency...,
    exclude: [String] = [],
    resources: [Resource] = []
) -> Target {
    .testTarget(
        name: "\(target)Tests",
        dependencies: [.target(name: target), "TestSupport"] + others,
        exclude: exclude,
        resources: resources,
        swiftSettings: strict,
    )
}

let package = Package(
    name: "hearth",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .executable(name: "hearth", targets: ["hearth"]),
        .library(name: "HearthCore", targets: ["HearthCore"]),
        .library(name: "HearthDatabase", targets: ["HearthDatabase"]),
        .library(name: "HearthAuth", targets: ["HearthAuth"]),
        .library(name: "Chat", targets: ["Chat", "SocialGraph", "Records"]),
        .library(name: "Timeline", targets: ["Timeline", "SocialGraph", "Records"]),
        .library(name: "Party", targets: ["Party", "Records"]),
        .library(name: "Photos", targets: ["Photos"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        .systemLibrary(
            name: "CLibwebsockets",
            pkgConfig: "libwebsockets",
            providers: [.apt(["libwebsockets-dev"])],
        ),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CArgon2",
            pkgConfig: "libargon2",
            providers: [.apt(["libargon2-dev"])],
        ),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(
            name: "CCurl",
            pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"])],
        ),
        .systemLibrary(
            name: "CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])],
        ),
        .systemLibrary(name: "CPNG", pkgConfig: "libpng16", providers: [.apt(["libpng-dev"])]),

        .target(
            name: "JSONTree",
            dependencies: [.target(name: "COpenSSL", condition: .when(platforms: [.linux]))],
            swiftSettings: pure,
        ),
        .target(name: "Queries", dependencies: ["JSONTree"], swiftSettings: pure),
        .target(name: "SecurityRules", dependencies: ["JSONTree", "Queries"], swiftSettings: pure),
        .target(name: "WireProtocol", dependencies: ["JSONTree", "Queries"], swiftSettings: pure),
        .target(
            name: "EventProtocol",
            dependencies: ["JSONTree", "Queries", "WireProtocol"],
            swiftSettings: pure,
        ),
        .target(name: "Tokens", dependencies: ["JSONTree", "COpenSSL"], swiftSettings: pure),
        .target(
            name: "Passwords",
            dependencies: ["COpenSSL", "CArgon2"],
            swiftSettings: strict,
        ),
        .target(
            name: "Accounts",
            dependencies: ["JSONTree", "Passwords", "COpenSSL"],
            swiftSettings: pure,
        ),
        .target(
            name: "IdentityToolkit",
            dependencies: ["JSONTree", "Passwords", "Accounts", "Tokens"],
            swiftSettings: pure,
        ),
        .target(
            name: "DatabaseCore",
            dependencies: [
                "JSONTree", "Queries", "SecurityRules", "WireProtocol", "EventProtocol",
            ],
            swiftSettings: pure,
        ),
        .target(
            name: "RulesCases",
            dependencies: [
                "JSONTree", "Queries", "SecurityRules", "WireProtocol", "EventProtocol",
            ],
            swiftSettings: pure,
        ),
        .target(name: "WriteAheadLog", swiftSettings: strict),
        .target(
            name: "StateRecovery",
            dependencies: ["JSONTree", "DatabaseCore", "WriteAheadLog"],
            swiftSettings: strict,
        ),
        .target(name: "Files", swiftSettings: strict),
        .target(name: "Gzip", dependencies: ["CZlib"], swiftSettings: strict),
        .target(
            name: "CTransport",
            dependencies: ["CLibwebsockets"],
            linkerSettings: [.linkedLibrary("uv"), .linkedLibrary("ssl"), .linkedLibrary("crypto")],
        ),
        .target(name: "Transport", dependencies: ["CTransport"], swiftSettings: strict),
        .target(name: "CSamplePages", exclude: ["Pages"]),
        .target(
            name: "Webhooks",
            dependencies: ["Files", "HTTPClient", "Tokens"],
            swiftSettings: strict,
        ),
        .target(
            name: "DatabaseServer",
            dependencies: [
                "JSONTree", "Queries", "SecurityRules", "WireProtocol", "EventProtocol", "Tokens",
                "RulesCases", "DatabaseCore", "WriteAheadLog", "StateRecovery", "Transport", "Gzip",
                "Files", "Passwords", "Accounts", "IdentityToolkit", "HTTPClient", "CSamplePages",
                "Webhooks",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict,
        ),
        .target(
            name: "Simulation",
            dependencies: [
                "JSONTree", "Queries", "SecurityRules", "WireProtocol", "EventProtocol",
                "DatabaseCore", "WriteAheadLog", "StateRecovery", "SyncCore",
            ],
            swiftSettings: strict,
        ),
        .target(name: "HTTPClient", dependencies: ["CCurl"], swiftSettings: strict),
        .target(
            name: "DataCommands",
            dependencies: ["JSONTree", "WireProtocol", "HTTPClient", "Gzip", "Files"],
            swiftSettings: strict,
        ),
        .target(
            name: "RulesCommands",
            dependencies: [
                "JSONTree", "SecurityRules", "RulesCases", "HTTPClient", "DataCommands", "Files",
            ],
            swiftSettings: strict,
        ),
        .target(
            name: "AccountCommands",
            dependencies: ["JSONTree", "HTTPClient", "DataCommands", "Files"],
            swiftSettings: strict,
        ),

        // The client: what a package that uses the SDK builds, with JSONTree, Queries and WireProtocol.
        .target(
            name: "SyncCore",
            dependencies: ["JSONTree", "Queries", "WireProtocol"],
            swiftSettings: pure,
        ),
        .target(name: "Locks", swiftSettings: strict),
        .target(
            name: "DiskCache",
            dependencies: ["JSONTree", "Queries", "WireProtocol", "SyncCore", "Locks", "CSQLite"],
            swiftSettings: strict,
        ),
        .target(name: "CClientTransport", dependencies: ["CLibwebsockets"]),
        .target(
            name: "ClientTransport",
            dependencies: [
                "Locks", .target(name: "CClientTransport", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: strict,
        ),
        .target(name: "HearthCore", dependencies: ["Locks"], swiftSettings: strict),
        .target(
            name: "HearthDatabase",
            dependencies: [
                "JSONTree", "Queries", "WireProtocol", "SyncCore", "DiskCache", "ClientTransport",
                "HearthCore", "Locks",
            ],
            swiftSettings: strict,
        ),
        .target(
            name: "HearthAuth",
            dependencies: [
                "HearthCore", "Locks",
                .target(name: "HTTPClient", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: strict,
        ),

        // The services: clients like any other, which know nothing of ours but the SDK.
        .target(name: "Records", dependencies: ["HearthDatabase"], swiftSettings: strict),
        .target(
            name: "SocialGraph",
            dependencies: ["Records", "HearthDatabase", "Locks"],
            swiftSettings: strict,
        ),
        .target(
            name: "Photos",
            dependencies: [.target(name: "CPNG", condition: .when(platforms: [.linux]))],
            swiftSettings: strict,
        ),
        .target(
            name: "Chat",
            dependencies: [
                "SocialGraph", "Records", "HearthDatabase", "Locks",
                .target(name: "COpenSSL", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: strict,
        ),
        .target(
            name: "Timeline",
            dependencies: ["SocialGraph", "Records", "HearthDatabase", "Locks"],
            swiftSettings: strict,
        ),
        .target(
            name: "Party",
            dependencies: ["Records", "HearthDatabase", "Photos"],
            swiftSettings: strict,
        ),
        .target(
            name: "PushWorker",
            dependencies: [
                "Records", "HearthDatabase", "HTTPClient", "COpenSSL", "Webhooks",
            ],
            swiftSettings: strict,
        ),
        .target(
            name: "ServiceCommand",
            dependencies: [
                "HearthCore", "HearthDatabase", "HearthAuth", "Records", "Files",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict,
        ),
        .target(
            name: "SocialCommand",
            dependencies: [
                "ServiceCommand", "SocialGraph", "Records",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict,
        ),
        .target(name: "Terminal", dependencies: ["Files"], swiftSettings: strict),
        .target(
            name: "ChatScreen",
            dependencies: ["Chat", "SocialGraph", "Records", "Terminal"],
            swiftSettings: strict,
        ),
        .executableTarget(
            name: "hearth-chat",
            dependencies: [
                "Chat", "SocialGraph", "Records", "ChatScreen", "Terminal", "ServiceCommand",
                "SocialCommand",
                "PushWorker", "HearthDatabase", "HearthAuth", "Files", "Webhooks",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict,
        ),
        .executableTarget(
            name: "hearth-timeline",
            dependencies: [
                "Timeline", "SocialGraph", "Records", "Photos", "ServiceCommand", "SocialCommand",
                "HearthDatabase", "HearthAuth", "Files",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict,
        ),
        .executableTarget(
            name: "hearth-party",
            dependencies: [
                "Party", "Records", "Photos", "ServiceCommand", "HearthDatabase", "HearthAuth",
                "Files",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict,
        ),
        .executableTarget(
            name: "demo",
            dependencies: [
                "Chat", "Timeline", "Party", "SocialGraph", "Records", "Photos", "HearthCore",
                "HearthDatabase", "HearthAuth",
            ],
            swiftSettings: strict,
        ),

        .executableTarget(
            name: "hearth",
            dependencies: [
                "DatabaseServer", "DataCommands", "RulesCommands", "AccountCommands", "HTTPClient",
                "Files", "SecurityRules",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict,
        ),
        .executableTarget(
            name: "bench",
            dependencies: [
                "JSONTree", "Queries", "SecurityRules", "WriteAheadLog", "DatabaseCore",
                "WireProtocol", "Tokens", "Passwords", "Accounts", "IdentityToolkit", "SyncCore",
                "HearthDatabase", "HearthCore", "Chat", "SocialGraph", "Timeline", "Simulation",
            ],
            swiftSettings: strict,
        ),

        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: strict),
        tests(of: "JSONTree", "Simulation", exclude: ["Specs"]),
        tests(of: "Queries", "JSONTree", "Simulation"),
        tests(of: "SecurityRules", "JSONTree", "Queries", "RulesCases", exclude: ["Specs"]),
        tests(of: "WireProtocol", "JSONTree", "Queries"),
        tests(of: "EventProtocol", "JSONTree", "Queries", "WireProtocol", exclude: ["Specs"]),
        tests(of: "Tokens", "JSONTree"),
        tests(
            of: "DatabaseCore",
            "JSONTree",
            "Queries",
            "SecurityRules",
            "WireProtocol",
            "EventProtocol",
            "Simulation",
            "WriteAheadLog",
            exclude: ["Transcripts"]
        ),
        tests(of: "WriteAheadLog", "Simulation", exclude: ["Specs"]),
        tests(of: "StateRecovery", "JSONTree", "DatabaseCore", "WriteAheadLog"),
        tests(of: "Transport"),
        tests(
            of: "DatabaseServer",
            "DatabaseCore",
            "EventProtocol",
            "Accounts",
            "Files",
            "HTTPClient",
            "IdentityToolkit",
            "JSONTree",
            "Passwords",
            "Queries",
            "SecurityRules",
            "Tokens",
            "Transport",
            "Webhooks",
            "WireProtocol",
            "WriteAheadLog",
            .product(name: "Logging", package: "swift-log")
        ),
        tests(
            of: "Simulation",
            "JSONTree",
            "SecurityRules",
            "WireProtocol",
            "DatabaseCore",
            "WriteAheadLog",
            "SyncCore"
        ),
        tests(of: "Files"),
        tests(of: "Gzip"),
        tests(of: "HTTPClient", "Transport"),
        tests(of: "Webhooks"),
        tests(of: "DataCommands", "HTTPClient"),
        tests(of: "RulesCases", "JSONTree", "Queries", "SecurityRules", exclude: ["Explanations"]),
        tests(of: "Passwords", "CArgon2"),
        tests(of: "Accounts", "JSONTree", "Passwords"),
        tests(of: "IdentityToolkit", "JSONTree", "Passwords", "Accounts", "Tokens"),
        tests(of: "AccountCommands", "DataCommands", "Files", "JSONTree"),
        tests(of: "RulesCommands", "Files", "JSONTree", "RulesCases"),
        tests(of: "SyncCore", "JSONTree", "Queries", "WireProtocol", exclude: ["Scenarios"]),
        tests(of: "Locks"),
        tests(of: "DiskCache", "JSONTree", "Queries", "WireProtocol", "SyncCore"),
        tests(of: "ClientTransport"),
        tests(
            of: "HearthDatabase",
            "ClientTransport",
            "DiskCache",
            "HearthCore",
            "JSONTree",
            "Queries",
            "SyncCore",
            "WireProtocol"
        ),
        tests(of: "HearthAuth", "HearthCore", "HearthDatabase"),
        .target(
            name: "ServiceSupport",
            dependencies: ["TestSupport", "HearthCore", "HearthDatabase", "HearthAuth"],
            path: "Tests/ServiceSupport",
            swiftSettings: strict,
        ),
        tests(of: "Records", "HearthDatabase", "ServiceSupport"),
        tests(of: "SocialGraph", "Records", "HearthDatabase", "ServiceSupport"),
        tests(of: "Chat", "SocialGraph", "Records", "HearthDatabase", "ServiceSupport"),
        tests(of: "Timeline", "SocialGraph", "Records", "HearthDatabase", "ServiceSupport"),
        tests(of: "Party", "Records", "Photos", "HearthDatabase", "ServiceSupport"),
        tests(of: "Photos"),
        tests(
            of: "PushWorker",
            "Chat",
            "SocialGraph",
            "HearthDatabase",
            "HearthAuth",
            "ServiceSupport",
            "Webhooks"
        ),
        tests(of: "Terminal"),
        tests(of: "ChatScreen", "Chat", "SocialGraph", "Terminal"),
        tests(
            of: "ServiceCommand",
            "HearthCore",
            "HearthDatabase",
            "Records",
            "Files",
            .product(name: "ArgumentParser", package: "swift-argument-parser")
        ),
        // Imports nothing of ours but the SDK, as an app does, in the language mode of published code.
        .testTarget(
            name: "TutorialTests",
            dependencies: ["HearthDatabase", "TestSupport"],
            swiftSettings: [.swiftLanguageMode(.v5)],
        ),
        .testTarget(name: "TidyTests", swiftSettings: strict),
    ]
)
