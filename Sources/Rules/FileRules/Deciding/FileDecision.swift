package import JSONTree

/// What rules for files decided.
package struct FileDecision: Sendable {
    /// Whether the request is allowed.
    package let isAllowed: Bool

    /// The `allow` that allowed it; nil when none did.
    package let allow: FileAllow?

    /// Where the request ran out of expressions or of work, which denies it; nil when it did not.
    package let overBudget: FileFailure?

    /// The `allow` statements that were tried, in their order, up to the one that allowed.
    package let candidates: [FileCandidate]

    /// What was read from databases, in order, each once.
    package let lookups: [FileLookup]

    /// What `debug()` was given, the first `FileRulesLimits.debugCount` of them.
    package let debugged: [(position: FileRulesPosition, text: String)]

    /// Expressions that were evaluated.
    package let expressionCount: Int
}

/// An `allow` that was tried: its pattern matches the path, and it is for the operation.
package struct FileCandidate: Sendable {
    /// What became of the condition.
    package enum Result: Sendable, Equatable {
        case value(Bool)
        /// An error, or a value that is not a bool; either does not allow.
        case error(FileFailure)
    }

    package let allow: FileAllow
    /// The captures of the pattern and what they took, shown as `FileValue.shown`.
    package let bindings: [(name: String, value: String)]
    package let result: Result
    /// Each expression that was evaluated, outer ones before their operands; empty unless recorded.
    package let observations: [FileObservation]
}

/// The value of an expression, once. That of a function's body follows that of its call.
package struct FileObservation: Sendable, Equatable {
    package enum Outcome: Sendable, Equatable {
        /// The value as `FileValue.shown`, and its truth, when it is a bool.
        case value(String, truth: Bool?)
        /// The message of the error; its own, or that of an operand.
        case error(String)
    }

    /// Its number in the ruleset.
    package let expression: Int
    /// How many expressions it is an operand of, calls of functions included.
    package let depth: Int
    package fileprivate(set) var outcome: Outcome
}

/// A value that was read from a database.
package struct FileLookup: Sendable, Hashable {
    /// Nil for the database of the bucket.
    package let database: String?
    package let path: Path
}

/// Why an expression has no value.
package struct FileFailure: Error, Sendable, Equatable {
    /// What happened, for people.
    package let message: String
    /// Where.
    package let position: FileRulesPosition
}

/// Collects what was evaluated.
struct ObservationRecorder {
    private(set) var observations: [FileObservation] = []
    private var depth = 0

    /// Notes the beginning of an expression; its number here.
    mutating func begin(_ expression: Int) -> Int {
        observations.append(
            FileObservation(expression: expression, depth: depth, outcome: .error(""))
        )
        depth += 1
        return observations.count - 1
    }

    mutating func end(_ number: Int, _ outcome: FileObservation.Outcome) {
        observations[number].outcome = outcome
        depth -= 1
    }

    /// Hands over all, and begins anew.
    mutating func take() -> [FileObservation] {
        defer { observations = [] }
        return observations
    }
}
