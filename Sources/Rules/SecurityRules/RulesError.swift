import JSONTree

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

    /// The body of a refused rules text: `{"error", "errors": [{"line","column","message","hint"?}]}`.
    ///
    /// - Parameter positions: for rules inside another text, the position of each fault there, as
    ///   `"body":{"line","column"}`; empty for rules that were the whole text.
    /// - Returns: UTF-8.
    package func json(positions: [(line: Int, column: Int)] = []) -> [UInt8] {
        let list = faults.enumerated().map { index, fault -> JSONValue in
            let position: (line: Int, column: Int)? =
                positions.indices.contains(index) ? positions[index] : nil
            return [
                "line": .number(fault.line), "column": .number(fault.column),
                "message": .string(fault.message), "hint": fault.hint.map { .string($0) },
                "body": position.map { ["line": .number($0.line), "column": .number($0.column)] },
            ]
        }
        let body: JSONValue = ["error": .string(description), "errors": .list(list)]
        return body.text
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

    /// Names a fault at a position of the text.
    package init(line: Int, column: Int, message: String, hint: String? = nil) {
        self.line = line
        self.column = column
        self.message = message
        self.hint = hint
    }

    /// `line:column: message`, without the hint.
    package var description: String { "\(line):\(column): \(message)" }
}

/// A fault with its position still as an offset in the text.
///
/// `offset` counts Unicode scalars from the start of the rules text.
package struct LocatedFault: Error, Equatable {
    /// In scalars of the rules text.
    package let offset: Int
    /// What is wrong.
    package let message: String
    /// How to put it right; nil when the message says all.
    package let hint: String?

    /// Names a fault.
    package init(_ offset: Int, _ message: String, _ hint: String? = nil) {
        self.offset = offset
        self.message = message
        self.hint = hint
    }

    /// The fault with its offset turned into line and column.
    package func resolved(in text: RulesText) -> RulesFault {
        let (line, column) = text.position(of: offset)
        return RulesFault(line: line, column: column, message: message, hint: hint)
    }
}
