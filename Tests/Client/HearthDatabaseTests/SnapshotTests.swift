import Foundation
import JSONTree
import Queries
import Testing

@testable import HearthDatabase

@Suite("a snapshot")
struct SnapshotTests {
    private func snapshot(_ json: String, _ spec: QuerySpec = .everything) throws -> DataSnapshot {
        DataSnapshot(try FakeWorld().root.child("list"), try Node(json: json), spec)
    }

    private func keys(_ json: String, _ spec: QuerySpec) throws -> [String] {
        let children = try snapshot(json, spec).children
        return children.allObjects.compactMap { ($0 as? DataSnapshot)?.key }
    }

    @Test("says what is there")
    func value() throws {
        let snapshot = try snapshot(#"{".priority":3,"a":{"b":{"c":1}},"d":true}"#)
        #expect(snapshot.key == "list")
        #expect(snapshot.exists())
        #expect(snapshot.hasChildren())
        #expect(snapshot.childrenCount == 2)
        #expect(snapshot.priority as? Int == 3)
        #expect(snapshot.hasChild("a/b/c"))
        #expect(!snapshot.hasChild("a/c"))
        #expect(!snapshot.hasChild("a.b"))
        let child = snapshot.childSnapshot(forPath: "a/b")
        #expect(child.key == "b")
        #expect(child.value as? [String: Int] == ["c": 1])
        #expect(child.ref == snapshot.ref.child("a/b"))
        #expect(child.priority == nil)
        let missing = snapshot.childSnapshot(forPath: "x")
        #expect(!missing.exists())
        #expect(missing.value is NSNull)
        #expect(missing.childrenCount == 0)
        #expect((snapshot.valueInExportFormat() as? [String: Any])?[".priority"] as? Int == 3)
        #expect(snapshot.ref.root.childByAutoId().parent == snapshot.ref.root)
    }

    @Test("of the root has an empty key")
    func root() throws {
        #expect(DataSnapshot(try FakeWorld().root, .absent, .everything).key.isEmpty)
    }

    @Test("has its children in the order of the query that it comes from")
    func order() throws {
        let json = """
            {"2":{"n":1},"10":{"n":0},"b":{"n":true},"a":{".priority":1,"n":"t"},"c":{"x":1}}
            """
        #expect(try keys(json, QuerySpec(index: .key)) == ["2", "10", "a", "b", "c"])
        #expect(try keys(json, .everything) == ["2", "10", "b", "c", "a"])
        let byChild = QuerySpec(index: .child(try Path("n")))
        #expect(try keys(json, byChild) == ["c", "b", "10", "2", "a"])
        let byValue = QuerySpec(index: .value)
        #expect(try keys(#"{"a":3,"b":1,"c":2,"d":1}"#, byValue) == ["b", "d", "c", "a"])
    }

    @Test("can be gone through as tutorials do")
    func enumeration() throws {
        let snapshot = try snapshot(#"{"a":{"n":1},"b":{"n":2}}"#)
        var found: [String] = []
        for case let child as DataSnapshot in snapshot.children { found.append(child.key) }
        for child in snapshot.children {
            guard let child = child as? DataSnapshot else { continue }
            found.append(child.key)
        }
        let enumerator = snapshot.children
        while let child = enumerator.nextObject() as? DataSnapshot { found.append(child.key) }
        let all = try #require(snapshot.children.allObjects as? [DataSnapshot])
        found += all.map(\.key)
        #expect(found == ["a", "b", "a", "b", "a", "b", "a", "b"])
        #expect(all[1].childSnapshot(forPath: "n").value as? Int == 2)
        #expect(enumerator.nextObject() == nil)
    }
}

@Suite("the data of a transaction")
struct MutableDataTests {
    private func data(_ json: String) throws -> MutableData {
        MutableData(MutableData.Run(try Node(json: json)), rootKey: "post")
    }

    private func json(_ data: MutableData) -> String {
        String(decoding: data.result.node.json(), as: UTF8.self)
    }

    @Test("is changed at any place")
    func changes() throws {
        let data = try data(#"{"stars":{"a":true},"count":1}"#)
        #expect(data.key == "post")
        #expect(data.childrenCount == 2)
        #expect(data.hasChildren())
        #expect(data.hasChild(atPath: "stars/a"))
        #expect(!data.hasChild(atPath: "stars/b"))
        let count = data.childData(byAppendingPath: "count")
        count.value = (count.value as? Int ?? 0) + 1
        data.childData(byAppendingPath: "stars/b").value = true
        data.childData(byAppendingPath: "stars/a").value = nil
        #expect(data.childData(byAppendingPath: "stars/b").key == "b")
        data.priority = 2
        #expect(data.priority as? Int == 2)
        #expect(json(data) == #"{"count":2,"stars":{"b":true},".priority":2}"#)
        var keys: [String?] = []
        for case let child as MutableData in data.children { keys.append(child.key) }
        #expect(keys == ["count", "stars"])
        #expect(json(data.childData(byAppendingPath: "stars")) == #"{"b":true}"#)
    }

    @Test("is replaced as a whole")
    func replaced() throws {
        let data = try data("null")
        #expect(data.value is NSNull)
        var post = data.value as? [String: AnyObject] ?? [:]
        post["title"] = "t" as AnyObject
        post["at"] = ServerValue.timestamp() as AnyObject
        data.value = post
        #expect(json(data) == #"{"title":"t"}"#)
        #expect(data.result.serverValues.map(\.target.description) == ["/at"])
        data.value = nil
        #expect(!data.hasChildren())
        #expect(data.result.serverValues.isEmpty)
    }

    @Test("that cannot be stored is remembered as a fault")
    func faults() throws {
        for change: (MutableData) -> Void in [
            { $0.value = Double.nan }, { $0.value = ["a.b": 1] }, { $0.priority = true },
            { $0.childData(byAppendingPath: "a.b").value = 1 },
            { $0.childData(byAppendingPath: "x").value = Date() },
        ] {
            let data = try data(#"{"a":1}"#)
            change(data)
            #expect(data.run.fault != nil)
            #expect(json(data) == #"{"a":1}"#)
        }
    }
}
