package import JSONTree

/// Members as they are written in Swift: `["email": .text(email), "disabled": .boolean(isDisabled)]`.
extension JSONMembers: ExpressibleByDictionaryLiteral {
    /// Members in this order; those that are nil are left out.
    package init(dictionaryLiteral members: (String, JSONValue?)...) {
        self.init()
        for (name, value) in members { add(name, value) }
    }
}

extension JSONValue? {
    /// A text; nil for none.
    static func text(_ text: String?) -> JSONValue? { text.map { .string($0) } }

    /// True; nil for false.
    static func mark(_ flag: Bool) -> JSONValue? { flag ? .boolean(true) : nil }

    /// A list; nil for an empty one.
    static func given(_ list: [JSONValue]) -> JSONValue? { list.isEmpty ? nil : .list(list) }
}

extension JSONMembers {
    /// The members of an answer, which says of what kind it is: `identitytoolkit#KIND`.
    init(kind: String, _ others: JSONMembers = [:]) {
        self.init()
        add("kind", "identitytoolkit#\(kind)")
        add(others)
    }

    /// The value of a member; nil when it is not there.
    private func value(_ name: String) -> JSONValue? { all.first { $0.name == name }?.value }

    /// The text of a member; nil for anything else.
    package func text(_ name: String) -> String? {
        if case .string(let text) = value(name) { text } else { nil }
    }

    /// The elements of a member that is a list; 0 for anything else.
    package func count(_ name: String) -> Int {
        if case .list(let list) = value(name) { list.count } else { 0 }
    }
}

/// Members of JSON text that are passed on unchanged: `Node` would drop nulls and empty lists.
extension JSONMembers {
    /// The members of the object in `json`, each value with its text; nil when that is not an object.
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
        if case .raw(let text) = value(name) { text } else { nil }
    }

    /// Adds a member, or replaces the value of the one with that name.
    package mutating func put(_ name: String, _ value: JSONValue) {
        if let index = all.firstIndex(where: { $0.name == name }) {
            all[index] = JSONValue.Member(name, value)
        } else {
            add(name, value)
        }
    }

    /// Adds members behind the others.
    mutating func add(_ others: JSONMembers) { all += others.all }

    /// Takes a member away.
    package mutating func remove(_ name: String) {
        all.removeAll { $0.name == name }
    }
}
