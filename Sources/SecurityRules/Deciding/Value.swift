import JSONTree

/// A value while a rule runs.
enum Value: Sendable {
    case null
    case boolean(Bool)
    case number(Double)
    /// A string of the rules, or one that was built: UTF-8.
    case text([UInt8])
    /// The key that a wildcard took, by its index in the path of the request.
    case key(Path, Int)
    /// A string of the data or of auth.
    case string(Node)
    /// Something with children. Only of auth, a member can be asked; else the node is absent.
    case object(Node)

    /// The value of a leaf; an object keeps its node, so that members of auth can be reached.
    init(_ node: Node) {
        switch node.kind {
        case .absent: self = .null
        case .boolean: self = .boolean(node.boolean ?? false)
        case .number: self = .number(node.number ?? .nan)
        case .string: self = .string(node)
        case .map: self = .object(node)
        }
    }

    /// What it is, for messages.
    var kind: ValueKind {
        switch self {
        case .null: .null
        case .boolean: .boolean
        case .number: .number
        case .text, .key, .string: .string
        case .object: .object
        }
    }

    /// Lends the UTF-8 of a string; nil for any other value.
    @discardableResult
    func withText<R>(_ body: (Bytes) -> R) -> R? {
        switch self {
        case .text(let bytes): bytes.withBytes(body)
        case .key(let path, let index): path.withKey(at: index, body)
        case .string(let node): node.withText(body)
        case .null, .boolean, .number, .object: nil
        }
    }
}

/// What a value turned out to be.
enum ValueKind: String, Sendable {
    case null, boolean, number, string
    case object = "an object"

    /// As a message says it.
    var words: String {
        switch self {
        case .null, .object: rawValue
        default: "a " + rawValue
        }
    }
}

/// Why a rule was aborted.
enum EvaluationFault: Error, Equatable {
    /// `needed` names the kind as a message says it.
    case wrongKind(needed: Needed, found: ValueKind)
    /// Ordering takes two numbers or two strings.
    case noOrder(ValueKind, ValueKind)
    /// `+` takes numbers and strings.
    case noSum(ValueKind, ValueKind)
    case parentOfRoot
    case noValue
    case stringTooLong
    case outOfSteps

    enum Needed: String {
        case boolean = "a boolean"
        case number = "a number"
        case string = "a string"
        case index = "a string or a number"
    }

    /// For people.
    var message: String {
        switch self {
        case .wrongKind(let needed, let found): "Expected \(needed.rawValue), found \(found.words)."
        case .noOrder(let left, let right):
            left == right
                ? "\(left.words) and \(right.words) have no order."
                : "\(left.words) cannot be ordered against \(right.words)."
        case .noSum(let left, let right): "\(left.words) and \(right.words) cannot be added."
        case .parentOfRoot: "The root has no parent."
        case .noValue: "A snapshot is not a value; use val()."
        case .stringTooLong:
            "The string is longer than \(RulesLimits.builtStringByteCount) bytes."
        case .outOfSteps:
            "The request takes more than \(RulesLimits.stepsPerRequest) steps of rules."
        }
    }
}

/// An aborted rule: why, and at which operation.
struct EvaluationFailure: Error {
    let fault: EvaluationFault
    let operation: OperationIndex
}
