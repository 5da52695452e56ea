import JSONTree

/// A value while a rule runs.
///
/// Only a string that was built owns memory. Borrowed bytes are in the trees of the request, in its path or in the
/// rules, all of which outlive the decision.
enum Value {
    case null
    case boolean(Bool)
    case number(Double)
    /// A string that was built: UTF-8.
    case text([UInt8])
    /// A string of the data, of auth or of the rules, or a key of the path.
    case borrowed(Bytes)
    /// A value with children. Only auth values have members; else the node is absent.
    case object(BorrowedNode)

    /// The value of a leaf; an object keeps its node, so that members of auth can be reached.
    init(_ node: BorrowedNode) {
        switch node.content {
        case .absent: self = .null
        case .boolean(let value): self = .boolean(value)
        case .number(let value): self = .number(value)
        case .string(let text): self = .borrowed(text)
        case .map: self = .object(node)
        }
    }

    /// What it is, for messages.
    var kind: ValueKind {
        switch self {
        case .null: .null
        case .boolean: .boolean
        case .number: .number
        case .text, .borrowed: .string
        case .object: .object
        }
    }

    /// Bytes of a string; 0 for any other value.
    var byteCount: Int { withText { $0.count } ?? 0 }

    /// Lends the UTF-8 of a string; nil for any other value.
    @discardableResult
    @inline(__always)
    func withText<R>(_ body: (Bytes) -> R) -> R? {
        switch self {
        case .text(let bytes): bytes.withBytes(body)
        case .borrowed(let bytes): body(bytes)
        case .null, .boolean, .number, .object: nil
        }
    }
}

/// What a value turned out to be.
package enum ValueKind: String, Sendable {
    case null, boolean, number, string
    case object = "an object"

    /// As a message says it.
    package var words: String {
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

    /// Whether a hard limit was met, and not a rule that does not fit the data.
    var isLimit: Bool { self == .outOfSteps || self == .stringTooLong }

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
            "The request takes more than \(RulesLimits.stepsPerRequest) steps of rules "
                + "(of an update, \(RulesLimits.stepsPerPath) more a path)."
        }
    }
}

/// An aborted rule: why, and at which operation.
struct EvaluationFailure: Error {
    let fault: EvaluationFault
    let operation: OperationIndex

    init(_ fault: EvaluationFault, _ operation: OperationIndex) {
        self.fault = fault
        self.operation = operation
    }
}

extension BorrowedNode {
    /// The UTF-8 of a string; empty for any other node.
    var text: Bytes {
        if case .string(let text) = content { text } else { .empty }
    }
}
