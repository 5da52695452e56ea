import JSONTree
import Testing

@Suite("Edits inside a draft")
struct DraftEditTests {
    private func draft(_ text: String) throws -> Draft { try Draft(json: Array(text.utf8)) }

    private func resolved(_ draft: Draft) -> String {
        let now = Timestamp(milliseconds: 7)
        return draft.resolved(existing: .absent, now: now).text
    }

    @Test(
        "a part is written as it would be into the value that the draft stands for",
        arguments: [
            (#"{"a":1}"#, "/b", "2", #"{"a":1,"b":2}"#),
            // A server value is a leaf: what is written below takes its place, and its priority.
            (#"{".sv":"timestamp"}"#, "/b", "2", #"{"b":2}"#),
            (
                #"{".value":{".sv":"timestamp"},".priority":3}"#, "/b", "2",
                #"{"b":2,".priority":3}"#
            ),
            (#"{".sv":"timestamp"}"#, "/b", "null", "7"),
            (#"{"a":{".sv":"timestamp"}}"#, "/a", "2", #"{"a":2}"#),
            (#"{"a":{".sv":"timestamp"}}"#, "/.priority", "3", #"{"a":7,".priority":3}"#),
            (#"{".sv":"timestamp"}"#, "/.priority", "3", #"{".value":7,".priority":3}"#),
            (#"{"a":5}"#, "/a/b", #"{".sv":"timestamp"}"#, #"{"a":{"b":7}}"#),
            // A map keeps its priority as long as it has a child, and loses it with the last one.
            (
                #"{"a":{".sv":"timestamp"},"b":1,".priority":3}"#, "/b", "null",
                #"{"a":7,".priority":3}"#
            ),
            (#"{"a":{".sv":"timestamp"},".priority":3}"#, "/a", "null", "null"),
            (
                #"{"a":1,".priority":{".sv":"timestamp"}}"#, "/b", #"{".sv":"timestamp"}"#,
                #"{"a":1,"b":7,".priority":7}"#
            ),
        ]
    )
    func replace(before: String, place: String, part: String, after: String) throws {
        var draft = try draft(before)
        draft.replace(try WriteTarget(place), with: try self.draft(part))
        #expect(resolved(draft) == after)
    }

    @Test("a map whose priority went with its last child does not get it back")
    func lostPriority() throws {
        var draft = try draft(#"{"a":{".sv":"timestamp"},".priority":3}"#)
        draft.replace(try WriteTarget("/a"), with: try self.draft("null"))
        draft.replace(try WriteTarget("/b"), with: try self.draft("1"))
        #expect(resolved(draft) == #"{"b":1}"#)
    }

    @Test("a priority that is a server value holds for a map of server values")
    func priorityOfEmptyMap() throws {
        let draft = try draft(#"{".priority":{".sv":"timestamp"},"a":{".sv":"timestamp"}}"#)
        #expect(resolved(draft) == #"{"a":7,".priority":7}"#)
    }

    @Test("a draft splits into its children, server values and priorities with them")
    func split() throws {
        let draft = try draft(
            #"{"a":{"x":{".sv":"timestamp"},".priority":2},"b":{".sv":"timestamp"},"c":1}"#
        )
        let children = draft.split().map { ($0.key.description, resolved($0.draft)) }
        #expect(children.map(\.0) == ["a", "b", "c"])
        #expect(children.map(\.1) == [#"{"x":7,".priority":2}"#, "7", "1"])
        #expect(try self.draft(#"{".sv":"timestamp"}"#).split().isEmpty)
    }
}
