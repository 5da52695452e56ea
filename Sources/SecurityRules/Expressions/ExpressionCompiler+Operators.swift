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
        var places: [OperationIndex] = []
        for (index, operand) in operands.enumerated() {
            let piece = compile(operand)
            if !piece.type.isBoolean {
                let side = index == 0 ? "Left" : "Right"
                report(operand.start, "\(side) operand of \(symbol.rawValue) must be boolean.")
            }
            places.append(piece.operation)
        }
        let list = builder.add(list: places)
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
        switch symbol {
        case .equal, .notEqual:
            checkEquality(symbol, a.type, left, "left", "null")
            checkEquality(symbol, b.type, right, "right", "or null")
            let operation: Operation =
                symbol == .equal
                ? .equal(a.operation, b.operation) : .notEqual(a.operation, b.operation)
            return emit(operation, .boolean, expression)
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            checkOrder(symbol, a.type, left, "left")
            checkOrder(symbol, b.type, right, "right")
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
            return compileSum(a, left, b, right, expression)
        case .subtract, .multiply, .divide, .remainder:
            checkNumber(symbol, a.type, left, "left")
            checkNumber(symbol, b.type, right, "right")
            return emit(.arithmetic(symbol, a.operation, b.operation), .number, expression)
        }
    }

    private mutating func compileSum(
        _ a: Piece,
        _ left: Expression,
        _ b: Piece,
        _ right: Expression,
        _ expression: Expression
    ) -> Piece {
        for (piece, operand, side) in [(a, left, "left"), (b, right, "right")]
        where !piece.type.isOrderable {
            report(
                operand.start,
                "Invalid + expression: \(side) operand is not a number or string."
            )
        }
        let type: ValueType =
            if !a.type.isOrderable || !b.type.isOrderable || a.type == .error || b.type == .error {
                .error
            } else if a.type == .string || b.type == .string {
                .string
            } else {
                a.type == .number && b.type == .number ? .number : .value
            }
        return emit(.add(a.operation, b.operation), type, expression)
    }

    private mutating func checkEquality(
        _ symbol: BinaryOperator,
        _ type: ValueType,
        _ operand: Expression,
        _ side: String,
        _ last: String
    ) {
        if type.isComparable { return }
        report(
            operand.start,
            "Invalid \(symbol.rawValue) expression: \(side) operand is not a number, boolean, "
                + "string, \(last).",
            type == .snapshot ? "The value of a snapshot is val()." : nil
        )
    }

    private mutating func checkOrder(
        _ symbol: BinaryOperator,
        _ type: ValueType,
        _ operand: Expression,
        _ side: String
    ) {
        if type.isOrderable { return }
        report(
            operand.start,
            "Invalid \(symbol.rawValue) expression: \(side) operand must be a number or string."
        )
    }

    private mutating func checkNumber(
        _ symbol: BinaryOperator,
        _ type: ValueType,
        _ operand: Expression,
        _ side: String
    ) {
        if type.isNumeric { return }
        report(
            operand.start,
            "Invalid \(symbol.rawValue) expression: \(side) operand is not a number."
        )
    }
}
