package import JSONTree
package import SecurityRules

/// One request with what must come of it.
package struct RuleCase: Sendable {
    /// What must come of it.
    package enum Expectation: String, Sendable, CaseIterable {
        case allow, deny
        /// The rules of the case do not load.
        case invalidRules = "invalid-rules"
    }

    /// Which rule must decide.
    package enum Decider: Sendable, Equatable {
        /// Such as `write /a/$b`.
        case rule(String)
        /// No rule may grant.
        case none
    }

    /// What people know it by.
    package let name: String
    /// Where its opening brace stands in the file, in bytes.
    package let offset: Int
    package let operation: SimulatedOperation
    /// Nil when nobody is signed in.
    package let auth: AuthVariable?
    package let now: Timestamp
    /// The tree that it is tried on.
    package let data: Node
    package let expected: Expectation
    /// Why, for people.
    package let why: String?
    /// Nil when any rule may.
    package let decidedBy: Decider?
    /// A message that some rule consulted must have failed with.
    package let error: String?
    /// The faults of rules that must not load, each as `line:column: message`.
    package let errors: [String]?
    /// Which of the file's rules it is judged by.
    let rules: RulesIndex

    /// The time of cases that say none: 2023-11-14T22:13:20Z.
    package static let usualTime = Timestamp(milliseconds: 1_700_000_000_000)
}

/// Which of a file's rules a case is judged by.
enum RulesIndex: Sendable, Equatable {
    /// Those of all cases that bring none.
    case shared
    /// Those of its own, by their place in the file's list.
    case own(Int)
}
