import TestSupport
import Testing

@testable import ObjectStorage

/// OpenStack Swift is a real store. moto is a stand-in; `test_s3_server.py` shows what each of them checks.
@Suite("a server that checks signatures", .enabled(if: TestStore.areInstalled))
struct StoreServerTests {
    @Test("is found to be right", arguments: TestStore.allCases)
    func check(server: TestStore) throws {
        try server.store().check()
    }

    @Test(
        "keeps objects of any name",
        arguments: TestStore.allCases,
        [
            "plain", "a b+c&d=e%41~*'()!@:,;$?#[]\\|\"<>^`{}", "ü/日本/😀/e\u{301}", "%2F/%/+",
            String(repeating: "n", count: 200), "-._~", "a=b&c", "..a/b..",
        ]
    )
    func names(server: TestStore, name: String) throws {
        let store = try server.store()
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

    @Test("keeps objects of no bytes, and replaces them", arguments: TestStore.allCases)
    func replaced(server: TestStore) throws {
        let store = try server.store()
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

    @Test("takes objects in parts", arguments: TestStore.allCases)
    func parts(server: TestStore) throws {
        var configuration = try server.configuration()
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

    @Test("lists page by page in the order of bytes", arguments: TestStore.allCases)
    func list(server: TestStore) throws {
        let store = try server.store()
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

    @Test("is addressed by host too", arguments: TestStore.allCases)
    func virtualHost(server: TestStore) throws {
        let configuration = try server.configuration(style: .virtualHost, host: "localhost")
        let store = try ObjectStore(configuration)
        try store.put(.bytes([7]), at: key("by/host"))
        #expect(try bytes(of: server.store(), "by/host") == [7])
    }

    @Test("says what is wrong with settings", arguments: TestStore.allCases)
    func settings(server: TestStore) throws {
        for (configuration, part) in [
            (try server.configuration(secret: "wrong"), "check the secret access key"),
            (try server.configuration(accessKey: "AKIANONE"), "access key"),
            (try server.configuration(bucket: "none"), "make the bucket"),
        ] {
            let store = try ObjectStore(configuration)
            let error = #expect(throws: ObjectStoreError.self) { try store.check() }
            #expect(error?.description.contains(part) == true, "\(error?.description ?? "")")
        }
    }
}
