/// Why a rules text was refused: every fault in it, in order of position.
package struct RulesError: Error, Equatable, CustomStringConvertible {
    /// At least one, sorted by line and column.
    package let faults: [RulesFault]

    /// Gathers faults; at least one, sorted by line and column.
    package init(faults: [RulesFault]) {
        precondition(!faults.isEmpty, "an error has a fault")
        self.faults = faults
    }

    /// One `line:column: message` a line, each ended by a newline, as the REST API reports them.
    package var description: String {
        faults.map { $0.description + "\n" }.joined()
    }
}

/// One thing wrong with a rules text, and where.
package struct RulesFault: Equatable, Sendable, CustomStringConvertible {
    /// Line of the offending token, from 1.
    package let line: Int

    /// Column of the offending token in Unicode scalars, from 1, also inside a JSON string.
    package let column: Int

    /// What is wrong, in the words of the production server where those are known.
    package let message: String

    /// How to put it right, for people; nil when the message says all.
    package let hint: String?

    /// Names a fault at a place of the text.
    package init(line: Int, column: Int, message: String, hint: String? = nil) {
        self.line = line
        self.column = column
        self.message = message
        self.hint = hint
    }

    /// `line:column: message`, without the hint.
    package var description: String { "\(line):\(column): \(message)" }
}

/// A fault whose place is still an offset in the text.
///
/// `offset` counts Unicode scalars from the start of the rules text.
struct PlacedFault: Error, Equatable {
    let offset: Int
    let message: String
    var hint: String?

    /// The fault with its offset turned into line and column.
    func resolved(in text: RulesText) -> RulesFault {
        let (line, column) = text.position(of: offset)
        return RulesFault(line: line, column: column, message: message, hint: hint)
    }
}
