/// Which part of a value is asked for, and how it is written.
package struct QueryChoice: Sendable {
    /// What children are ordered by.
    package enum Order: Equatable, Sendable {
        /// A child of theirs; `a/b` for one further down.
        case child(String)
        case key
        case value
        case priority
    }

    package var order: Order?
    package var isPretty = false
    package var isShallow = false
    /// With priorities.
    package var isExport = false
    package var limitToFirst: Int?
    package var limitToLast: Int?
    package var startAt: String?
    package var startAfter: String?
    package var endAt: String?
    package var endBefore: String?
    package var equalTo: String?

    package init() {}

    /// The parameters of the REST API, in a fixed order.
    package var parameters: [(name: String, value: String)] {
        var all: [(name: String, value: String)] = []
        if isShallow { all.append(("shallow", "true")) }
        if isPretty { all.append(("print", "pretty")) }
        if isExport { all.append(("format", "export")) }
        if let limitToFirst { all.append(("limitToFirst", String(limitToFirst))) }
        if let limitToLast { all.append(("limitToLast", String(limitToLast))) }
        if let orderBy { all.append(("orderBy", orderBy)) }
        let bounds = [
            ("startAt", startAt), ("startAfter", startAfter), ("endAt", endAt),
            ("endBefore", endBefore), ("equalTo", equalTo),
        ]
        for (name, value) in bounds {
            if let value { all.append((name, bound(value))) }
        }
        return all
    }

    private var orderBy: String? {
        switch order {
        case nil: nil
        case .key: "\"$key\""
        case .value: "\"$value\""
        case .priority: "\"$priority\""
        case .child(let name): JSONWord.isString(name) ? name : JSONWord.quoted(name)
        }
    }

    /// A bound is JSON when it can be read as such and else a string; keys are always strings.
    private func bound(_ text: String) -> String {
        if JSONWord.isString(text) { return text }
        return order != .key && JSONWord.isBare(text) ? text : JSONWord.quoted(text)
    }
}
