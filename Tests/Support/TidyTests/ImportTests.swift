import Testing

/// What of the system each target may import, beside the targets that `Package.swift` lets it. Pure ones import nothing.
private let systemModules: [String: Set<String>] = [
    "JSONTree": ["CommonCrypto"],
    "WriteAheadLog": ["Glibc", "Synchronization"],
    "BlobStore": ["Glibc", "Synchronization"],
    "Transport": ["Glibc", "Synchronization"],
    "ObjectStorage": ["Glibc", "Synchronization"],
    "JetStream": ["Glibc", "Synchronization", "Dispatch"],
    "DatabaseServer": ["Glibc", "Synchronization", "Dispatch"],
    "DiskCache": ["Foundation"],
    "ClientTransport": ["Glibc", "Dispatch", "Foundation", "Security"],
    "HearthCore": ["Foundation", "Dispatch"],
    "Social": ["Foundation", "Dispatch"],
    "Attachments": ["Foundation"],
    "Commands": ["Glibc"],
    "HearthDatabase": ["Foundation", "Dispatch"],
    "HearthAuth": ["Foundation", "FoundationNetworking", "Dispatch"],
    "HearthStorage": ["Foundation", "Dispatch"],
    "Photos": ["Foundation", "Glibc"],
    "Chat": ["CommonCrypto", "Foundation", "Dispatch"],
    "Timeline": ["Foundation", "Dispatch"],
    "Party": ["Foundation", "Dispatch"],
    "PushWorker": ["Foundation", "Dispatch", "Synchronization"],
    "ServiceCommand": ["Foundation", "Glibc", "Dispatch", "Synchronization"],
    "Terminal": ["Glibc", "Synchronization", "Dispatch"],
    "ChatScreen": ["Foundation"],
    "hearth-chat": ["Foundation", "Glibc", "Dispatch", "Synchronization"],
    "hearth-timeline": ["Foundation", "Glibc", "Dispatch", "Synchronization"],
    "hearth-party": ["Foundation", "Glibc", "Dispatch", "Synchronization"],
    "demo": ["Foundation", "Dispatch", "Glibc", "Synchronization"],
    "Files": ["Glibc"],
    "Locks": ["Glibc", "Darwin", "Synchronization"],
    "hearth": ["Glibc"],
]

/// What single files may import beyond their target: memory is moved and compared by the C library's functions.
private let exceptions: [String: Set<String>] = [
    "Sources/Data/JSONTree/BytePointer.swift": ["Glibc", "Darwin"],
    // For powers and sines, which the standard library does not have.
    "Sources/Rules/FileRules/Values/Mathematics.swift": ["Glibc", "Darwin"],
    // For the normal form of texts, which the standard library has and does not offer.
    "Sources/Identity/Accounts/UnicodeText.swift": ["Swift"],
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

    /// What `Package.swift` lets each target of the product import, from the page that is made of it.
    private static func arrows() throws -> [String: Set<String>] {
        var arrows: [String: Set<String>] = [:]
        let page = try Repository.file("docs/internals/MODULES.md")
        for line in page.lines where line.contains(" | `") {
            let cells = line.split(separator: "|").map { $0.split(whereSeparator: " `,".contains) }
            arrows[String(cells[1][0])] = Set(cells[2].map { String($0) })
        }
        return arrows
    }

    @Test("of every source follow the arrows")
    func followArrows() throws {
        let arrows = try Self.arrows()
        let files = try Repository.files(below: "Sources", ".swift")
        #expect(files.count > 50)
        for file in files {
            guard let targets = arrows[file.target] else {
                Issue.record("\(file): docs/internals/MODULES.md has no target \(file.target)")
                continue
            }
            let allowed = targets.union(systemModules[file.target] ?? [])
                .union(exceptions[file.path] ?? [])
            for (_, line) in file.lines(holding: "import ") {
                guard let module = Self.module(of: line.drop { $0 == " " }) else { continue }
                #expect(allowed.contains(module), "\(file) imports \(module)")
            }
        }
    }

    @Test("of the system are not granted to targets that are gone")
    func noOldGrants() throws {
        let arrows = try Self.arrows()
        for target in systemModules.keys.sorted() { #expect(arrows[target] != nil, "\(target)") }
    }
}
