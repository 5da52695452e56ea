import JSONTree
package import SecurityRules

/// Rules that stand in a request or a file of cases: the text of a rules file as a string, or the object
/// that a rules file is.
///
/// Positions in them count within the rules, as in a file of their own; `offsets(of:)` finds them in the text around.
package struct RulesMember {
    /// The rules as a rules file would hold them.
    package let text: String
    private let value: RawValue

    /// - Throws: `InputFault` when it is neither.
    package init(_ value: RawValue) throws(InputFault) {
        self.value = value
        switch value.kind {
        case .string: text = try value.string("rules")
        case .object: text = value.bytes.string
        case .array, .number, .boolean, .null:
            throw InputFault(
                value.offset,
                "'rules' must be the text of a rules file, or the object that it holds."
            )
        }
    }

    /// Loads the rules, which stand in the body of a simulator request.
    ///
    /// - Throws: the faults, with their positions in the rules and in the body.
    package func load<Rules>(
        from body: [UInt8],
        _ load: (String) -> Result<Rules, RulesError>
    ) throws(SimulationBodyError) -> Rules {
        do throws(RulesError) { return try load(text).get() } catch {
            let whole = InputText(body)
            let positions = offsets(of: error.faults).map { whole.position(of: $0) }
            throw .rules(error, positions: positions)
        }
    }

    /// Where faults of the rules are in the whole text. O(rules).
    func offsets(of faults: [RulesFault]) -> [Int] {
        let lines = RulesText(text)
        // A byte order mark is not a column.
        let markCount = text.unicodeScalars.first == "\u{FEFF}" ? 1 : 0
        let written = value.bytes.string
        let quoted = value.kind == .string ? QuotedText(json: written) : nil
        // Of each scalar as it is written, and of the end.
        var starts = [value.offset]
        for scalar in written.unicodeScalars {
            starts.append(starts[starts.count - 1] + UTF8.width(scalar))
        }
        return faults.map { fault in
            let offset = markCount + lines.offset(ofLine: fault.line, column: fault.column)
            let index = quoted.map { $0.offsets[min(offset, $0.offsets.count - 1)] } ?? offset
            return starts[min(index, starts.count - 1)]
        }
    }
}
