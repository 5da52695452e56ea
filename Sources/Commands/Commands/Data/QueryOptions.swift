import ArgumentParser

/// Which part of a value is asked for.
struct QueryOptions: ParsableArguments {
    @Option(help: .value("key", "Order children by a child of theirs."))
    var orderBy: String?

    @Flag(help: "Order children by key.")
    var orderByKey = false

    @Flag(help: "Order children by value.")
    var orderByValue = false

    @Flag(help: "Order children by priority.")
    var orderByPriority = false

    @Option(help: .value("number", "At most this many children, the first ones."))
    var limitToFirst: Int?

    @Option(help: .value("number", "At most this many children, the last ones."))
    var limitToLast: Int?

    @Option(help: .value("value", "From here on; JSON, or text that is a string."))
    var startAt: String?

    @Option(help: .value("value", "Behind here."))
    var startAfter: String?

    @Option(help: .value("value", "Up to here."))
    var endAt: String?

    @Option(help: .value("value", "Before here."))
    var endBefore: String?

    @Option(help: .value("value", "Just these."))
    var equalTo: String?

    func validate() throws {
        let orders = [orderBy != nil, orderByKey, orderByValue, orderByPriority].count { $0 }
        if orders > 1 { throw ValidationError("several orders are given: give one of them") }
    }

    /// The parameters of the REST API, in a fixed order.
    var parameters: Parameters {
        Parameters([
            ("limitToFirst", limitToFirst.map { String($0) }),
            ("limitToLast", limitToLast.map { String($0) }), ("orderBy", order),
            ("startAt", startAt.map(bound)), ("startAfter", startAfter.map(bound)),
            ("endAt", endAt.map(bound)), ("endBefore", endBefore.map(bound)),
            ("equalTo", equalTo.map(bound)),
        ])
    }

    private var order: String? {
        if orderByKey { return "\"$key\"" }
        if orderByValue { return "\"$value\"" }
        if orderByPriority { return "\"$priority\"" }
        return orderBy.map { JSONWord.isString($0) ? $0 : JSONWord.quoted($0) }
    }

    /// A bound is JSON when it can be read as JSON, else a string; keys are always strings.
    private func bound(_ text: String) -> String {
        if JSONWord.isString(text) { return text }
        return !orderByKey && JSONWord.isBare(text) ? text : JSONWord.quoted(text)
    }
}
