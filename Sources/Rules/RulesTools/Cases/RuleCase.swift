package import JSONTree
package import SecurityRules

/// One request with the expected outcome.
package struct RuleCase: Sendable {
    /// The expected outcome.
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

    /// Its name, for people.
    package let name: String
    /// The offset of its opening brace in the file, in bytes.
    package let offset: Int
    package let operation: SimulatedOperation
    /// Nil when signed out.
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
    /// The index of its own rules in the file's list; nil when it is decided by those of the file.
    let ownRules: Int?

    /// The time of cases that say none: 2023-11-14T22:13:20Z.
    package static let usualTime = Timestamp(milliseconds: 1_700_000_000_000)
}
