import SecurityRules

/// What an expression reads, in a form in which two spellings of one thing are equal:
/// `root.child('a/b').val()` and, below `/a`, `data.child('b').val()`.
///
/// Two equal terms have the same value throughout one request. A snapshot and its `val()` are one term: it is null
/// when the snapshot does not exist.
struct Term: Hashable {
    enum Base: Hashable {
        /// The tree before the request; the path starts at the root.
        case old
        /// The tree after it.
        case new
        /// The auth variable; the path names members.
        case auth
        /// Any other expression, as text; the path is empty.
        case other(String)
    }

    let base: Base
    let path: [String]

    static let auth = Term(base: .auth, path: [])
    static let uid = Term(base: .auth, path: ["uid"])

    var isAuth: Bool { base == .auth }
    var isSnapshot: Bool { base == .old || base == .new }

    /// The terms that cannot be null when this one is not, from the nearest up; itself not among them.
    var ancestors: [Term] {
        path.indices.reversed().map { Term(base: base, path: Array(path[..<$0])) }
    }

    /// Whether it lies at `other` or below.
    func isWithin(_ other: Term) -> Bool {
        base == other.base && path.starts(with: other.path)
    }
}

/// A value that an expression spells out.
enum Literal: Hashable {
    case null
    case boolean(Bool)
    case number(Double)
    case string(String)

    /// The literal that an expression is; nil for any other.
    init?(_ expression: Expression) {
        switch expression.kind {
        case .null: self = .null
        case .boolean(let value): self = .boolean(value)
        case .number(let value): self = .number(value)
        case .string(let value): self = .string(value)
        case .negate(let operand):
            guard case .number(let value) = operand.kind else { return nil }
            self = .number(-value)
        default: return nil
        }
    }

    /// Nil for null.
    var kind: ScalarKind? {
        switch self {
        case .null: nil
        case .boolean: .boolean
        case .number: .number
        case .string: .string
        }
    }
}

/// What a value that is not null can be.
enum ScalarKind {
    case boolean, number, string, object
}
