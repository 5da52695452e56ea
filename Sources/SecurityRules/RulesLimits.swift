/// Hard limits of security rules.
///
/// The size of a rules text is documented by Firebase; the other numbers are Hearth's own, far
/// above anything seen in use, so that no rules file can stall the server or exhaust its memory.
package enum RulesLimits {
    /// Bytes of UTF-8 in one rules text, 256 KB. Source: Firebase, "Usage and limits".
    package static let textByteCount = 256 * 1024

    /// Objects and arrays of a rules text that may be open at once; data is at most 32 deep.
    package static let textNesting = 100

    /// Bytes of UTF-8 in one expression, 64 KB; Firebase is known to take 4.4 KB.
    package static let expressionByteCount = 64 * 1024

    /// Levels of one expression, brackets and operators alike. A chain of `&&` or of `||` is one level.
    package static let expressionNesting = 200

    /// Scalars in one regular expression.
    package static let patternScalarCount = 4_096

    /// States a regular expression may expand to; `a{1,500}` takes about 1,000.
    package static let patternStateCount = 10_000

    /// Groups of a regular expression that may be open at once.
    package static let patternNesting = 100

    /// Steps one request may take: an operation of a rule is one, a child visited is one, an
    /// occurrence replaced is two, 64 bytes of text built or compared are one, 6 bytes changed in
    /// case are one, 8 states of a pattern visited are one
    /// (4 in a pattern of more than 64 states).
    ///
    /// A step is 15 to 120 ns (`bench security-rules`), so that the worst request stays near the
    /// 50 ms turn of the loop.
    package static let stepsPerRequest = 500_000

    /// Bytes of UTF-8 in a string that `+`, `replace`, or a change of case makes, 10 MiB.
    package static let builtStringByteCount = 10 * 1024 * 1024

    /// Faults reported for one text; the rest is cut off.
    package static let faultCount = 1_000
}
