import JSONTree
import Queries
import Testing
import WireProtocol

@testable import SyncCore

@Suite("Views over server data and pending writes")
struct TreeTests {
    private let script = TreeScript()
    private static let lastTwo = QuerySpec(limit: 2, side: .last)
    private static let byPriority = QuerySpec(index: .priority)

    @Test("a child that one of its views knows wholly shows above it, though another one waits")
    func childOfTwoViews() {
        _ = script.observe("a/c", QuerySpec(index: .key))
        _ = script.observe("a", Self.lastTwo)
        _ = script.put("a", #"{"c":{"x":1}}"#, tag: 1)
        #expect(script.observe("a/c").last == #"3 value {"x":1}"#)
        let lines = script.observe("a", .everything, [.childAdded])
        #expect(lines.contains(#"4 added c after - {"x":1}"#), "\(lines)")
    }

    @Test("and is known wholly below itself")
    func belowTwoViews() {
        _ = script.observe("a/c", QuerySpec(index: .key))
        _ = script.observe("a", Self.lastTwo)
        _ = script.put("a", #"{"c":{"x":1}}"#, tag: 1)
        _ = script.observe("a/c")
        #expect(script.observe("a/c/x").last == "4 value 1")
    }

    // MARK: Pending writes

    @Test("a set that covers a view is shown at once, and stays when accepted before any data")
    func coveringSet() {
        #expect(script.observe("a") == ["start /a"])
        #expect(script.set("a", #"{"x":1}"#) == ["1 added x after - 1", #"1 value {"x":1}"#])
        #expect(script.accept(1) == [])
        #expect(script.set("a/y", "2") == ["1 added y after x 2", #"1 value {"x":1,"y":2}"#])
        #expect(script.put("a", #"{"x":1}"#) == [])
        #expect(script.refuse(2) == ["1 removed y 2", #"1 value {"x":1}"#])
    }

    @Test("a write below a child of which nothing is known is not shown")
    func deepWrite() {
        _ = script.observe("a")
        #expect(script.set("a/b/c", "1") == [])
        #expect(script.set("a/d", "2") == ["1 added d after - 2"])
        #expect(script.set("a/d/e", "3") == [#"1 changed d after - {"e":3}"#])
        #expect(
            script.put("a", #"{"b":{"x":0}}"#)
                == [
                    #"1 added b after - {"c":1,"x":0}"#,
                    #"1 value {"b":{"c":1,"x":0},"d":{"e":3}}"#,
                ]
        )
    }

    @Test("an accepted merge stays shown while nothing is complete, and raises no value")
    func acceptedMerge() {
        _ = script.observe("a")
        #expect(script.update(["a/b": "1", "a/c/d": "2"]) == ["1 added b after - 1"])
        #expect(script.accept(1) == [])
        #expect(script.set("a/b/x", "5") == [#"1 changed b after - {"x":5}"#])
        #expect(script.accept(2) == [])
        #expect(
            script.put("a", #"{"b":{"x":5},"c":{"d":2}}"#)
                == [
                    #"1 added c after b {"d":2}"#,
                    #"1 value {"b":{"x":5},"c":{"d":2}}"#,
                ]
        )
    }

    @Test("an accepted write that the server echoed raises nothing, another value a correction")
    func echoes() {
        _ = script.observe("a")
        _ = script.put("a", #"{"x":1}"#)
        #expect(script.set("a/x", "2") == ["1 changed x after - 2", #"1 value {"x":2}"#])
        #expect(script.put("a/x", "2") == [])
        #expect(script.accept(1) == [])
        #expect(script.set("a/x", "3") == ["1 changed x after - 3", #"1 value {"x":3}"#])
        #expect(script.put("a/x", "7") == [])
        #expect(script.accept(2) == ["1 changed x after - 7", #"1 value {"x":7}"#])
    }

    @Test("a leaf comes to light again when the child that was written below it is refused")
    func refusedChildOfLeaf() {
        _ = script.observe("a")
        _ = script.put("a", #"{"b":{"c":"leaf"}}"#)
        let shown = #"{"b":{"c":{"d":{"e":1}}}}"#
        #expect(
            script.set("a/b/c/d/e", "1")
                == [#"1 changed b after - {"c":{"d":{"e":1}}}"#, "1 value \(shown)"]
        )
        #expect(
            script.refuse(1)
                == [#"1 changed b after - {"c":"leaf"}"#, #"1 value {"b":{"c":"leaf"}}"#]
        )
    }

    @Test("a map keeps its priority while a pending removal hides its last child")
    func emptiedMap() {
        _ = script.observe("a")
        _ = script.put("a", #"{"b":{"x":1,".priority":5}}"#)
        #expect(
            script.set("a/b/x", "null") == [#"1 removed b {"x":1,".priority":5}"#, "1 value null"]
        )
        #expect(
            script.put("a/b/y", "2")
                == [
                    #"1 added b after - {"y":2,".priority":5}"#,
                    #"1 value {"b":{"y":2,".priority":5}}"#,
                ]
        )
        #expect(script.refuse(1).first == #"1 changed b after - {"x":1,"y":2,".priority":5}"#)
    }

    @Test("a merge is one change: one value, children in the order of their kinds")
    func mergeIsOneChange() {
        _ = script.observe("a")
        _ = script.put("a", #"{"b":1,"c":2}"#)
        let value = #"1 value {"c":3,"d":4}"#
        let events = ["1 removed b 1", "1 added d after c 4", "1 changed c after - 3", value]
        #expect(script.update(["a/d": "4", "a/c": "3", "a/b": "null"]) == events)
        #expect(script.merge("a", ["a/d": "4", "a/c": "3", "a/b": "null"]) == [])
        #expect(script.accept(1) == [])
    }

    @Test("a hidden write shows in reads that ask for it alone")
    func hiddenWrite() {
        _ = script.observe("a")
        _ = script.put("a", "1")
        #expect(script.set("a", "2", isVisible: false) == [])
        #expect(script.set("a/b", "3") == ["1 added b after - 3", #"1 value {"b":3}"#])
        let path = TreeScript.place("a").path
        let tree = script.tree
        #expect(tree.node(at: path, excluding: [], includingHidden: false)?.isMap == true)
        let last: Set = [WriteID(2)]
        #expect(tree.node(at: path, excluding: last, includingHidden: true) == Node(integer: 2))
        #expect(tree.node(at: path, excluding: last, includingHidden: false) == Node(integer: 1))
        #expect(tree.serverNode(at: path) == Node(integer: 1))
        #expect(
            tree.node(at: TreeScript.place("z").path, excluding: [], includingHidden: true) == nil
        )
        #expect(script.accept(1) == [])
    }

    // MARK: Priorities

    @Test("a priority moves a child, and the node's own raises a value alone")
    func priorities() {
        _ = script.observe("a", .everything, [.childMoved, .childChanged, .value])
        _ = script.put("a", #"{"b":1,"c":2}"#)
        #expect(
            script.set("a/b/.priority", "9")
                == [
                    #"1 moved b after c {".value":1,".priority":9}"#,
                    #"1 changed b after c {".value":1,".priority":9}"#,
                    #"1 value {"b":{".value":1,".priority":9},"c":2}"#,
                ]
        )
        #expect(
            script.put("a/.priority", #""p""#)
                == [#"1 value {"b":{".value":1,".priority":9},"c":2,".priority":"p"}"#]
        )
        #expect(script.set("z/.priority", "1") == [])
    }

    @Test("the result of a query has no priority of the node's own")
    func queryWithoutOwnPriority() {
        _ = script.observe("a", Self.lastTwo)
        #expect(
            script.put("a", #"{"b":1,"c":2,"d":3,".priority":1}"#, tag: 1).last
                == #"1 value {"c":2,"d":3}"#
        )
        #expect(script.set("a/.priority", "4") == [])
        #expect(script.hash("a", Self.lastTwo) == TreeScript.node(#"{"c":2,"d":3}"#).hash())
    }

    // MARK: Queries

    @Test("a window that loses a child takes in one that is known, and no other")
    func windowFills() {
        _ = script.observe("a", Self.lastTwo, .children)
        #expect(script.put("a", #"{"b":1,"c":2}"#, tag: 1).count == 2)
        #expect(script.set("a/d", "3") == ["1 removed b 1", "1 added d after c 3"])
        #expect(script.set("a/d", "null") == ["1 removed d 3", "1 added b after - 1"])
        #expect(script.set("a/b", "null") == ["1 removed b 1"])
        #expect(script.merge("a", ["a/b": "null", "a/0": "0"], tag: 1) == ["1 added 0 after - 0"])
        #expect(script.accept(1) + script.accept(2) + script.accept(3) == [])
    }

    @Test("an answer that holds more than the query selects is filtered")
    func unfilteredAnswer() {
        _ = script.observe("a", Self.lastTwo, .value)
        #expect(script.put("a", #"{"b":1,"c":2,"d":3}"#, tag: 1) == [#"1 value {"c":2,"d":3}"#])
        #expect(script.set("a/d", "null") == [#"1 value {"c":2}"#])
        #expect(script.put("a/b", "5", tag: 1) == [])
    }

    @Test("under a plain listen a window fills from everything")
    func coveredWindow() {
        _ = script.observe("a", .everything, [])
        #expect(script.observe("a", Self.lastTwo, .childAdded) == [])
        #expect(
            script.put("a", #"{"b":1,"c":2,"d":3}"#)
                == ["2 added c after - 2", "2 added d after c 3"]
        )
        #expect(script.set("a/d", "null") == ["2 added b after - 1"])
    }

    @Test("a push with a tag that nothing has is ignored, and one beside its query")
    func unknownTag() {
        _ = script.observe("a", Self.lastTwo)
        #expect(script.put("a", "1", tag: 7) == [])
        #expect(script.put("b", #"{"x":1}"#, tag: 1) == [])
        #expect(script.answered("a", Self.lastTwo, tag: 1) == ["1 value null"])
    }

    // MARK: Listens

    @Test("observers of one target share a listen, and each is notified of what is known")
    func sharedListen() {
        #expect(script.observe("a") == ["start /a"])
        _ = script.put("a", #"{"b":{".value":1,".priority":2},"c":3}"#)
        #expect(
            script.observe("a")
                == [
                    "2 added c after - 3", #"2 added b after c {".value":1,".priority":2}"#,
                    #"2 value {"b":{".value":1,".priority":2},"c":3}"#,
                ]
        )
        #expect(script.observe("a/c") == ["3 value 3"])
        #expect(script.stop(1) == [])
        #expect(script.stop(2) == ["start /a/c", "stop /a"])
        #expect(script.stop(2) == [])
        #expect(script.stop(3) == ["stop /a/c"])
    }

    @Test("a plain listen is started before those it covers are stopped, and the other way round")
    func coverage() {
        #expect(script.observe("a/b") == ["start /a/b"])
        #expect(script.observe("a", Self.lastTwo) == ["start /a 1"])
        #expect(script.observe("a", Self.byPriority) == ["start /a", "stop /a 1", "stop /a/b"])
        #expect(script.observe("a/b/c", Self.lastTwo) == [])
        #expect(script.stop(3) == ["start /a 2", "start /a/b", "stop /a"])
        #expect(script.stop(1) == ["start /a/b/c 3", "stop /a/b"])
    }

    @Test("a refused listen tells and removes its observers, and uncovers what it covered")
    func refusedListen() {
        _ = script.observe("a")
        _ = script.observe("a", QuerySpec(index: .key), .value)
        _ = script.observe("a", Self.lastTwo)
        _ = script.observe("a/b")
        _ = script.observe("a/c", Self.lastTwo)
        let cancelled = ["1 cancelled", "2 cancelled", "3 cancelled"]
        #expect(script.revoke("a") == ["start /a/b", "start /a/c 1"] + cancelled)
        #expect(script.revoke("a") == [])
        #expect(script.stop(1) == [])
        #expect(script.revoke("a/c", Self.lastTwo) == ["5 cancelled"])
        #expect(script.put("a/c", "1", tag: 1) == [])
        #expect(script.stop(4) == ["stop /a/b"])
    }

    @Test("an observer of no kinds keeps a listen alive and is notified of nothing")
    func keptSynced() {
        #expect(script.observe("a", .everything, []) == ["start /a"])
        #expect(script.put("a", "1") == [])
        #expect(script.hash("a") == Node(integer: 1).hash())
        #expect(script.observe("a") == ["2 value 1"])
        #expect(script.stop(2) == [])
        #expect(script.stop(1) == ["stop /a"])
    }

    @Test("a view at a child that a query above selects starts with it, and listens all the same")
    func childOfQuery() {
        _ = script.observe("a", Self.lastTwo)
        _ = script.put("a", #"{"b":{"x":1}}"#, tag: 1)
        #expect(
            script.observe("a/b") == ["start /a/b", "2 added x after - 1", #"2 value {"x":1}"#]
        )
        #expect(script.observe("a/c") == ["start /a/c"])
    }

    @Test("an answer without data means the data that the listen was sent with")
    func answerWithoutData() {
        #expect(script.observe("a/b") == ["start /a/b"])
        #expect(script.hash("a/b") == "")
        // Of a plain listen above that was stopped just before.
        #expect(script.put("a", #"{"b":1}"#) == ["1 value 1"])
        #expect(script.answered("a/b") == ["1 value null"])
    }

    /// A push names no listen, only a path; the link cannot tell either. It takes a listen that is
    /// stopped and started again while its data is under way, and data that is back meanwhile at
    /// what it was before.
    @Test("data of an earlier listen for just that path is taken for the answer: a known fault")
    func answerOfEarlierListen() {
        _ = script.observe("a")
        _ = script.stop(1)
        _ = script.observe("a")
        #expect(script.hash("a") == "")
        #expect(script.put("a", "1") == ["2 value 1"])
        #expect(script.answered("a") == [])
    }

    @Test("the value of a window follows its children")
    func valueOfWindow() {
        _ = script.observe("a", Self.lastTwo, .value)
        #expect(script.put("a", #"{"b":1,"c":2}"#, tag: 1) == [#"1 value {"b":1,"c":2}"#])
        #expect(script.set("a/d/x", "3") == [])
        #expect(script.set("a/d", "3") == [#"1 value {"c":2,"d":3}"#])
        #expect(script.observe("a", Self.lastTwo, .childAdded).count == 2)
        #expect(script.stop(1) == [])
        #expect(script.set("a/e", "4") == ["2 added e after d 4"])
        #expect(script.observe("a", Self.lastTwo, .value) == [#"3 value {"d":3,"e":4}"#])
        #expect(script.refuse(3) == ["2 added c after - 2", #"3 value {"c":2,"d":3}"#])
    }

    @Test("events of views come from the deepest up, and in key order beside each other")
    func orderOfViews() {
        _ = script.observe("", .everything, .value)
        _ = script.observe("b", .everything, .value)
        _ = script.observe("10", .everything, .value)
        _ = script.observe("9/x", .everything, .value)
        #expect(
            script.set("", #"{"9":{"x":1},"10":2,"b":3}"#).map { $0.prefix(1) }
                == ["4", "3", "2", "1"]
        )
    }

    @Test("results are made of a live view, of one above, or of data read once")
    func results() {
        _ = script.observe("a")
        let target = TreeScript.target("a/b", Self.lastTwo)
        #expect(script.tree.result(target) == nil)
        _ = script.put("a", #"{"b":{"x":1,"y":2,"z":3}}"#)
        _ = script.set("a/b/y", "null")
        _ = script.set("q/w", "5")
        #expect(script.tree.result(target).map(TreeScript.text) == #"{"x":1,"z":3}"#)
        let other = TreeScript.target("q", Self.lastTwo)
        let read = script.tree.result(other, ofServerData: TreeScript.node(#"{"u":1,"v":2}"#))
        #expect(TreeScript.text(read) == #"{"v":2,"w":5}"#)
    }
}
