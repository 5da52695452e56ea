/// What is known of a value when rules are loaded.
package enum ValueType: Equatable {
    case boolean
    case number
    case string
    case null
    case pattern
    case array
    case snapshot
    /// A method that is named and not called.
    case method
    /// The result of `val()` and `getPriority()`: any scalar, null or an opaque object.
    case value
    /// `auth` and everything below it.
    case auth
    case query
    case queryValue
    /// What the branches of a ternary do not agree on.
    case mixed
    /// Already reported; satisfies every check, so that one fault is reported once.
    case error

    /// Whether it may stand beside `==` and `!=`.
    var isComparable: Bool {
        switch self {
        case .boolean, .null: true
        default: isOrderable
        }
    }

    /// Whether it may stand beside `<`, `<=`, `>`, `>=` and `+`.
    var isOrderable: Bool { self == .string || isNumeric }

    /// Whether it may stand beside `-`, `*`, `/` and `%`.
    var isNumeric: Bool {
        switch self {
        case .number, .value, .auth, .queryValue, .mixed, .error: true
        default: false
        }
    }

    /// Whether it may be given where a method takes a string.
    var isText: Bool {
        switch self {
        case .string, .value, .auth, .mixed, .error: true
        default: false
        }
    }

    /// Whether it is accepted where only a boolean is.
    var isBoolean: Bool { self == .boolean || self == .error }

    /// The type of a ternary with these branches.
    static func joining(_ yes: ValueType, _ no: ValueType) -> ValueType {
        if yes == .error || no == .error { return .error }
        // A method that is chosen cannot be called any more, nor can a pattern be matched.
        if yes == no { return yes == .method || yes == .pattern ? .mixed : yes }
        let loose: [ValueType] = [.string, .value, .auth]
        return loose.contains(yes) || loose.contains(no) ? .value : .mixed
    }
}
