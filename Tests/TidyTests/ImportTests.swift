import Testing

/// What each target may import: the arrows of `docs/ARCHITECTURE.md`. Nothing points up.
private let arrows: [String: Set<String>] = [
    "JSONTree": ["COpenSSL", "CommonCrypto"],
    "Queries": ["JSONTree"],
    "SecurityRules": ["JSONTree", "Queries"],
    "WireProtocol": ["JSONTree", "Queries"],
    "EventProtocol": ["JSONTree", "Queries", "WireProtocol"],
    "Tokens": ["JSONTree", "COpenSSL"],
    "Passwords": ["COpenSSL", "CArgon2"],
    "Accounts": ["JSONTree", "Passwords", "COpenSSL"],
    "IdentityToolkit": ["JSONTree", "Passwords", "Accounts", "Tokens"],
    "AccountCommands": [
        "JSONTree", "HTTPClient", "DataCommands", "Files", "Glibc",
    ],
    "DatabaseCore": [
        "JSONTree", "Queries", "SecurityRules", "WireProtocol", "EventProtocol", "Tokens",
    ],
    "RulesCases": ["JSONTree", "Queries", "SecurityRules", "WireProtocol", "EventProtocol"],
    "WriteAheadLog": ["Glibc", "Synchronization"],
    "StateRecovery": ["JSONTree", "DatabaseCore", "WriteAheadLog"],
    "Transport": ["CTransport", "Glibc", "Synchronization"],
    "DatabaseServer": [
        "JSONTree", "Queries", "SecurityRules", "WireProtocol", "EventProtocol", "Tokens",
        "RulesCases", "DatabaseCore", "WriteAheadLog", "StateRecovery", "Transport", "Gzip",
        "Files", "Logging",
        "Passwords", "Accounts", "IdentityToolkit", "HTTPClient", "CSamplePages", "Webhooks",
        "Glibc",
        "Synchronization", "Dispatch",
    ],
    "Simulation": [
        "JSONTree", "Queries", "SecurityRules", "WireProtocol", "EventProtocol",
        "DatabaseCore", "WriteAheadLog", "StateRecovery", "Synchronization", "SyncCore",
    ],
    "SyncCore": ["JSONTree", "Queries", "WireProtocol"],
    "Locks": ["Glibc", "Darwin", "Synchronization"],
    "DiskCache": [
        "JSONTree", "WireProtocol", "SyncCore", "CSQLite", "Foundation", "Locks",
    ],
    "ClientTransport": [
        "CClientTransport", "Glibc", "Locks", "Dispatch", "Foundation", "Security",
    ],
    "HearthCore": ["Foundation", "Dispatch", "Locks"],
    "HearthDatabase": [
        "JSONTree", "Queries", "WireProtocol", "SyncCore", "DiskCache", "ClientTransport",
        "HearthCore", "Foundation", "Dispatch", "Locks",
    ],
    "HearthAuth": [
        "HearthCore", "HTTPClient", "Foundation", "FoundationNetworking", "Dispatch", "Locks",
    ],
    "Records": ["HearthDatabase", "Foundation"],
    "SocialGraph": ["Records", "HearthDatabase", "Foundation", "Dispatch", "Locks"],
    "Photos": ["CPNG", "Foundation", "Glibc"],
    "Chat": [
        "SocialGraph", "Records", "HearthDatabase", "COpenSSL", "CommonCrypto", "Foundation",
        "Dispatch", "Locks",
    ],
    "Timeline": [
        "SocialGraph", "Records", "HearthDatabase", "Foundation", "Dispatch", "Locks",
    ],
    "Party": ["Records", "HearthDatabase", "Photos", "Foundation", "Dispatch"],
    "Webhooks": ["Files", "HTTPClient", "Tokens"],
    "PushWorker": [
        "Records", "HearthDatabase", "HTTPClient", "COpenSSL", "Webhooks", "Foundation", "Dispatch",
        "Synchronization",
    ],
    "ServiceCommand": [
        "HearthCore", "HearthDatabase", "HearthAuth", "Records", "Files", "ArgumentParser",
        "Foundation", "Glibc", "Dispatch", "Synchronization",
    ],
    "SocialCommand": ["ServiceCommand", "SocialGraph", "Records", "ArgumentParser"],
    "Terminal": ["Files", "Glibc", "Synchronization", "Dispatch"],
    "ChatScreen": ["Chat", "SocialGraph", "Records", "Terminal", "Foundation"],
    "hearth-chat": [
        "Chat", "SocialGraph", "Records", "ChatScreen", "Terminal", "ServiceCommand",
        "SocialCommand",
        "PushWorker", "Webhooks", "HearthDatabase", "HearthAuth", "Files", "ArgumentParser",
        "Foundation",
        "Glibc", "Dispatch", "Synchronization",
    ],
    "hearth-timeline": [
        "Timeline", "SocialGraph", "Records", "Photos", "ServiceCommand", "SocialCommand",
        "HearthDatabase",
        "HearthAuth", "Files", "ArgumentParser", "Foundation", "Glibc", "Dispatch",
        "Synchronization",
    ],
    "hearth-party": [
        "Party", "Records", "Photos", "ServiceCommand", "HearthDatabase", "HearthAuth", "Files",
        "ArgumentParser", "Foundation", "Glibc", "Dispatch", "Synchronization",
    ],
    "demo": [
        "Chat", "Timeline", "Party", "SocialGraph", "Records", "Photos", "HearthCore",
        "HearthDatabase", "HearthAuth", "Foundation", "Dispatch", "Glibc", "Synchronization",
    ],
    "Files": ["Glibc"],
    "Gzip": ["CZlib"],
    "HTTPClient": ["CCurl"],
    "DataCommands": ["JSONTree", "WireProtocol", "HTTPClient", "Gzip", "Files", "Glibc"],
    "RulesCommands": [
        "JSONTree", "SecurityRules", "RulesCases", "HTTPClient", "DataCommands", "Files", "Glibc",
    ],
    "hearth": [
        "DatabaseServer", "DataCommands", "RulesCommands", "AccountCommands", "HTTPClient", "Files",
        "SecurityRules", "ArgumentParser", "Glibc",
    ],
    "bench": [
        "JSONTree", "Queries", "SecurityRules", "WireProtocol", "DatabaseCore", "WriteAheadLog",
        "Tokens", "Passwords", "Accounts", "IdentityToolkit", "Glibc", "SyncCore",
        "HearthDatabase", "HearthCore", "Dispatch", "Chat", "SocialGraph", "Timeline", "Foundation",
        "Synchronization", "Simulation",
    ],
]

/// What single files may import beyond their target: memory is moved and compared by the C library's functions.
private let exceptions: [String: Set<String>] = [
    "Sources/JSONTree/Place.swift": ["Glibc", "Darwin"],
    // For the normal form of texts, which the standard library has and does not offer.
    "Sources/Accounts/UnicodeText.swift": ["Swift"],
]

/// Targets of C, which import no module.
private let targetsOfC: Set<String> = [
    "CLibwebsockets", "COpenSSL", "CArgon2", "CCurl", "CZlib", "CTransport", "CSQLite",
    "CClientTransport", "CPNG", "CSamplePages",
]

@Suite("imports")
struct ImportTests {
    /// The module of an import line: `package import struct Glibc.stat` gives `Glibc`.
    static func module(of line: Substring) -> String? {
        var words = line.split(separator: " ")
        let attributes: Set<Substring> = [
            "package", "public", "internal", "fileprivate", "private", "@testable",
            "@preconcurrency", "@_spi(_Unicode)",
            "@_implementationOnly", "@_exported",
        ]
        while let first = words.first, attributes.contains(first) { words.removeFirst() }
        guard words.first == "import", words.count >= 2 else { return nil }
        let kinds: Set<Substring> = [
            "struct", "class", "enum", "func", "protocol", "typealias", "var", "let",
        ]
        let name = kinds.contains(words[1]) && words.count > 2 ? words[2] : words[1]
        return name.split(separator: ".").first.map { String($0) }
    }

    @Test(
        "are read from their lines",
        arguments: [
            ("import Glibc", "Glibc"), ("package import JSONTree", "JSONTree"),
            ("@testable import Tokens", "Tokens"), ("import struct Glibc.stat", "Glibc"),
            ("/// import nothing", nil), ("important()", nil), ("let a = 1", nil),
        ] as [(Substring, String?)]
    )
    func reading(line: Substring, module: String?) {
        #expect(Self.module(of: line) == module)
    }

    @Test("of every source follow the arrows")
    func followArrows() throws {
        let files = try Repository.files(below: "Sources", ".swift")
        #expect(files.count > 50)
        for file in files {
            guard let allowed = arrows[file.target] else {
                Issue.record("\(file): the target \(file.target) has no arrows in this table")
                continue
            }
            let extra = exceptions[file.path] ?? []
            for line in file.lines {
                guard let module = Self.module(of: line.drop { $0 == " " }) else { continue }
                #expect(
                    allowed.contains(module) || extra.contains(module),
                    "\(file) imports \(module)"
                )
            }
        }
    }

    @Test("have no arrows for targets that are gone")
    func noOldArrows() throws {
        for target in Set(arrows.keys).union(targetsOfC).sorted() {
            #expect(Repository.exists("Sources/\(target)"), "\(target)")
        }
    }
}
