import JSONTree
import SecurityRules
import WireProtocol

extension RuleCase {
    private static let names =
        RawObject.requestNames + [
            "name", "rules", "data", "given", "expect", "why", "decidedBy", "error", "errors",
        ]

    /// Reads one case.
    ///
    /// - Throws: `InputFault` for the first thing wrong with it.
    init(
        _ object: RawObject,
        _ shared: SharedMembers,
        _ rules: inout RulesCollection
    ) throws(InputFault) {
        try object.check(Self.names, in: "a case")
        name = try object.required("name", "it says in a few words what must hold").string("name")
        offset = object.offset
        expected = try object.expectation()
        operation = try object.operation()
        auth = try object.auth(absent: shared.auth)
        now = try object.now() ?? shared.now
        data = try object.given(on: object["data"] == nil ? shared.data : object.data() ?? .absent)
        why = try object["why"]?.string("why")
        error = try object["error"]?.string("error")
        decidedBy = try object.decider()
        errors = try object.strings("errors")
        if let value = object["rules"] {
            ownRules = rules.add(try RulesMember(value).text)
        } else {
            ownRules = nil
        }
    }
}

extension RawObject {
    fileprivate func strings(_ name: String) throws(InputFault) -> [String]? {
        try self[name]?.elements(name).map { (element) throws(InputFault) in
            try element.string(name)
        }
    }

    fileprivate func expectation() throws(InputFault) -> RuleCase.Expectation {
        let value = try required("expect", "it is allow, deny or invalid-rules")
        let text = try value.string("expect")
        if let expected = RuleCase.Expectation(rawValue: text) { return expected }
        let known = RuleCase.Expectation.allCases.map(\.rawValue)
        let near = Spelling.nearest(to: text, among: known)
        throw InputFault(
            value.offset,
            "'expect' must be allow, deny or invalid-rules.",
            near.map { "Did you mean '\($0)'?" }
        )
    }

    fileprivate func decider() throws(InputFault) -> RuleCase.Decider? {
        guard let value = self["decidedBy"] else { return nil }
        if value.kind == .null { return RuleCase.Decider.none }
        let text = try value.string("decidedBy")
        let pieces = text.split(separator: " ", maxSplits: 1)
        guard pieces.count == 2, RuleKind(rawValue: String(pieces[0])) != nil,
            pieces[1].hasPrefix("/")
        else {
            throw InputFault(
                value.offset,
                "'decidedBy' names a rule, such as write /a/$b, or is null."
            )
        }
        return .rule(text)
    }

    /// The data with the given values set on top, in the order of the text; null deletes.
    fileprivate func given(on data: Node) throws(InputFault) -> Node {
        guard let value = self["given"] else { return data }
        var data = data
        for member in try RawObject(value, what: "'given'").members {
            let target: WriteTarget
            do throws(WriteFault) { target = try WriteTarget(requestPath: member.name) } catch {
                throw InputFault(member.nameOffset, "'given': \(error).")
            }
            let draft = try member.value.draft("given")
            do throws(WriteFault) { try draft.check(at: target) } catch {
                throw InputFault(member.value.offset, "'given': \(error).")
            }
            let node = try member.value.stored("given")
            data.write(node, at: target)
        }
        return data
    }
}
