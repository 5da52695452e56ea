import SecurityRules

/// What a request does, as rules name it.
package enum FileOperation: String, CaseIterable, Sendable {
    case get, list, create, update, delete

    /// What a word behind `allow` covers; nil for another word.
    static func covered(by word: String) -> [FileOperation]? {
        switch word {
        case "read": [.get, .list]
        case "write": [.create, .update, .delete]
        default: FileOperation(rawValue: word).map { [$0] }
        }
    }
}

/// One piece of the pattern of a `match`.
enum PatternSegment: Equatable, Sendable {
    /// Must be equal.
    case literal([UInt8])
    /// `{name}`: takes one segment.
    case capture(String)
    /// `{name=**}`: takes the rest, or what the segments behind it leave.
    case rest(String)
}

/// A `match` block, or what is around them: the file, and in it the service.
struct FileBlock: Sendable {
    let parent: Int?
    /// Its own, without those around it.
    var segments: [PatternSegment] = []
    /// In scalars of the text.
    let offset: Int
    /// `match` blocks around it, itself included.
    let matchDepth: Int
    /// Indexes of functions and allows.
    var functions: [Int] = []
    var allows: [Int] = []
    /// Of the whole pattern, with the blocks around it; the checker fills it in.
    var pattern: [PatternSegment] = []

    /// The names of the captures of the whole pattern, in their order.
    var captures: [String] {
        pattern.compactMap { segment in
            switch segment {
            case .literal: nil
            case .capture(let name), .rest(let name): name
            }
        }
    }
}

/// A function and its statements; expressions are numbers of `FileSyntax.expressions`.
struct FileFunction: Sendable {
    struct Named: Sendable {
        let name: String
        let offset: Int
    }

    let name: String
    let offset: Int
    let block: Int
    var parameters: [Named] = []
    var lets: [(name: Named, value: Int)] = []
    var result: Int?
}

/// An `allow` statement.
struct AllowStatement: Sendable {
    let block: Int
    let offset: Int
    var words: [FileFunction.Named] = []
    var operations: Set<FileOperation> = []
    /// Nil when there is none, which allows.
    var condition: Int?
}

/// A rules text as parsed, and, once the checker has been over it, with its names resolved.
struct FileSyntax: Sendable {
    var version = 1
    var blocks: [FileBlock] = []
    var functions: [FileFunction] = []
    var allows: [AllowStatement] = []
    var expressions: [FileExpression] = []
}

/// One expression. Its operands are numbers of others.
struct FileExpression: Sendable {
    var kind: Kind
    /// In scalars of the text, brackets around it included.
    var range: Range<Int>
    /// Levels of operands, itself included.
    let depth: Int

    indirect enum Kind: Sendable {
        case constant(FileValue)
        case list([Int])
        case map([(key: Int, value: Int)])
        case path([PathPart])
        case member(Int, name: String)
        case index(Int, Int)
        case slice(Int, from: Int?, to: Int?)
        case not(Int)
        case negate(Int)
        /// Two operands or more.
        case and([Int])
        case or([Int])
        case binary(FileOperator, Int, Int)
        case isType(Int, FileValueType)
        case ternary(Int, Int, Int)

        /// A name, and a call by name or of a member; the checker replaces them by what follows.
        case name(String)
        case call(base: Int?, name: FileFunction.Named, [Int])

        case request, resource
        case requestMember(RequestMember)
        case capture(Int)
        case local(Int)
        case function(Int, [Int])
        case method(ValueMethod, Int, [Int])
        case builtin(Builtin, [Int])
        /// `database.of('name').get(path)` and its like; the name is nil for the database of the bucket.
        case lookup(LookupKind, database: Int?, path: Int)
        /// `matches`, `replace` or `split` with a literal pattern, which is a number of `FileRuleset.patterns`.
        case pattern(ValueMethod, Int, Int, [Int])
    }

    enum PathPart: Sendable {
        case literal([UInt8])
        case expression(Int)
    }
}

/// Operators with two operands that are both evaluated.
enum FileOperator: String, Sendable {
    case equal = "=="
    case notEqual = "!="
    case `in`
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
    case remainder = "%"

    /// From 1, the loosest.
    var precedence: Int {
        switch self {
        case .equal, .notEqual: 1
        case .in: 2
        case .less, .lessOrEqual, .greater, .greaterOrEqual: 3
        case .add, .subtract: 4
        case .multiply, .divide, .remainder: 5
        }
    }
}

/// The members of `request`.
enum RequestMember: String, CaseIterable, Sendable {
    case auth, method, params, path, resource, time
}

/// What is asked of a database.
enum LookupKind: String, CaseIterable, Sendable {
    case get, exists
}
