import JSONTree

extension ExpressionCompiler {
    mutating func compileNot(_ operand: Expression, _ expression: Expression) -> Piece {
        let piece = compile(operand)
        if !piece.type.isBoolean { report(operand.start, "! only operates on booleans.") }
        return emit(.not(piece.operation), .boolean, expression)
    }

    mutating func compileNegation(_ operand: Expression, _ expression: Expression) -> Piece {
        if case .number(let value) = operand.kind {
            return constant(.number(-value), .number, expression)
        }
        let piece = compile(operand)
        if !piece.type.isNumeric { report(operand.start, "- only operates on numbers.") }
        return emit(.negate(piece.operation), .number, expression)
    }

    mutating func compileLogic(
        _ symbol: LogicOperator,
        _ operands: [Expression],
        _ expression: Expression
    ) -> Piece {
        var indexes: [OperationIndex] = []
        for (index, operand) in operands.enumerated() {
            let piece = compile(operand)
            if !piece.type.isBoolean {
                let side = index == 0 ? "Left" : "Right"
                report(operand.start, "\(side) operand of \(symbol.rawValue) must be boolean.")
            }
            indexes.append(piece.operation)
        }
        let list = builder.add(list: indexes)
        return emit(symbol == .and ? .all(list: list) : .any(list: list), .boolean, expression)
    }

    mutating func compileTernary(
        _ condition: Expression,
        _ yes: Expression,
        _ no: Expression,
        _ expression: Expression
    ) -> Piece {
        let test = compile(condition)
        if !test.type.isBoolean { report(condition.start, "condition of ? must be boolean.") }
        let first = compile(yes)
        let second = compile(no)
        return emit(
            .ternary(test.operation, first.operation, second.operation),
            ValueType.joining(first.type, second.type),
            expression
        )
    }

    mutating func compileBinary(
        _ symbol: BinaryOperator,
        _ left: Expression,
        _ right: Expression,
        _ expression: Expression
    ) -> Piece {
        let a = compile(left)
        let b = compile(right)
        let sides = [(a.type, left, "left operand"), (b.type, right, "right operand")]
        switch symbol {
        case .equal, .notEqual:
            for (type, operand, side) in sides {
                let last = side.hasPrefix("left") ? "null" : "or null"
                require(
                    type.isComparable,
                    of: operand,
                    symbol,
                    "\(side) is not a number, boolean, string, \(last).",
                    type == .snapshot ? "The value of a snapshot is val()." : nil
                )
            }
            let operation: Operation =
                symbol == .equal
                ? .equal(a.operation, b.operation) : .notEqual(a.operation, b.operation)
            return emit(operation, .boolean, expression)
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            for (type, operand, side) in sides {
                let problem = "\(side) must be a number or string."
                require(type.isOrderable, of: operand, symbol, problem)
            }
            if (a.type == .number && b.type == .string) || (a.type == .string && b.type == .number)
            {
                warn(
                    .mixedOrder,
                    left.start,
                    "A number and a string have no order: this always fails."
                )
            }
            return emit(.ordered(symbol, a.operation, b.operation), .boolean, expression)
        case .add:
            for (type, operand, side) in sides {
                require(type.isOrderable, of: operand, symbol, "\(side) is not a number or string.")
            }
            return emit(.add(a.operation, b.operation), sum(a.type, b.type), expression)
        case .subtract, .multiply, .divide, .remainder:
            for (type, operand, side) in sides {
                require(type.isNumeric, of: operand, symbol, "\(side) is not a number.")
            }
            return emit(.arithmetic(symbol, a.operation, b.operation), .number, expression)
        }
    }

    /// The type of a sum.
    private func sum(_ a: ValueType, _ b: ValueType) -> ValueType {
        if !a.isOrderable || !b.isOrderable || a == .error || b == .error { return .error }
        if a == .string || b == .string { return .string }
        return a == .number && b == .number ? .number : .value
    }

    /// Reports an operand that does not fit its operator.
    private mutating func require(
        _ fits: Bool,
        of operand: Expression,
        _ symbol: BinaryOperator,
        _ problem: String,
        _ hint: String? = nil
    ) {
        if fits { return }
        report(operand.start, "Invalid \(symbol.rawValue) expression: \(problem)", hint)
    }
}
