import EventProtocol
package import JSONTree
import Queries
import SecurityRules
import WireProtocol

/// The members that the simulator and cases share.
extension RawObject {
    /// The names of the members of a request.
    static let requestNames = ["op", "path", "value", "query", "auth", "now"]

    /// What is tried: `op`, `path`, and `value` or `query`.
    ///
    /// - Throws: `InputFault` when a member is missing, wrong or of no use to the operation.
    func operation() throws(InputFault) -> SimulatedOperation {
        let word = try required("op", "it must be read, write, update or query")
        switch try word.string("op") {
        case "read", "query":
            try refuse("value", "a read has no value")
            let path = try path()
            return .read(path, query: try query())
        case "write":
            try refuse("query", "a write has no query")
            return try write()
        case "update":
            try refuse("query", "a write has no query")
            let path = try path()
            return .update(base: path, try entries(path))
        case let other:
            let name = String(other.unicodeScalars.prefix(64))
            throw InputFault(
                word.offset,
                "'op' is '\(name)'; it must be read, write, update or query."
            )
        }
    }

    /// The caller; nil when signed out, `absent` when the member is missing.
    func auth(absent: AuthVariable? = nil) throws(InputFault) -> AuthVariable? {
        guard let value = self["auth"] else { return absent }
        switch value.kind {
        case .null: return nil
        case .object:
            let claims = try value.read("'auth' cannot be kept") { (scanner) throws(JSONError) in
                try scanner.readNode(anyKeys: true)
            }
            return AuthVariable(claims)
        case .array, .string, .number, .boolean:
            throw InputFault(
                value.offset,
                "'auth' must be an object or null.",
                "Such as {\"uid\":\"ann\"}."
            )
        }
    }

    /// The time; nil when it is not given.
    package func now() throws(InputFault) -> Timestamp? {
        guard let value = self["now"] else { return nil }
        var time: Int64?
        if value.kind == .number {
            time = try value.read("'now' is no time") { (scanner) throws(JSONError) in
                try scanner.readInteger()
            }
        }
        guard let time else {
            throw InputFault(value.offset, "'now' must be a whole number of milliseconds.")
        }
        return Timestamp(milliseconds: time)
    }

    /// The tree to try it on; nil when it is not given.
    func data() throws(InputFault) -> Node? {
        guard let value = self["data"] else { return nil }
        return try value.stored("data")
    }

    // MARK: The parts of an operation

    /// A member that must be there; `why` says what it is for.
    package func required(_ name: String, _ why: String) throws(InputFault) -> RawValue {
        guard let value = self[name] else {
            throw InputFault(offset, "'\(name)' is missing; \(why).")
        }
        return value
    }

    private func refuse(_ name: String, _ why: String) throws(InputFault) {
        guard let member = members.first(where: { $0.name == name }) else { return }
        throw InputFault(member.nameOffset, "'\(name)' has no meaning here: \(why).")
    }

    private func path() throws(InputFault) -> Path {
        let value = try required("path", "it names a location, such as /a/b")
        let text = try value.string("path")
        do throws(PathError) { return try Path(text) } catch {
            throw InputFault(value.offset, "'path' is not a path: \(FaultText.path(error)).")
        }
    }

    private func write() throws(InputFault) -> SimulatedOperation {
        let path = try required("path", "it names a location, such as /a/b")
        let text = try path.string("path")
        let target: WriteTarget
        do throws(WriteFault) { target = try WriteTarget(requestPath: text) } catch {
            throw InputFault(path.offset, "'path' cannot be written: \(error).")
        }
        let value = try required("value", "null deletes")
        let draft = try value.draft("value")
        do throws(WriteFault) { try draft.check(at: target) } catch {
            throw InputFault(value.offset, "'value' cannot be stored there: \(error).")
        }
        return .write(target, draft)
    }

    private func entries(_ base: Path) throws(InputFault) -> [(target: WriteTarget, draft: Draft)] {
        let value = try required("value", "an update takes an object of paths and values")
        guard value.kind == .object else {
            throw InputFault(
                value.offset,
                "'value' of an update must be an object of paths and values."
            )
        }
        let entries = try RawObject(value, what: "'value' of an update")
        var merge: [(path: String, draft: Draft)] = []
        for member in entries.members {
            let entry = (path: member.name, draft: try member.value.draft("value"))
            // Checked on its own, so that a fault has a position.
            do throws(WriteFault) { _ = try MergeEntry.checked([entry], base: base) } catch {
                throw InputFault(member.nameOffset, "'value' of an update: \(error).")
            }
            merge.append(entry)
        }
        do throws(WriteFault) {
            return try MergeEntry.checked(merge, base: base).map { ($0.target, $0.draft) }
        } catch {
            throw InputFault(value.offset, "'value' of an update: \(error).")
        }
    }

    private func query() throws(InputFault) -> QuerySpec? {
        guard let value = self["query"] else { return nil }
        let members = try RawObject(value, what: "'query'")
        try members.check(Self.queryNames, in: "'query'")
        do throws(EventQueryError) { return try QuerySpec(eventQuery: value.bytes) } catch {
            throw InputFault(value.offset, "'query': \(error).")
        }
    }

    private static let queryNames = [
        "orderByChild", "orderByKey", "orderByValue", "orderByPriority", "startAt", "startAfter",
        "endAt", "endBefore", "equalTo", "limitToFirst", "limitToLast",
    ]
}

extension RawValue {
    /// A value in the form of writes.
    func draft(_ name: String) throws(InputFault) -> Draft {
        try read("'\(name)' cannot be stored") { (scanner) throws(JSONError) in
            try scanner.readDraft()
        }
    }

    /// A stored value: without server values.
    func stored(_ name: String) throws(InputFault) -> Node {
        let draft = try draft(name)
        if draft.serverValues.isEmpty { return draft.node }
        throw InputFault(
            offset,
            "'\(name)' must be data as it is stored, without server values.",
            "{\".sv\":...} belongs into 'value'."
        )
    }
}
