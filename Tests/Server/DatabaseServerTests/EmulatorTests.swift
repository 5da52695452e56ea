import TestSupport
import Files
import Glibc
import IdentityToolkit
import JSONTree
import Testing

@testable import DatabaseServer

@Suite("standing in for an emulator")
struct EmulatorTests {
    @Test(
        "the hub tells a host that clients can connect to",
        arguments: [
            ("127.0.0.1", nil, "127.0.0.1"), ("127.0.0.1", "db.example:9000", "127.0.0.1"),
            ("192.0.2.7", "db.example", "192.0.2.7"), ("::1", nil, "::1"),
            ("0.0.0.0", nil, "127.0.0.1"), ("0.0.0.0", "db.example:9000", "db.example"),
            ("0.0.0.0", "192.0.2.7:1", "192.0.2.7"), ("0.0.0.0", "[::1]:9000", "::1"),
            ("0.0.0.0", "no host at all", "127.0.0.1"), ("0.0.0.0", "", "127.0.0.1"),
            ("::", nil, "::1"), ("::", "localhost", "localhost"),
        ]
    )
    func host(bind: String, requested: String?, expected: String) {
        let hub = HubDescription(
            bind: bind,
            requested: requested,
            databasePort: 1,
            hubPort: 2,
            accountsPort: 3
        )
        #expect(hub.host == expected)
    }

    @Test("the hub's text names its origin, process, host and port")
    func text() {
        let hub = HubDescription(
            bind: "::1",
            requested: nil,
            databasePort: 1,
            hubPort: 2,
            accountsPort: 3
        )
        let text = String(decoding: hub.hub.text, as: UTF8.self)
        #expect(
            text == """
                {"version":"\(Version.text)","origins":["http://[::1]:2"],"pid":\(getpid()),\
                "host":"::1","port":2}
                """
        )
    }

    @Test("an import is a file, a file of a named database, or all files of a folder")
    func imports() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("one.json", "1")
        _ = try folder.file("two.json", "2")
        _ = try folder.file("notes.txt", "")
        func found(_ text: String) throws -> [String] {
            try EmulatorImport.find(text, standard: .standard).map { "\($0.database) \($0.path)" }
        }
        #expect(try found(file) == ["default \(file)"])
        #expect(try found("Mine=\(file)") == ["mine \(file)"])
        #expect(try found("missing.json") == ["default missing.json"])
        #expect(
            try found(folder.path) == [
                "one \(folder.path)/one.json", "two \(folder.path)/two.json",
            ]
        )
        let odd = try folder.file("a=b.json", "3")
        #expect(try found(odd) == ["default \(odd)"])
        #expect(throws: EmulatorImportError.self) { try found("a_b=\(file)") }
        // Not every file of the folder is named as a database can be.
        #expect(throws: EmulatorImportError.self) { try found(folder.path) }
    }

    @Test("the metadata of an export says where its files are")
    func metadata() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("one.json", "1")
        for (text, isFound) in [
            (#"{"version":"1","database":{"version":"1","path":"."},"auth":{}}"#, true),
            (#"{"database":{"path":"elsewhere"}}"#, false), (#"{"auth":{"path":"."}}"#, false),
            (#"{"database":true}"#, false), ("[]", false), ("{", false),
        ] {
            _ = try folder.file(EmulatorExport.metadataName, text)
            let found = Result {
                try EmulatorImport.find(folder.path, standard: .standard).map(\.path)
            }
            switch found {
            case .success(let paths):
                #expect(isFound, "\(text)")
                #expect(paths == ["\(folder.path)/./one.json"])
            case .failure(let error):
                #expect(!isFound, "\(text)")
                #expect("\(error)".hasPrefix("--import"), "\(error)")
            }
        }
        #expect(FileStamp.of(file) != nil)
    }

    @Test("a file that is no JSON is refused with line and column")
    func place() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("one.json", "{\n  \"a\": }")
        let source = try #require(try EmulatorImport.find(file, standard: .standard).first)
        #expect {
            try source.read()
        } throws: {
            "\($0)".hasPrefix("--import \(file):2:8: is not JSON here")
        }
    }
}
