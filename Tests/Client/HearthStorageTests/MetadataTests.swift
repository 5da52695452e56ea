import Foundation
import Testing

@testable import HearthStorage

@Suite("metadata of files")
struct MetadataTests {
    private static let json = """
        {"name":"p/a.txt","bucket":"B","generation":"1790789164648913","metageneration":"2","size":"5",
        "contentType":"text/plain","contentEncoding":"identity","contentDisposition":"inline",
        "md5Hash":"XUFAKrxLKna5cZ2REBfFkg==","timeCreated":"2026-09-30T12:00:00.123Z",
        "updated":"2026-09-30T12:00:01.000Z","metadata":{"k":"v","l":"w"},"downloadTokens":"t1,t2",
        "storageClass":"STANDARD","unknown":{"deep":[1]}}
        """

    private func stored() throws -> StorageMetadata {
        let answer = StorageAnswer(status: 200, body: Data(Self.json.utf8))
        return StorageMetadata(try MetadataResource(answer))
    }

    private func changes(_ metadata: StorageMetadata) -> String {
        String(decoding: metadata.changes, as: UTF8.self)
    }

    @Test("is read from the server's JSON")
    func reading() throws {
        let metadata = try stored()
        #expect(metadata.path == "p/a.txt")
        #expect(metadata.name == "a.txt")
        #expect(metadata.bucket == "B")
        #expect(metadata.size == 5)
        #expect(metadata.generation == 1_790_789_164_648_913)
        #expect(metadata.metageneration == 2)
        #expect(metadata.contentType == "text/plain")
        #expect(metadata.customMetadata == ["k": "v", "l": "w"])
        #expect(metadata.md5Hash == "XUFAKrxLKna5cZ2REBfFkg==")
        let created = try #require(metadata.timeCreated)
        #expect(abs(created.timeIntervalSince1970 - 1_790_769_600.123) < 0.001)
        #expect(metadata.isFile)
        #expect(!metadata.isFolder)
        #expect(throws: StorageError.self) {
            try MetadataResource(StorageAnswer(status: 200, body: Data("[]".utf8)))
        }
    }

    @Test("sends of itself only what has changed")
    func differences() throws {
        #expect(changes(try stored()) == "{}")
        var metadata = try stored()
        metadata.contentType = "text/x"
        metadata.contentDisposition = nil
        #expect(changes(metadata) == "{\"contentDisposition\":null,\"contentType\":\"text/x\"}")
        metadata = try stored()
        metadata.customMetadata = ["k": "other", "m": "new"]
        #expect(changes(metadata) == "{\"metadata\":{\"k\":\"other\",\"l\":null,\"m\":\"new\"}}")
        metadata.customMetadata = nil
        #expect(changes(metadata) == "{\"metadata\":null}")
        metadata.customMetadata = [:]
        #expect(changes(metadata) == "{\"metadata\":{\"k\":null,\"l\":null}}")
        metadata = StorageMetadata()
        metadata.cacheControl = "no-store"
        metadata.customMetadata = ["k": "v"]
        #expect(changes(metadata) == "{\"cacheControl\":\"no-store\",\"metadata\":{\"k\":\"v\"}}")
    }

    @Test("goes along with an upload, with the type of the bytes")
    func uploads() {
        let path = StoragePath(bucket: "B", object: "p/a.png")
        let metadata = StorageMetadata()
        var upload = metadata.upload(to: path, type: nil)
        #expect(upload.type == "application/octet-stream")
        upload = metadata.upload(to: path, type: "image/png")
        #expect(
            String(decoding: upload.json, as: UTF8.self)
                == "{\"contentType\":\"image/png\",\"name\":\"p/a.png\"}"
        )
        metadata.contentType = "image/x"
        #expect(metadata.upload(to: path, type: "image/png").type == "image/x")
        #expect(metadata.changes == Data("{\"contentType\":\"image/x\"}".utf8))
    }

    @Test("is made from a dictionary and becomes one")
    func dictionaries() throws {
        let members: [String: AnyHashable] = [
            "contentType": "a/b", "size": 7, "generation": "9", "name": "x/y",
            "metadata": ["k": "v"],
            "cacheControl": 5,
        ]
        let metadata = StorageMetadata(dictionary: members)
        #expect(metadata.size == 7)
        #expect(metadata.generation == 9)
        #expect(metadata.name == "y")
        #expect(metadata.customMetadata == ["k": "v"])
        #expect(metadata == StorageMetadata(dictionary: metadata.dictionaryRepresentation()))
        let copy = try #require(try stored().copy() as? StorageMetadata)
        #expect(copy == (try stored()))
        copy.contentType = "c/d"
        #expect(copy != (try stored()))
        #expect(changes(copy) == "{\"contentType\":\"c/d\"}")
    }

    @Test(
        "knows types by the ends of names",
        arguments: [
            ("a.png", "image/png"), ("A.JPG", "image/jpeg"), ("a.b.mp4", "video/mp4"), ("png", nil),
            ("a.", nil), ("a.unheard", nil),
        ] as [(String, String?)]
    )
    func types(name: String, type: String?) {
        #expect(FileTypes.type(ofName: name) == type)
    }
}
