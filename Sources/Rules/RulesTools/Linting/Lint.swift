package import SecurityRules

/// One kind of mistake: what it is, and how to find it.
package struct Lint: Sendable {
    /// What is found, before it is resolved to a line and a column.
    struct Finding {
        /// In scalars of the rules text.
        let offset: Int
        let message: String
        let hint: String

        init(_ offset: Int, _ message: String, _ hint: String) {
            self.offset = offset
            self.message = message
            self.hint = hint
        }
    }

    package let code: LintCode

    /// What it warns of, in one sentence.
    package let summary: String

    /// Why that is bad, and when it warns, for people.
    package let reason: String

    /// A whole rules text that it warns of.
    package let wrong: String

    /// The same put right.
    package let right: String

    /// Looks at all rules of a text. Nil for what the loader notices itself.
    let find: Find?
    typealias Find = @Sendable (LintTree) -> [Finding]

    /// The examples are whole texts, or rules as `LintExample` has them.
    init(
        code: LintCode,
        summary: String,
        reason: String,
        wrong: String,
        right: String,
        find: Find? = nil
    ) {
        self.code = code
        self.summary = summary
        self.reason = reason
        self.wrong = wrong.hasPrefix("{") ? wrong : LintExample(wrong).text
        self.right = right.hasPrefix("{") ? right : LintExample(right).text
        self.find = find
    }

    static func eachNode(_ find: @escaping @Sendable (LintNode) -> Finding?) -> Find {
        { $0.nodes.compactMap(find) }
    }

    static func eachRule(_ find: @escaping @Sendable (LintRule) -> Finding?) -> Find {
        { $0.rules.compactMap(find) }
    }

    static func partsOfEachRule(_ find: @escaping @Sendable (LintRule) -> [Finding]) -> Find {
        { $0.rules.flatMap(find) }
    }

    /// Every lint, in the order in which documents list them: one for each code.
    package static let all: [Lint] =
        grantLints + verifiedLints + rightLints + nullLints + reachLints + wildcardLints
        + shapeLints + queryLints + patternLints + loaderLints

    /// The lint of a code.
    package static func named(_ code: String) -> Lint? {
        all.first { $0.code.rawValue == code }
    }
}
