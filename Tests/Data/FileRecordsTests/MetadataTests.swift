import FileRecords
import FileSamples
import JSONTree
import TestSupport
import Testing

@Suite("metadata of files")
struct MetadataTests {
    struct Row: Decodable, Sendable, CustomTestStringConvertible {
        let what: String
        let body: String
        let use: String?
        let fields: [String: String]?
        let custom: [String: String]?
        let tokens: [String]?
        let customTimeBefore: String?
        let customTime: String?
        let fault: String?

        var testDescription: String { what }

        var tokenUse: FileMetadataBody.TokenUse {
            switch use {
            case "add": .add
            case "set": .set
            default: .ignore
            }
        }

        var json: [UInt8] {
            let long = String(repeating: "x", count: 1025)
            let longer = String(repeating: "x", count: 8192)
            return Array(
                body.replacing("%LONG%", with: long).replacing("%8192%", with: longer).utf8
            )
        }
    }

    private static func sample() throws -> FileRecord {
        var fields = FileFields()
        fields[.contentType] = "text/plain"
        fields[.contentLanguage] = "en"
        fields[.cacheControl] = "no-cache"
        fields.setCustom("k", "v")
        fields.setCustom("l", "w")
        return try .sample(fields: fields, tokens: ["t1", "t2"])
    }

    @Test("a PATCH does what its row says", arguments: spec("bodies", of: Row.self))
    func patch(row: Row) throws {
        var record = try Self.sample()
        record.fields.customTime = row.customTimeBefore
        let before = record
        do throws(MetadataFault) {
            try record.patch(FileMetadataBody(row.json), row.tokenUse, now: .later)
            #expect(row.fault == nil)
        } catch {
            #expect(row.fault.map(error.description.contains) == true, "\(error)")
            #expect(record == before, "a refusal changes nothing")
            return
        }
        for field in FileField.allCases {
            #expect(record.fields[field] == row.fields?[field.rawValue])
        }
        let custom = record.fields.custom.map { [$0.key, $0.value] }
        #expect(custom == row.custom?.sorted { $0.key < $1.key }.map { [$0.key, $0.value] })
        #expect(record.tokens == row.tokens ?? ["t1", "t2"])
        #expect(record.fields.customTime == row.customTime)
        #expect(record.metageneration == 2 && record.updated == .later)
        #expect(record.generation == before.generation && record.created == before.created)
    }

    @Test("a PUT replaces everything that a PATCH can set")
    func put() throws {
        var record = try Self.sample()
        record.fields.customTime = "2026-01-01T00:00:00Z"
        try record.replace(FileMetadataBody(Array(#"{"contentType":"a/b"}"#.utf8)), now: .later)
        #expect(record.fields[.contentType] == "a/b" && record.fields[.cacheControl] == nil)
        #expect(record.fields.custom.isEmpty && record.tokens.isEmpty)
        #expect(record.fields.customTime == "2026-01-01T00:00:00Z")
        #expect(record.metageneration == 2)
    }

    @Test("a body of very many custom keys is refused before it is merged")
    func manyKeys() throws {
        var record = try FileRecord.sample()
        let keys = (0..<130).map { "\"k\($0)\":null" }.joined(separator: ",")
        let body = try FileMetadataBody(Array("{\"metadata\":{\(keys)}}".utf8))
        #expect(throws: MetadataFault.customCount(130)) {
            try record.patch(body, .ignore, now: .later)
        }
    }

    @Test("65 custom keys are refused, 64 taken")
    func customCount() {
        var fields = FileFields()
        for index in 0..<64 { fields.setCustom("k\(index)", "") }
        #expect(fields.fault == nil)
        fields.setCustom("k64", "")
        #expect(fields.fault == .customCount(65))
    }

    @Test("custom keys that look alike are two")
    func customKeys() {
        var fields = FileFields()
        fields.setCustom("\u{E9}", "1")
        fields.setCustom("e\u{301}", "2")
        #expect(fields.custom.map(\.value) == ["2", "1"])
        #expect(fields.custom("\u{E9}") == "1")
    }

    @Test("download tokens are made, removed, and replaced when the last one goes")
    func tokens() throws {
        var record = try FileRecord.sample()
        #expect(record.ensureToken("t1", now: .later) && record.metageneration == 2)
        #expect(!record.ensureToken("t2", now: .later) && record.metageneration == 2)
        try record.addToken("t2", now: .later)
        #expect(record.tokens == ["t1", "t2"] && record.metageneration == 3)
        #expect(!record.removeToken("t9", fresh: "t3", now: .later) && record.metageneration == 3)
        #expect(record.removeToken("t1", fresh: "t3", now: .later) && record.tokens == ["t2"])
        #expect(record.removeToken("t2", fresh: "t3", now: .later) && record.tokens == ["t3"])
        record.revokeTokens(fresh: "t4", now: .later)
        #expect(record.tokens == ["t4"] && record.metageneration == 6)
        for index in 1..<FileLimits.tokenCount { try record.addToken("x\(index)", now: .later) }
        #expect(throws: MetadataFault.tokenCount) { try record.addToken("y", now: .later) }
    }

    @Test("a token opens only what it is a token of")
    func tokenCompare() {
        #expect(DownloadTokens.contains("abc", in: ["xyz", "abc"]))
        #expect(!DownloadTokens.contains("abd", in: ["xyz", "abc"]))
        #expect(!DownloadTokens.contains("ab", in: ["abc"]))
        #expect(!DownloadTokens.contains("", in: [""]))
        #expect(!DownloadTokens.contains("abc", in: []))
        // The last byte of the first one and the first byte of the last one.
        #expect(!DownloadTokens.contains("aaa", in: ["aab", "baa"]))
    }

    @Test("a copy keeps fields and tokens, unless it brings custom metadata")
    func copies() throws {
        let source = try Self.sample()
        let bucket = try BucketName("other-bucket")
        let name = try ObjectName("b")
        func copy(_ body: String) throws -> FileRecord {
            try source.copied(
                to: bucket,
                name,
                FileMetadataBody(Array(body.utf8)),
                generation: source.generation + 1,
                now: .later
            )
        }
        let plain = try copy("")
        #expect(plain.fields == source.fields && plain.tokens == source.tokens)
        #expect(plain.content == source.content && plain.metageneration == 1)
        #expect(plain.created == .later && plain.bucket == bucket && plain.name == name)
        let typed = try copy(#"{"contentType":"a/b"}"#)
        #expect(typed.fields[.contentType] == "a/b" && typed.fields.custom.count == 2)
        #expect(typed.tokens == ["t1", "t2"])
        let own = try copy(#"{"metadata":{"z":"1"}}"#)
        #expect(own.fields.custom.map(\.key) == ["z"] && own.tokens.isEmpty)
    }

    @Test("a composed object counts the objects in it")
    func components() throws {
        let one = try FileRecord.sample()
        let content = FileContent(
            blob: one.content.blob,
            byteCount: 9,
            md5: nil,
            crc32c: 1,
            componentCount: 3
        )
        let composed = FileRecord(
            bucket: one.bucket,
            name: one.name,
            content: content,
            generation: 2,
            now: .later
        )
        #expect(FileRecord.componentCount(of: [one, composed, one]) == 5)
    }
}
