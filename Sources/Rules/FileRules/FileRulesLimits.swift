/// Hard limits of rules for files.
///
/// Numbers without a note are those that Firebase publishes for its rules; the others are Hearth's own.
package enum FileRulesLimits {
    /// Bytes of UTF-8 in one rules text, 256 KB.
    package static let textByteCount = 256 * 1024

    /// `match` blocks one inside another.
    package static let matchDepth = 10

    /// Segments of the pattern of a `match` with those around it.
    package static let patternSegmentCount = 100

    /// Captures of such a pattern.
    package static let captureCount = 20

    /// States of the automata of all literal regular expressions. Own.
    package static let patternStateCount = 100_000

    /// Functions that call one another in a chain.
    package static let callDepth = 10

    /// Parameters of a function.
    package static let parameterCount = 7

    /// `let` statements of a function.
    package static let letCount = 10

    /// Levels of one expression, brackets and operators alike; a chain of `&&` or of `||` is one level. Own.
    package static let expressionNesting = 100

    /// Expressions of a request that are under way one inside another, through all functions: each takes some KiB of the
    /// stack.
    package static let evaluationDepth = 200

    /// Expressions that one request may evaluate; Firebase stops at 1,000.
    package static let expressionCount = 10_000

    /// Bytes that one request may compare, build, hash or match, 8 MiB; a state of a pattern visited is 8 of them. Own:
    /// with it the worst request stays near the 50 ms tick of the loop.
    package static let workByteCount = 8 * 1024 * 1024

    /// Expressions that one request may evaluate under shadow rules. Own: 1,000 is what Firebase gives a request.
    package static let expressionsPerTrial = 1_000

    /// Bytes of work of one request under shadow rules, 1 MiB. Own: some milliseconds.
    package static let workBytesPerTrial = 1024 * 1024

    /// Bytes of one text, or of a list or map with all that is in it, 1 MiB. Own.
    package static let valueByteCount = 1024 * 1024

    /// Lists and maps one inside another. Own.
    package static let valueDepth = 64

    /// Different lookups of a request in a database. Own.
    package static let lookupCount = 10

    /// Bytes of the value of a lookup, 64 KiB. Own.
    package static let lookupByteCount = 64 * 1024

    /// Bytes copied from a database that count as one expression. Own.
    package static let bytesPerExpression = 64

    /// Faults, and warnings, reported for one text; the rest is dropped. Own.
    package static let faultCount = 100

    /// Texts of `debug()` that a decision keeps. Own.
    package static let debugCount = 20

    /// Characters of one value that a decision or an explanation shows; the rest is cut off. Own.
    package static let shownCharacterCount = 256
}
