import BlobStore
import DatabaseCore
import FileProtocol
import FileRecords
import JSONTree
import SecurityRules
import TestSupport
import Testing
import WireProtocol

@testable import DatabaseServer

/// What is known of all records together, against a naive twin that counts everything anew.
@Suite("the catalog of files")
struct FileCatalogTests {
    /// Records by bucket and name.
    private struct Twin {
        var records: [ObjectAddress: FileRecord] = [:]

        func names(_ bucket: BucketName) -> [ObjectName] {
            records.keys.filter { $0.bucket == bucket }.map(\.name).sorted()
        }

        func usage(_ bucket: BucketName) -> FileUsage {
            records.values.filter { $0.bucket == bucket }.reduce(FileUsage()) {
                $0 + FileUsage(objectCount: 1, byteCount: $1.content.byteCount)
            }
        }

        var blobs: Set<String> { Set(records.values.map(\.content.blob)) }
    }

    private static func record(
        _ address: ObjectAddress,
        blob: Int,
        generation: Int64
    ) -> FileRecord {
        let digits = String(blob, radix: 16)
        return FileRecord(
            bucket: address.bucket,
            name: address.name,
            content: FileContent(
                blob: String(repeating: "0", count: 64 - digits.utf8.count) + digits,
                byteCount: Int64(blob * 10),
                md5: nil,
                crc32c: 0
            ),
            generation: generation,
            now: Timestamp(milliseconds: generation / 1000)
        )
    }

    @Test("follows uploads, overwrites, moves and deletions", arguments: TestSeed.seeds(4))
    func twin(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var (catalog, twin) = (FileCatalog(), Twin())
        let buckets = try ["one", "two-b", "three.c"].map { try BucketName($0) }
        var generation: Int64 = 1_000
        func address() throws -> ObjectAddress {
            ObjectAddress(
                buckets[Int.random(in: 0..<3, using: &random)],
                try ObjectName("n/\(Int.random(in: 0..<40, using: &random))")
            )
        }
        for _ in 0..<600 {
            var changes: [FileChange] = []
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                let address = try address()
                if changes.contains(where: { ($0.new ?? $0.old)?.name == address.name }) {
                    continue
                }
                let old = twin.records[address]
                generation += 1
                let isGone = Int.random(in: 0..<3, using: &random) == 0
                let blob = Int.random(in: 1...30, using: &random)
                let new =
                    isGone ? nil : Self.record(address, blob: blob, generation: generation)
                changes.append(FileChange(old: old, new: new))
                twin.records[address] = new
            }
            catalog.apply(changes)
            for bucket in buckets {
                #expect(catalog.usage[bucket] ?? FileUsage() == twin.usage(bucket), "seed \(seed)")
                let listed = (catalog.names[bucket] ?? NameIndex()).list(NameQuery(.server)).items
                #expect(listed == twin.names(bucket), "seed \(seed)")
            }
            #expect(catalog.blobCount == twin.blobs.count)
            for blob in twin.blobs {
                #expect(catalog.isReferred(try #require(BlobHash(hex: blob))))
            }
        }
        // The same from nothing.
        var again = FileCatalog()
        for record in twin.records.values { again.add(record) }
        #expect(again.total == catalog.total)
        #expect(again.blobCount == catalog.blobCount)
        #expect(catalog.lastGeneration >= again.lastGeneration)
        #expect(FileCatalog(after: catalog).lastGeneration == catalog.lastGeneration)
    }

    @Test("records are found in the tree by bucket and name, and damaged ones are not")
    func tree() throws {
        let address = ObjectAddress(try BucketName("a.b-c"), try ObjectName("x/#$[].ü"))
        let record = Self.record(address, blob: 7, generation: 5_000)
        let path = FileTree.path(address)
        let made = FileTree.path(madeBucket: address.bucket)
        let id = String(repeating: "a", count: 32)
        let entries = [
            (path, Node(string: String(decoding: record.json, as: UTF8.self))),
            (made, Node(integer: 9)), (FileTree.path(final: id), Node(string: "5000")),
            (
                FileTree.path(ObjectAddress(address.bucket, try ObjectName("bad"))),
                Node(string: "{")
            ),
        ].map { MergeEntry(target: WriteTarget(path: $0.0), draft: Draft($0.1)) }
        let engine = DatabaseEngine(
            EnginePolicy(
                databases: [],
                reserved: [.files],
                createsDatabases: false,
                defaultRules: .closed
            )
        )
        let request = Request(
            database: .files,
            credential: .server,
            operation: .merge(.root, entries)
        )
        var effects: [Effect] = []
        engine.step(.requested(request, id: RequestID(1)), now: record.created, effects: &effects)
        let tree = FileTree(root: engine.root(of: .files))
        #expect(tree.record(address) == record)
        #expect(tree.record(ObjectAddress(address.bucket, try ObjectName("y"))) == nil)
        #expect(tree.madeBuckets == [address.bucket])
        #expect(tree.time(madeBucket: address.bucket) == Timestamp(milliseconds: 9))
        #expect(tree.generation(final: id) == 5_000)
        #expect(tree.finals == [id])
        var found: [FileRecord] = []
        var damaged: [Path] = []
        tree.visit({ found.append($0) }, damaged: { damaged.append($0) })
        #expect(found == [record])
        #expect(damaged.count == 1)
    }

    @Test(
        "an address is one of files whatever its name ends in, and none that is a location in a tree",
        arguments: [
            ("v0/b/demo.appspot.com/o/a.json", "/v0/b/{bucket}/o/{object...}"),
            ("v0/b/demo/o", "/v0/b/{bucket}/o/{object...}"), ("v0/b/x.json", "data"),
            ("b/demo/o/a.json", "/b/{bucket}/o/{object...}"), ("b/x.json", "data"),
            ("b/.upload", "/{path}/.upload"), ("b/c/o/.upload", "/{path}/.upload"),
            ("storage/v1/b/demo/o/x.json", "/storage/v1/b/{address...}"),
            ("storage/x.json", "data"), ("upload/x/y.json", "data"),
            ("upload/storage/v1/b/demo/o", "/upload/storage/v1/b/{bucket}/o"),
            ("demo/a/b.txt", "/{bucket}/{object...}"), ("demo/a/b.json", "data"),
            ("demo", "/{address...}"), ("Demo/a", "/{address...}"), ("v0/x", "/{address...}"),
        ]
    )
    func routes(address: String, pattern: String) {
        let segments = address.split(separator: "/").map { String($0) }
        let route = RouteTable.shared.match(segments).route
        #expect(route.pattern == (pattern == "data" ? RouteTable.data.pattern : pattern))
    }
}
