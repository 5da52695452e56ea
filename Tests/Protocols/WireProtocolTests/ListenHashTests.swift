import JSONTree
import Testing

@testable import WireProtocol

private func compare(_ hash: ListenHash, _ node: Node) -> String {
    switch hash.compare(with: node) {
    case .same: "same"
    case .different: "different"
    case .ranges(let merges): text(ServerMessage.rangeMerge(.root, merges, tag: nil).encoded())
    }
}

private func compound(_ ends: [String], of node: Node) throws -> CompoundHash {
    let ends = try ends.map { try WriteTarget($0) }
    return CompoundHash(ends: ends, hashes: node.intervalHashes(endingAt: ends).hashes.dropLast())
}

@Test("a client that has the data is sent nothing, whichever way it hashes")
func sameData() throws {
    let data = try node(#"{"a":{".value":1,".priority":2},"b":{".value":1,".priority":1}}"#)
    let parts = try compound(["a", "b"], of: data)
    for hash in [data.hash(), data.hash(.iOS)] {
        #expect(compare(ListenHash(hash), data) == "same")
        #expect(compare(ListenHash(hash, compound: parts), data) == "same")
    }
    #expect(data.hash() != data.hash(.iOS))
    #expect(compare(ListenHash(""), .absent) == "same")
}

@Test("the hash of the whole counts where clients hash their parts otherwise")
func foreignParts() throws {
    let ends = try ["000000000001", "1"].map { try WriteTarget($0) }
    for json in [#"{"1":1,".priority":5}"#, #"{"1":1,"000000000001":2}"#] {
        let data = try node(json)
        for ends in [ends, ends.reversed()] {
            let foreign = CompoundHash(ends: ends, hashes: ["x", "y"])
            #expect(compare(ListenHash(data.hash(), compound: foreign), data) == "same")
        }
    }
}

@Test("without hashes of parts that help, data is sent whole")
func wholeData() throws {
    let old = try node(#"{"a":1,"b":2,"c":3}"#)
    let new = try node(#"{"a":1,"b":5,"c":3}"#)
    let rows: [(ListenHash, Node)] = [
        (ListenHash("none"), new),
        (ListenHash(""), new),
        (ListenHash(old.hash()), .absent),
        // Nothing, in no parts.
        (ListenHash("", compound: CompoundHash(ends: [], hashes: [])), new),
        (ListenHash(old.hash(), compound: try compound(["a", "c"], of: old)), .absent),
        // All parts differ.
        (ListenHash(old.hash(), compound: try compound(["c"], of: old)), try node(#"{"d":1}"#)),
        // None does, although the whole does.
        (ListenHash("none", compound: try compound(["a", "c"], of: new)), new),
        // The client sorts otherwise.
        (ListenHash(old.hash(), compound: try compound(["c", "a"], of: old)), new),
        (ListenHash(old.hash(), compound: try compound(["a", "a"], of: old)), new),
        (
            ListenHash(old.hash(), compound: try compound(["a", "c"], of: old)),
            try node(#"{"000000000001":1,"a":1,"c":3}"#)
        ),
    ]
    for (hash, data) in rows { #expect(compare(hash, data) == "different", "\(json(data))") }
}

@Test("hashes of parts find the parts that differ")
func parts() throws {
    let old = try node(#"{"a":1,"b":2,"c":3}"#)
    let hash = ListenHash(old.hash(), compound: try compound(["a", "b", "c"], of: old))
    let new = try node(#"{"a":1,"b":5,"c":3,"d":4}"#)
    #expect(
        compare(hash, new)
            == #"{"t":"d","d":{"a":"rm","b":{"p":"","d":[{"s":"a","e":"b","m":{"b":5}},{"s":"c","m":{"d":4}}]}}}"#
    )
}
