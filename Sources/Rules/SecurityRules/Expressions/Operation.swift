import JSONTree

/// The index of an operation in its program.
package struct OperationIndex: Equatable, Sendable {
    /// From 0.
    package let number: Int32

    init(_ number: Int) {
        self.number = Int32(number)
    }
}

/// One operation of a checked expression, referring to its operands by index.
///
/// A plain value without references, so that running a program counts no references for the code
/// itself. The type checker has decided the kind of each operand's value.
enum Operation: Sendable {
    // Values.
    case boolean(Bool)
    case constant(Int32)
    case now
    case auth
    /// The key that a wildcard took, by its index in the path.
    case capture(Int32)
    case query(QueryProperty, base: OperationIndex)
    case authMember(OperationIndex, key: Int32)
    case authIndex(OperationIndex, OperationIndex)
    /// `length` of an auth value: of a string its length, of an object its member.
    case authLength(OperationIndex, key: Int32)

    // Snapshots.
    case data
    case newData
    case root
    /// Consecutive `child()` calls with literal arguments, as one path.
    case child(OperationIndex, path: Int32)
    case childAt(OperationIndex, OperationIndex)
    case parent(OperationIndex)
    /// The variable `query`, which has no value of its own.
    case queryVariable

    // Values of snapshots.
    case val(OperationIndex)
    case priority(OperationIndex)
    case exists(OperationIndex)
    case hasChildren(OperationIndex)
    case hasAllChildren(OperationIndex, list: Int32)
    case isKind(OperationIndex, Node.Kind)

    // Strings.
    case length(OperationIndex)
    case contains(OperationIndex, OperationIndex)
    case beginsWith(OperationIndex, OperationIndex)
    case endsWith(OperationIndex, OperationIndex)
    case replace(OperationIndex, OperationIndex, OperationIndex)
    case lowercase(OperationIndex)
    case uppercase(OperationIndex)
    case matches(OperationIndex, pattern: Int32)

    // Operators.
    case not(OperationIndex)
    case negate(OperationIndex)
    case all(list: Int32)
    case any(list: Int32)
    case equal(OperationIndex, OperationIndex)
    case notEqual(OperationIndex, OperationIndex)
    case ordered(BinaryOperator, OperationIndex, OperationIndex)
    case add(OperationIndex, OperationIndex)
    case arithmetic(BinaryOperator, OperationIndex, OperationIndex)
    case ternary(OperationIndex, OperationIndex, OperationIndex)

    /// A snapshot, method or pattern where a value is needed; only a ternary can produce one there.
    case noValue
}

/// An argument of `hasChildren([...])`.
enum ChildArgument: Sendable {
    case path(Int32)
    case text(OperationIndex)
}

/// The position of a piece of an expression.
package struct SourceSpan: Equatable, Sendable {
    /// From 1, in the rules text.
    package let line: Int
    /// From 1, in Unicode scalars, in the rules text.
    package let column: Int
    /// Scalars of the expression.
    package let range: Range<Int>
    /// Scalars of the rules text; longer than `range` where JSON escapes were written.
    package let textRange: Range<Int>
}

/// A value that an expression names.
enum Constant: Sendable {
    case null
    case number(Double)
    /// UTF-8.
    case text([UInt8])
}

/// A checked expression in the form that runs: operations and what they refer to.
///
/// Immutable. Operands come before the operations that use them, so that no program loops. It runs
/// on plain values: texts are borrowed from nodes that the program holds.
package final class Program: Sendable {
    /// A constant; texts are borrowed from `texts`.
    enum BorrowedConstant: Sendable {
        case null
        case number(Double)
        case text(BorrowedNode)
    }

    let operations: [Operation]
    /// For each operation, its span in the source.
    package let spans: [SourceSpan]
    /// The operations whose values are shown, in source order, outer ones before those in them:
    /// all but literals and what was joined with the operation around it.
    package let subexpressions: [OperationIndex]
    /// The whole expression.
    package let entry: OperationIndex
    let constants: [BorrowedConstant]
    /// Keys of auth members.
    let keys: [BorrowedNode]
    /// Which of `pathKeys` a literal `child()` call goes through; a key may be impossible, and then names nothing.
    let paths: [Range<Int>]
    let pathKeys: [BorrowedNode]
    /// Which of `operands` belong to an `&&` or `||`.
    let lists: [Range<Int>]
    let operands: [OperationIndex]
    /// Which of `arguments` belong to a `hasChildren`.
    let childLists: [Range<Int>]
    let arguments: [ChildArgument]
    let patterns: [Pattern]
    /// Whether it may look at the tree as the write would leave it.
    let readsNewData: Bool

    /// The owners of the borrowed nodes.
    private let texts: [Node]

    init(_ builder: ProgramBuilder, entry: OperationIndex) {
        operations = builder.operations
        spans = builder.spans
        subexpressions = builder.subexpressions()
        self.entry = entry
        var texts: [Node] = []
        func borrow(_ text: [UInt8]) -> BorrowedNode {
            let node = text.withBytes { Node(text: $0) }
            texts.append(node)
            return BorrowedNode(node)
        }
        constants = builder.constants.map { constant in
            switch constant {
            case .null: .null
            case .number(let number): .number(number)
            case .text(let text): .text(borrow(text))
            }
        }
        keys = builder.keys.map(borrow)
        (pathKeys, paths) = Program.joined(builder.paths.map { $0.map { borrow($0.utf8) } })
        (operands, lists) = Program.joined(builder.lists)
        (arguments, childLists) = Program.joined(builder.childLists)
        patterns = builder.patterns
        readsNewData = builder.operations.contains { operation in
            if case .newData = operation { true } else { false }
        }
        self.texts = texts
    }

    /// The key of an auth member.
    func key(_ index: Int32) -> Bytes { keys[Int(index)].text }

    func pathKey(_ index: Int) -> Bytes { pathKeys[index].text }

    /// All elements in one list, and where those of each list lie in it.
    private static func joined<Element>(_ lists: [[Element]]) -> ([Element], [Range<Int>]) {
        var all: [Element] = []
        let ranges = lists.map { list in
            all.append(contentsOf: list)
            return all.count - list.count..<all.count
        }
        return (all, ranges)
    }
}

/// A program under construction.
struct ProgramBuilder {
    private(set) var operations: [Operation] = []
    private(set) var spans: [SourceSpan] = []
    private(set) var constants: [Constant] = []
    private(set) var keys: [[UInt8]] = []
    private(set) var paths: [[Key]] = []
    private(set) var lists: [[OperationIndex]] = []
    private(set) var childLists: [[ChildArgument]] = []
    private(set) var patterns: [Pattern] = []
    /// Operations that are no sub-expression of their own.
    private var hidden: Set<Int32> = []

    subscript(index: OperationIndex) -> Operation { operations[Int(index.number)] }

    mutating func append(_ operation: Operation, at span: SourceSpan) -> OperationIndex {
        operations.append(operation)
        spans.append(span)
        return OperationIndex(operations.count - 1)
    }

    /// Leaves an operation out of the sub-expressions: it is part of the one around it.
    mutating func hide(_ index: OperationIndex) { hidden.insert(index.number) }

    /// The operations whose values are shown; see `Program.subexpressions`.
    fileprivate func subexpressions() -> [OperationIndex] {
        let shown = operations.indices.filter { index in
            switch operations[index] {
            case .boolean, .constant: false
            default: !hidden.contains(Int32(index))
            }
        }
        // Operands come first among the operations, so that of equal ranges the last is outermost.
        return shown.sorted { a, b in
            let (x, y) = (spans[a].range, spans[b].range)
            return (x.lowerBound, y.upperBound, b) < (y.lowerBound, x.upperBound, a)
        }.map { OperationIndex($0) }
    }

    mutating func add(constant: Constant) -> Int32 { ProgramBuilder.add(constant, to: &constants) }
    mutating func add(key: [UInt8]) -> Int32 { ProgramBuilder.add(key, to: &keys) }
    mutating func add(path: [Key]) -> Int32 { ProgramBuilder.add(path, to: &paths) }
    mutating func add(list: [OperationIndex]) -> Int32 { ProgramBuilder.add(list, to: &lists) }
    mutating func add(pattern: Pattern) -> Int32 { ProgramBuilder.add(pattern, to: &patterns) }
    mutating func add(childList: [ChildArgument]) -> Int32 {
        ProgramBuilder.add(childList, to: &childLists)
    }

    private static func add<Element>(_ element: Element, to elements: inout [Element]) -> Int32 {
        elements.append(element)
        return Int32(elements.count - 1)
    }
}
