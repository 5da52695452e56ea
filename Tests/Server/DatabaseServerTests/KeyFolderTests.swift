import TestSupport
import Files
import Glibc
import JSONTree
import LoopSupport
import Testing
import Tokens

@testable import DatabaseServer

/// A data folder with the folder of its keys, gone with it.
private final class KeyedFolder {
    let data: TemporaryFolder
    var path: String { "\(data.path)/keys" }
    var signingPath: String { "\(path)/signing-keys.json" }
    var sealPath: String { "\(path)/refresh-key" }

    init() throws {
        data = try TemporaryFolder()
    }

    deinit {
        for name in names() { unlink("\(path)/\(name)") }
        rmdir(path)
    }

    func names() -> [String] {
        do throws(FileError) { return try Folder.names(path) } catch { return [] }
    }

    func mode(_ path: String) -> UInt32? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
    }

    func write(_ path: String, _ text: String) throws {
        let draft = try FileDraft(path, permissions: 0o600)
        try draft.write(Array(text.utf8))
        try draft.commit()
    }

    /// What `AccountKeys.open` gives for this folder, as seen on the loop.
    func open(
        mode: Configuration.Mode = .production,
        lifetime: Duration = .seconds(90 * 86_400)
    ) throws -> (names: [String], published: String, token: String?) {
        var configuration = Configuration()
        configuration.mode = mode
        configuration.storage = .folder(data.path)
        configuration.accounts.signingKeyLifetime = lifetime
        let settings = configuration
        let made = onLoop {
            () -> Result<(names: [String], published: String, token: String?), any Error> in
            Result {
                let keys = try AccountKeys.open(settings)
                let now = Clock.now().milliseconds / 1000
                return (
                    keys.signing.entries.map(\.keyID),
                    String(decoding: keys.published, as: UTF8.self),
                    keys.identitySigner(at: now)?.sign(claims: "{}")
                )
            }
        }
        return try made.get()
    }
}

@Suite("the keys of a data folder")
struct KeyFolderTests {
    @Test("are made when first needed, for their owner alone, and stay")
    func made() throws {
        let folder = try KeyedFolder()
        let first = try folder.open()
        #expect(first.names.count == 1)
        #expect(folder.names() == ["refresh-key", "signing-keys.json"])
        #expect(folder.mode(folder.path) == 0o700)
        #expect(folder.mode(folder.signingPath) == 0o600)
        #expect(folder.mode(folder.sealPath) == 0o600)
        let bytes = try SmallFile.read(folder.signingPath, byteLimit: 1 << 20).bytes
        let seal = try SmallFile.read(folder.sealPath, byteLimit: 100).bytes
        let second = try folder.open()
        #expect(second.names == first.names)
        #expect(second.published == first.published)
        // RS256 has no randomness in it.
        #expect(second.token == first.token)
        #expect(try SmallFile.read(folder.signingPath, byteLimit: 1 << 20).bytes == bytes)
        #expect(try SmallFile.read(folder.sealPath, byteLimit: 100).bytes == seal)
        #expect(!first.published.contains("PRIVATE"))
        #expect(!first.published.contains("\"d\""))
    }

    @Test("of development sign nothing, so none is made at the start")
    func development() throws {
        let folder = try KeyedFolder()
        let keys = try folder.open(mode: .development)
        #expect(keys.names.isEmpty)
        #expect(keys.token?.hasSuffix(".") == true)
        #expect(folder.names() == ["refresh-key"])
    }

    @Test("are new when the folder or a file is missing")
    func missing() throws {
        let folder = try KeyedFolder()
        let first = try folder.open()
        let seal = try SmallFile.read(folder.sealPath, byteLimit: 100).bytes
        unlink(folder.signingPath)
        let second = try folder.open()
        #expect(second.names.count == 1 && second.names != first.names)
        #expect(try SmallFile.read(folder.sealPath, byteLimit: 100).bytes == seal)
        unlink(folder.sealPath)
        #expect(try folder.open().names == second.names)
        #expect(try SmallFile.read(folder.sealPath, byteLimit: 100).bytes != seal)
    }

    @Test("are not replaced when their file is there and cannot be looked at")
    func unseen() throws {
        let folder = try KeyedFolder()
        _ = try folder.open()
        unlink(folder.signingPath)
        #expect(symlink(folder.signingPath, folder.signingPath) == 0)
        let error = #expect(throws: KeyFolderError.self) { try folder.open() }
        #expect("\(error.map { "\($0)" } ?? "")".contains("signing-keys.json: Too many levels"))
    }

    @Test(
        "are refused when others may read them, with the command that helps",
        arguments: [
            ("", "700", mode_t(0o750)), ("/refresh-key", "600", 0o640),
            ("/signing-keys.json", "600", 0o604),
        ]
    )
    func readable(name: String, mode: String, permissions: mode_t) throws {
        let folder = try KeyedFolder()
        _ = try folder.open()
        let path = folder.path + name
        chmod(path, permissions)
        let error = #expect(throws: KeyFolderError.self) { try folder.open() }
        #expect(error == .file(.readableByOthers(path: path, what: "these keys", mode: mode)))
        #expect("\(try #require(error))".hasSuffix("run: chmod \(mode) \(path)"))
        chmod(path, name.isEmpty ? 0o700 : 0o600)
        #expect(try folder.open().names.count == 1)
    }

    @Test("are refused when a file is damaged, wherever it is cut")
    func damaged() throws {
        let folder = try KeyedFolder()
        _ = try folder.open()
        let whole = String(
            decoding: try SmallFile.read(folder.signingPath, byteLimit: 1 << 20).bytes,
            as: UTF8.self
        )
        for count in stride(from: 0, to: whole.utf8.count - 4, by: 97) {
            try folder.write(folder.signingPath, String(whole.prefix(count)))
            #expect(throws: KeyFolderError.self, "cut at \(count)") { try folder.open() }
        }
        try folder.write(folder.signingPath, whole)
        #expect(try folder.open().names.count == 1)
        for text in ["", "\n", "AAAA\n", String(repeating: "A", count: 43), "a b\n"] {
            try folder.write(folder.sealPath, text)
            #expect(throws: KeyFolderError.self) { try folder.open() }
        }
    }

    @Test(
        "are refused when the file says something else than its keys",
        arguments: [
            ("\"kid\":\"", "\"kid\":\"A", "key 1 has a bad 'kid'"),
            ("\"created\":", "\"created\":-", "key 1 has a bad 'created'"),
            ("\"signsFrom\":", "\"signsFrom\":\"7\",\"x\":", "key 1 has a bad 'signsFrom'"),
            ("\"key\":\"-----BEGIN", "\"key\":\"----BEGIN", "key 1 has a bad 'key'"),
            ("\"version\":1", "\"version\":2", "it is not a list of keys of version 1"),
            ("\"keys\":[", "\"keys\":[],\"x\":[", "it is not a list of keys of version 1"),
            ("{\"version\"", "[\"version\"", "it is not JSON at byte 10"),
        ]
    )
    func wrong(from: String, to: String, reason: String) throws {
        let folder = try KeyedFolder()
        _ = try folder.open()
        let bytes = try SmallFile.read(folder.signingPath, byteLimit: 1 << 20).bytes
        let text = String(decoding: bytes, as: UTF8.self).replacing(from, with: to)
        try folder.write(folder.signingPath, text)
        let error = #expect(throws: KeyFolderError.self) { try folder.open() }
        #expect(error == .damaged(path: folder.signingPath, reason))
    }

    @Test("are refused when something else stands in the place of the folder")
    func notAFolder() throws {
        let folder = try KeyedFolder()
        _ = try folder.data.file("keys", "x")
        #expect(throws: KeyFolderError.self) { try folder.open() }
    }

    @Test("come back from their text: those that sign with both halves, others with the public one")
    func text() throws {
        let pairs = try (0..<3).map { _ in try #require(KeyPair.generateP256()) }
        var keys = SigningKeys(lifetime: 86_400)
        var now: Int64 = 1_767_225_600
        for pair in pairs {
            let isAdded = keys.add(pair, at: now)
            #expect(isAdded)
            now += 86_400
        }
        _ = keys.tidy(at: now)
        let text = try #require(SigningKeyText.write(keys))
        let again = SigningKeys(try SigningKeyText.read(text), lifetime: 86_400)
        #expect(again.entries.map(\.keyID) == keys.entries.map(\.keyID))
        #expect(again.entries.map(\.signsFrom) == keys.entries.map(\.signsFrom))
        #expect(again.entries.map { $0.pair == nil } == keys.entries.map { $0.pair == nil })
        #expect(again.entries.contains { $0.pair == nil })
        #expect(SigningKeyText.write(again) == text)
        #expect(String(decoding: text, as: UTF8.self).contains("BEGIN PUBLIC KEY"))
    }

    @Test("that verify no more are forgotten before the server serves")
    func expired() throws {
        let folder = try KeyedFolder()
        _ = try folder.open(mode: .development)
        var keys = SigningKeys(lifetime: 86_400)
        let now = Clock.now().milliseconds / 1000
        for age in [Int64(40), 30, 3] {
            let pair = try #require(KeyPair.generateRSA())
            let isAdded = keys.add(pair, at: now - age * 86_400, isEarly: true)
            #expect(isAdded)
        }
        let text = try #require(SigningKeyText.write(keys))
        try folder.write(folder.signingPath, String(decoding: text, as: UTF8.self))
        let opened = try folder.open()
        #expect(opened.names == keys.entries.dropFirst().map(\.keyID))
        let kept = try SmallFile.read(folder.signingPath, byteLimit: 1 << 20).bytes
        let entries = try SigningKeyText.read(kept)
        #expect(entries.map(\.keyID) == opened.names)
        #expect(entries.map { $0.pair == nil } == [true, false])
    }
}
