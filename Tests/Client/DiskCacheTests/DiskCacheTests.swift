import Foundation
import JSONTree
import SyncCore
import TestSupport
import Testing
import WireProtocol

@testable import DiskCache

@Suite("a disk cache", .timeLimit(.minutes(2)))
struct DiskCacheTests {
    private let folder: TemporaryFolder
    private let reports = Reports()

    init() throws { folder = try TemporaryFolder() }

    private func target(_ path: String) throws -> ListenTarget {
        ListenTarget(path: try Path(path))
    }

    private func node(_ json: String) throws -> Node { try Draft(json: Array(json.utf8)).node }

    private func long(_ byteCount: Int) -> Node {
        Node(string: String(repeating: "x", count: byteCount))
    }

    @Test("that is new is empty, and for its owner alone")
    func new() throws {
        let path = "\(folder.path)/made/for/it/cache.sqlite"
        let cache = try DiskCache(path: path, limitByteCount: 1000, report: reports.add)
        #expect(try cache.load().lines == ["account -"])
        func permissions(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try permissions(path) == 0o600)
        #expect(try permissions("\(folder.path)/made/for/it") == 0o700)
        #expect(reports.all.isEmpty)
    }

    @Test("has nothing left in its files of what was removed when a person signed out")
    func removal() throws {
        let cache = try folder.openCache(reports)
        let secret = "only for my eyes"
        for index in 0..<50 {
            let place = try target("private/ann\(index)")
            cache.apply([.saveListen(place, try node(#"{"a":"\#(secret)"}"#))])
            cache.flush()
        }
        let write = StoredWrite.set(
            WriteTarget(path: try Path("private/ann")),
            try Draft(json: Array(#""\#(secret)""#.utf8))
        )
        cache.apply([.saveWrite(WriteID(1), write), .account("ann")])
        cache.flush()
        cache.apply([.removeAll, .account(nil)])
        cache.flush()
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let bytes = try #require(FileManager.default.contents(atPath: "\(folder.path)/\(name)"))
            #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(name)")
            #expect(bytes.range(of: Data("private/ann".utf8)) == nil, "\(name)")
        }
        cache.close()
        #expect(reports.all.isEmpty)
    }

    @Test("holds what the changes say, over restarts", arguments: TestSeed.seeds(12))
    func random(seed: UInt64) throws {
        var changes = RandomChanges(seed: seed)
        var model = CacheModel()
        for round in 0..<6 {
            let cache = try folder.openCache(reports)
            let loaded = try cache.load()
            for (line, wanted) in zip(loaded.lines, model.state.lines) {
                #expect(line == wanted, "seed \(seed), round \(round)")
            }
            #expect(loaded.lines.count == model.state.lines.count, "seed \(seed), round \(round)")
            for _ in 0..<40 {
                let change = try changes.next()
                model.apply(change)
                cache.apply([change])
            }
            if round % 2 == 0 { cache.close() }
            cache.flush()
            if round % 2 == 1 { cache.close() }
            // What was in use is said anew by each process.
            model.forgetUse()
        }
        #expect(reports.all.isEmpty)
    }

    @Test("holds after a crash what was there after some change", arguments: TestSeed.seeds(4))
    func crash(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var changes = RandomChanges(seed: seed)
        var model = CacheModel()
        var history = [model.state.lines]
        let cache = try folder.openCache(reports)
        for step in 0..<25 {
            let change = try changes.next()
            model.apply(change)
            cache.apply([change])
            cache.flush()
            history.append(model.state.lines)
            let whole = try folder.crashImage().openCache().load()
            #expect(whole.lines == history.last, "seed \(seed), step \(step)")
            let torn = try folder.crashImage(cutting: random.index(20_000)).openCache().load()
            #expect(history.contains(torn.lines), "seed \(seed), step \(step)")
        }
    }

    @Test(
        "whose bytes are damaged begins anew or leaves out what it cannot read",
        arguments: TestSeed.seeds(40)
    )
    func damage(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var changes = RandomChanges(seed: seed)
        var writes: Set<String> = []
        do {
            let cache = try folder.openCache()
            for _ in 0..<60 {
                let change = try changes.next()
                if case .saveWrite(let id, let write) = change {
                    writes.formUnion(StoredState(writes: [(id, write)]).writeLines)
                }
                cache.apply([change])
            }
            cache.flush()
            if seed % 2 == 0 { cache.close() }
        }
        let image = try folder.crashImage()
        for end in ["", "-wal"] {
            guard var bytes = FileManager.default.contents(atPath: image.cache + end),
                !bytes.isEmpty
            else { continue }
            for _ in 0...random.index(12) {
                let place =
                    random.index(3) == 0
                    ? random.index(min(200, bytes.count)) : random.index(bytes.count)
                bytes[place] ^= UInt8(1 << random.index(8))
            }
            try bytes.write(to: URL(filePath: image.cache + end))
        }
        do {
            let cache = try image.openCache(reports)
            let state = try cache.load()
            #expect(writes.isSuperset(of: state.writeLines), "seed \(seed)")
            for _ in 0..<20 { cache.apply([try changes.next()]) }
            cache.close()
            _ = try image.openCache().load()
        } catch let error as DiskCacheError {
            // A header that says so cannot be distinguished from one that is true.
            switch error {
            case .newer, .foreign: break
            case .failed, .inUse, .damaged, .unreadable: Issue.record("seed \(seed): \(error)")
            }
        }
    }

    @Test("that is no SQLite file is moved aside with a warning, in place of an older one")
    func garbage() throws {
        for text in ["first", String(repeating: "no database ", count: 1000)] {
            _ = try folder.file("cache.sqlite", text)
            let reports = Reports()
            let cache = try folder.openCache(reports)
            #expect(try cache.load().lines == ["account -"])
            #expect(
                reports.all == [
                    .damaged(path: folder.cache, movedTo: folder.cache + ".damaged")
                ]
            )
            let moved = try String(contentsOfFile: folder.cache + ".damaged", encoding: .utf8)
            #expect(moved == text)
            cache.close()
        }
    }

    @Test("with any bit of its header changed opens, anew maybe, or is of something else")
    func header() throws {
        let written = try folder.openCache()
        written.apply([.account("ann")])
        written.close()
        let bytes = try #require(FileManager.default.contents(atPath: folder.cache))
        for bit in 0..<(100 * 8) {
            let damaged = try TemporaryFolder()
            var changed = bytes
            changed[bit / 8] ^= UInt8(1 << (bit % 8))
            try changed.write(to: URL(filePath: damaged.cache))
            do {
                let cache = try damaged.openCache()
                cache.apply([.account("bea")])
                cache.close()
                #expect(try damaged.openCache().load().account == "bea", "bit \(bit)")
            } catch let error as DiskCacheError {
                switch error {
                case .newer, .foreign: break
                default: Issue.record("bit \(bit): \(error)")
                }
            }
        }
    }

    @Test(
        "with the name of a column changed begins anew",
        arguments: ["checksum", "request", "isActive", "lastUse", "byteCount", "priority", "name"]
    )
    func columnName(name: String) throws {
        let written = try folder.openCache()
        written.apply([.account("ann")])
        written.close()
        let bytes = try #require(FileManager.default.contents(atPath: folder.cache))
        var changed = bytes
        let place = try #require(bytes.range(of: Data("\(name) ".utf8)))
        changed[place.lowerBound] ^= 1
        try changed.write(to: URL(filePath: folder.cache))
        let cache = try folder.openCache(Reports())
        #expect(try cache.load().account == nil)
        cache.close()
        let moved = try #require(FileManager.default.contents(atPath: folder.cache + ".damaged"))
        // SQLite may count a change in its header.
        #expect(moved.dropFirst(100) == changed.dropFirst(100))
    }

    @Test("has one client at a time")
    func twoClients() throws {
        let first = try folder.openCache()
        #expect(throws: DiskCacheError.inUse(path: folder.cache)) { try folder.openCache() }
        first.apply([.account("ann")])
        first.close()
        let second = try folder.openCache()
        #expect(try second.load().account == "ann")
    }

    @Test("of a later schema, and a file of something else, are refused and left alone")
    func refusals() throws {
        try folder.openCache().close()
        do {
            let database = try SQLiteDatabase(path: folder.cache)
            try database.run("PRAGMA user_version = 2")
        }
        #expect(throws: DiskCacheError.newer(path: folder.cache, version: 2)) {
            try folder.openCache()
        }
        let other = try TemporaryFolder()
        do {
            _ = try other.file("cache.sqlite", "")
            let database = try SQLiteDatabase(path: other.cache)
            try database.run("CREATE TABLE notes (id INTEGER)")
        }
        #expect(throws: DiskCacheError.foreign(path: other.cache)) { try other.openCache() }
        #expect(other.names().contains("cache.sqlite"))
        #expect(!other.names().contains("cache.sqlite.damaged"))
    }

    @Test("that cannot be made says so")
    func noFolder() throws {
        _ = try folder.file("file", "")
        #expect(throws: DiskCacheError.self) {
            try DiskCache(path: "\(folder.path)/file/cache", limitByteCount: 1, report: reports.add)
        }
    }

    @Test("drops listens that are not in use, those used longest ago first, to keep its limit")
    func limit() throws {
        let cache = try folder.openCache(limit: 100_000)
        let names = ["a", "b", "c", "d", "e"]
        let data = Node.absent.setting(try Key("x"), long(30_000))
        for name in names {
            let target = try target(name)
            cache.apply([.useListen(target, isActive: true), .saveListen(target, data)])
        }
        cache.flush()
        #expect(try cache.load().listens.count == 5)
        cache.apply(
            try names.dropLast().map { .useListen(try target($0), isActive: false) }
                + [.useListen(try target("a"), isActive: true)]
        )
        cache.flush()
        #expect(try cache.load().listens.map { $0.target.path.wireText } == ["e", "d", "a"])
        // Children count too; what was dropped is not begun again by them.
        cache.apply([
            .saveChildren(try target("e"), [(try Key("k"), long(50_000))]),
            .saveChildren(try target("b"), [(try Key("k"), long(10))]),
        ])
        cache.close()
        let later = try folder.openCache(limit: 100_000)
        #expect(try later.load().listens.map { $0.target.path.wireText } == ["e", "a"])
        // Of what was kept nothing is in use in a new process until it says so.
        later.apply([.saveListen(try target("f"), long(50_000))])
        later.flush()
        #expect(try later.load().listens.map { $0.target.path.wireText } == ["a", "f"])
        #expect(try later.load().listens.map { $0.isActive } == [true, true])
    }

    @Test("writes one row for the change of one child")
    func childRows() throws {
        let cache = try folder.openCache()
        var text = (0..<2000).map { #""k\#($0)":"value \#($0)""# }.joined(separator: ",")
        text = "{\(text)}"
        cache.apply([.saveListen(try target("a"), try node(text))])
        cache.flush()
        let changes = { try cache.file?.database.integer("SELECT total_changes()") ?? 0 }
        let before = try cache.queue.sync(execute: changes)
        cache.apply([.saveChildren(try target("a"), [(try Key("k7"), try node("8"))])])
        cache.flush()
        let after = try cache.queue.sync(execute: changes)
        // The old row, the new row, and the size of the listen.
        #expect(after - before == 3)
        #expect(try cache.load().listens[0].node.child(try Key("k7")).integer == 8)
    }

    @Test("waits for the disk when a write is pending, and for nothing else")
    func syncing() throws {
        let cache = try folder.openCache()
        // Read when it is prepared, so each time in other words.
        func level(_ words: String) throws -> Int64? {
            cache.flush()
            return try cache.queue.sync { try cache.file?.database.integer(words) }
        }
        let (normal, full) = (1, 2) as (Int64, Int64)
        cache.apply([.account("ann")])
        #expect(try level("PRAGMA synchronous") == normal)
        let write = StoredWrite.set(WriteTarget(path: try Path("w")), Draft(Node(true)))
        cache.apply([.account("bob"), .saveWrite(WriteID(1), write)])
        #expect(try level("PRAGMA  synchronous") == full)
        cache.apply([.removeWrite(WriteID(1))])
        #expect(try level("PRAGMA synchronous ") == normal)
    }

    @Test("gives up data when too much waits, and never a pending write")
    func overflow() throws {
        let cache = try folder.openCache(reports)
        let write = StoredWrite.set(WriteTarget(path: try Path("w")), Draft(Node(true)))
        cache.apply([
            .saveListen(try target("kept"), Node(true)), .saveListen(try target("a"), Node(true)),
        ])
        cache.flush()
        let mega = long(9 << 20)
        cache.apply(
            [.saveWrite(WriteID(1), write), .saveListen(try target("b"), mega)]
                + (try (0..<9).map { .saveChildren(try target("a"), [(try Key("k\($0)"), mega)]) })
                + [.saveWrite(WriteID(2), write)]
        )
        cache.apply([.saveChildren(try target("a"), [(try Key("k"), Node(true))])])
        cache.flush()
        #expect(try cache.load().listens.map { $0.target.path.wireText } == ["kept"])
        #expect(try cache.load().writes.map { $0.id.value } == [1, 2])
        cache.apply([.saveListen(try target("a"), Node(false))])
        cache.flush()
        #expect(try cache.load().listens.map { $0.target.path.wireText } == ["kept", "a"])
        #expect(reports.all.isEmpty)
    }

    @Test("that cannot write says so once, and tries again without the data")
    func fullDisk() throws {
        let cache = try folder.openCache(reports)
        cache.apply([.saveListen(try target("a"), try node(#"{"b":1}"#)), .account("ann")])
        cache.flush()
        func setPageLimit(_ count: Int) throws {
            try cache.queue.sync {
                try cache.file?.database.run("PRAGMA max_page_count = \(count)")
            }
        }
        try setPageLimit(1)
        let write = StoredWrite.set(WriteTarget(path: try Path("w")), Draft(long(20_000)))
        for id in 1...3 as ClosedRange<Int64> {
            cache.apply([
                .saveWrite(WriteID(id), write),
                .saveChildren(try target("a"), [(try Key("c"), long(100_000))]),
                .useListen(try target("a"), isActive: true), .removeWrite(WriteID(2)),
            ])
            cache.flush()
        }
        #expect(reports.all == [.failed("write", "database or disk is full")])
        #expect(
            try cache.load().lines == [
                "account ann",
                #"listen {"t":"d","d":{"r":0,"a":"q","b":{"p":"/a"}}} true {"b":1}"#,
            ]
        )
        try setPageLimit(1_000_000)
        cache.flush()
        #expect(try cache.load().writes.map { $0.id.value } == [1, 3])
        #expect(try cache.load().listens.isEmpty)
    }

    @Test("takes nothing after it is closed")
    func closed() throws {
        let cache = try folder.openCache()
        cache.apply([.account("ann")])
        cache.close()
        cache.apply([.account("bob")])
        cache.flush()
        cache.close()
        #expect(try folder.openCache().load().account == "ann")
    }

    @Test("that is released without being closed has written what it was given")
    func released() throws {
        do {
            let cache = try folder.openCache()
            for number in 0..<100 { cache.apply([.account("\(number)")]) }
        }
        // The queue lets go of the file when it has written.
        var reopened: DiskCache?
        let deadline = ContinuousClock.now + .seconds(300)
        while reopened == nil, ContinuousClock.now < deadline {
            do { reopened = try folder.openCache() } catch DiskCacheError.inUse { continue }
        }
        #expect(try reopened?.load().account == "99")
    }
}
