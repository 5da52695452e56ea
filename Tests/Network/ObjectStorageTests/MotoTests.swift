import TestSupport
import Testing

@testable import ObjectStorage

/// moto is a stand-in for real servers. It checks signatures by botocore's code; `test_s3_server.py` shows what it does not
/// check.
@Suite("a server that checks signatures", .enabled(if: MotoServer.isInstalled))
struct MotoTests {
    @Test("is found to be right")
    func check() throws {
        try MotoServer.store().check()
    }

    @Test(
        "keeps objects of any name",
        arguments: [
            "plain", "a b+c&d=e%41~*'()!@:,;$?#[]\\|\"<>^`{}", "ü/日本/😀/e\u{301}", "%2F/%/+",
            String(repeating: "n", count: 200), "-._~", "a=b&c", "..a/b..",
        ]
    )
    func names(name: String) throws {
        let store = try MotoServer.store()
        let name = "names/\(name)"
        let content = Array("content of \(name)".utf8)
        try store.put(.bytes(content), at: key(name))
        #expect(try bytes(of: store, name) == content)
        #expect(try bytes(of: store, name, 3..<7) == Array(content[3..<7]))
        #expect(try store.head(key(name))?.byteCount == Int64(content.count))
        let prefix = String(name.dropLast())
        #expect(try store.list(prefix: prefix).objects.map(\.key) == [name])
        try store.delete(key(name))
        try store.delete(key(name))
        #expect(try store.head(key(name)) == nil)
        let error = #expect(throws: ObjectStoreError.self) { try bytes(of: store, name) }
        #expect(error?.isMissing == true)
    }

    @Test("keeps objects of no bytes, and replaces them")
    func replaced() throws {
        let store = try MotoServer.store()
        try store.put(.bytes([]), at: key("replaced"))
        #expect(try bytes(of: store, "replaced").isEmpty)
        try store.put(.bytes([1, 2]), at: key("replaced"))
        #expect(try bytes(of: store, "replaced") == [1, 2])
        #expect(try bytes(of: store, "replaced", 1..<99) == [2])
        let error = #expect(throws: ObjectStoreError.self) {
            try bytes(of: store, "replaced", 2..<3)
        }
        #expect(error?.description.contains("416") == true)
    }

    @Test("takes objects in parts")
    func parts() throws {
        var configuration = try MotoServer.configuration()
        configuration.partByteCount = 5 << 20
        let store = try ObjectStore(configuration)
        let byteCount: Int64 = 11 << 20
        // Each piece begins with its offset.
        let source = ObjectSource(byteCount: byteCount) { offset, buffer in
            #expect(buffer.count <= 1 << 20)
            let count = min(buffer.count, 65_536 - Int(offset % 65_536))
            buffer[..<count].initializeMemory(as: UInt8.self, repeating: UInt8(offset >> 16))
            return count
        }
        try store.put(source, at: key("parts/whole"))
        #expect(try store.head(key("parts/whole"))?.byteCount == byteCount)
        var offset: Int64 = 0
        try store.get(key("parts/whole")) { part in
            let isRight = part.enumerated().allSatisfy { index, byte in
                // Tens of thousands of bytes are equal: some are enough.
                index % 997 != 0 || byte == UInt8((offset + Int64(index)) >> 16)
            }
            #expect(isRight)
            offset += Int64(part.count)
            return true
        }
        #expect(offset == byteCount)
        let edge = (5 << 20) - 1
        #expect(try bytes(of: store, "parts/whole", Int64(edge)..<Int64(edge + 2)) == [79, 80])
    }

    @Test("lists page by page in the order of bytes")
    func list() throws {
        let store = try MotoServer.store()
        let names = (0..<25).map { "list/\($0 % 2 == 0 ? "Z" : "a")/\($0) + &" }
        for name in names { try store.put(.bytes([1]), at: key(name)) }
        try store.put(.bytes([1]), at: key("listed"))
        var found: [String] = []
        var pageCount = 0
        while true {
            let page = try store.list(prefix: "list/", after: found.last, limit: 10)
            found += page.objects.map(\.key)
            pageCount += 1
            if page.isLast { break }
        }
        #expect(found == names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        #expect(pageCount == 3)
        #expect(try store.list(prefix: "none/") == ObjectPage(objects: [], isLast: true))
    }

    @Test("is addressed by host too")
    func virtualHost() throws {
        let configuration = try MotoServer.configuration(style: .virtualHost, host: "localhost")
        let store = try ObjectStore(configuration)
        try store.put(.bytes([7]), at: key("by/host"))
        #expect(try bytes(of: MotoServer.store(), "by/host") == [7])
    }

    @Test("says what is wrong with settings")
    func settings() throws {
        for (configuration, part) in [
            (try MotoServer.configuration(secret: "wrong"), "check the secret access key"),
            (try MotoServer.configuration(accessKey: "AKIANONE"), "knows this access key"),
            (try MotoServer.configuration(bucket: "none"), "make the bucket"),
        ] {
            let store = try ObjectStore(configuration)
            let error = #expect(throws: ObjectStoreError.self) { try store.check() }
            #expect(error?.description.contains(part) == true, "\(error?.description ?? "")")
        }
    }
}
