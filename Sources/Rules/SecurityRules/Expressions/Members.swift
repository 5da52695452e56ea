/// The methods of a snapshot.
package enum SnapshotMethod: String, CaseIterable {
    case val, exists, child, parent, hasChild, hasChildren, getPriority
    case isString, isNumber, isBoolean

    /// How many arguments it takes; nil for `hasChildren`, which takes none or one.
    var argumentCount: Int? {
        switch self {
        case .child, .hasChild: 1
        case .hasChildren: nil
        default: 0
        }
    }
}

/// The methods of a string; `length` is a property.
package enum StringMethod: String, CaseIterable {
    case contains, beginsWith, endsWith, replace, toLowerCase, toUpperCase, matches

    /// How many arguments it takes.
    var argumentCount: Int {
        switch self {
        case .toLowerCase, .toUpperCase: 0
        case .replace: 2
        default: 1
        }
    }
}

/// The properties of `query`.
package enum QueryProperty: String, CaseIterable {
    case orderByKey, orderByPriority, orderByValue, orderByChild
    case startAt, endAt, equalTo, limitToFirst, limitToLast

    /// The load-time type.
    package var type: ValueType {
        switch self {
        case .orderByKey, .orderByPriority, .orderByValue: .boolean
        default: .queryValue
        }
    }
}
