import JSONTree

/// Members of JSON text that are passed on as they were written: `Node` would drop nulls and empty lists of theirs.
extension JSONMembers {
    /// The members of the object in `json`, each value with its text; nil when that is no object.
    package init?(reading json: [UInt8]) {
        do throws(JSONError) {
            self = try json.withBytes { (bytes) throws(JSONError) in
                var scanner = JSONScanner(bytes)
                var members = JSONMembers()
                try scanner.enterObject()
                while let name = try scanner.nextMember() {
                    let range = try scanner.skipValue()
                    members.put(name, .raw(bytes.slice(range).array))
                }
                try scanner.expectEnd()
                return members
            }
        } catch {
            return nil
        }
    }

    /// The text of a member that was read; nil when it is not there.
    package func rawText(_ name: String) -> [UInt8]? {
        for member in all where member.name == name {
            if case .raw(let text) = member.value { return text }
        }
        return nil
    }

    /// Adds a member, or gives the one of that name another value.
    package mutating func put(_ name: String, _ value: JSONValue) {
        if let index = all.firstIndex(where: { $0.name == name }) {
            all[index] = JSONValue.Member(name, value)
        } else {
            add(name, value)
        }
    }

    /// Takes a member away.
    package mutating func remove(_ name: String) {
        all.removeAll { $0.name == name }
    }
}
