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
        name = try object.string("name", "it says in a few words what must hold")
        offset = object.offset
        expected = try object.expectation()
        operation = try object.operation()
        auth = try object.auth(absent: shared.auth)
        now = try object.now() ?? shared.now
        data = try object.given(on: object["data"] == nil ? shared.data : object.data() ?? .absent)
        why = try object.optionalString("why")
        error = try object.optionalString("error")
        decidedBy = try object.decider()
        errors = try object.strings("errors")
        if let value = object["rules"] {
            self.rules = .own(rules.add(try RulesMember(value).text))
        } else {
            self.rules = .shared
        }
    }
}

extension RawObject {
    fileprivate func string(_ name: String, _ why: String) throws(InputFault) -> String {
        guard let value = self[name] else {
            throw InputFault(offset: offset, message: "'\(name)' is missing; \(why).")
        }
        return try value.string(name)
    }

    fileprivate func optionalString(_ name: String) throws(InputFault) -> String? {
        guard let value = self[name] else { return nil }
        return try value.string(name)
    }

    fileprivate func strings(_ name: String) throws(InputFault) -> [String]? {
        guard let list = self[name] else { return nil }
        var strings: [String] = []
        for element in try list.elements(name) { strings.append(try element.string(name)) }
        return strings
    }

    fileprivate func expectation() throws(InputFault) -> RuleCase.Expectation {
        let text = try string("expect", "it is allow, deny or invalid-rules")
        if let expected = RuleCase.Expectation(rawValue: text) { return expected }
        let known = RuleCase.Expectation.allCases.map(\.rawValue)
        let near = Spelling.nearest(to: text, among: known)
        throw InputFault(
            offset: self["expect"]?.offset ?? offset,
            message: "'expect' must be allow, deny or invalid-rules.",
            hint: near.map { "Did you mean '\($0)'?" }
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
                offset: value.offset,
                message: "'decidedBy' names a rule, such as write /a/$b, or is null."
            )
        }
        return .rule(text)
    }

    /// The data with what is given set on top of it, in the order of the text; null deletes.
    fileprivate func given(on data: Node) throws(InputFault) -> Node {
        guard let value = self["given"] else { return data }
        var data = data
        for member in try RawObject(value, what: "'given'").members {
            let target: WriteTarget
            do throws(WriteFault) { target = try WriteTarget(requestPath: member.name) } catch {
                throw InputFault(offset: member.nameOffset, message: "'given': \(error).")
            }
            let draft = try member.value.draft("given")
            do throws(WriteFault) { try draft.check(at: target) } catch {
                throw InputFault(offset: member.value.offset, message: "'given': \(error).")
            }
            let node = try member.value.stored("given")
            if target.isPriority {
                data.setPriority(node, at: target.path)
            } else {
                data.set(node, at: target.path)
            }
        }
        return data
    }
}
