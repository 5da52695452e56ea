import JSONTree

extension ExpressionCompiler {
    private static let noObject = "Invalid property access: target is not an object."
    private static let noFunction = "Type error: Function call on target that is not a function."

    /// Checks `base.name` that is not called.
    mutating func compileMember(
        _ base: Expression,
        _ name: String,
        _ offset: Int,
        _ expression: Expression
    ) -> Piece {
        let piece = compile(base)
        switch piece.type {
        case .error: return failed(expression)
        case .snapshot where SnapshotMethod(rawValue: name) != nil:
            return emit(.noValue, .method, expression)
        case .string where name == "length", .value where name == "length":
            return emit(.length(piece.operation), .number, expression)
        case .string where StringMethod(rawValue: name) != nil,
            .value where StringMethod(rawValue: name) != nil,
            .auth where StringMethod(rawValue: name) != nil:
            return emit(.noValue, .method, expression)
        case .auth:
            let key = builder.add(key: Array(name.utf8))
            let operation: Operation =
                name == "length"
                ? .authLength(piece.operation, key: key) : .authMember(piece.operation, key: key)
            return emit(operation, .auth, expression)
        case .query:
            if let property = QueryProperty(rawValue: name) {
                return emit(.query(property, base: piece.operation), property.type, expression)
            }
            return refuseMember(name, of: piece.type, offset, expression)
        default: return refuseMember(name, of: piece.type, offset, expression)
        }
    }

    private mutating func refuseMember(
        _ name: String,
        of type: ValueType,
        _ offset: Int,
        _ expression: Expression
    ) -> Piece {
        let strings = StringMethod.allCases.map(\.rawValue) + ["length"]
        let known: [String]? =
            switch type {
            case .snapshot: SnapshotMethod.allCases.map(\.rawValue)
            case .string, .value: strings
            case .query: QueryProperty.allCases.map(\.rawValue)
            default: nil
            }
        guard let known else {
            report(offset, ExpressionCompiler.noObject)
            return failed(expression)
        }
        let hint =
            type == .snapshot && strings.contains(name)
            ? "That is a member of strings: val().\(name)." : Spelling.hint(for: name, among: known)
        report(offset, "No such method/property '\(name)'.", hint)
        return failed(expression)
    }

    /// Checks `base[argument]`; a string literal there is a member instead.
    mutating func compileIndex(
        _ base: Expression,
        _ argument: Expression,
        _ expression: Expression
    ) -> Piece {
        let target = compile(base)
        let index = compile(argument)
        if target.type == .error || index.type == .error { return failed(expression) }
        if target.type != .auth || !index.type.isOrderable {
            report(
                argument.start,
                "Invalid property access.",
                target.type == .snapshot ? "A child is reached by child()." : nil
            )
            return failed(expression)
        }
        return emit(.authIndex(target.operation, index.operation), .auth, expression)
    }

    /// Checks `callee(arguments)`.
    mutating func compileCall(
        _ callee: Expression,
        _ arguments: [Expression],
        _ expression: Expression
    ) -> Piece {
        guard case .member(let base, let name, let offset) = callee.kind else {
            let piece = compile(callee)
            if piece.type != .error { report(callee.start, ExpressionCompiler.noFunction) }
            return failCall(arguments, expression)
        }
        let target = compile(base)
        switch target.type {
        case .error: return failCall(arguments, expression)
        case .snapshot:
            if let method = SnapshotMethod(rawValue: name) {
                return compileSnapshotCall(target, method, offset, arguments, expression)
            }
        case .string, .value, .auth:
            if let method = StringMethod(rawValue: name) {
                return compileStringCall(target, method, offset, arguments, expression)
            }
            if target.type == .auth || name == "length" {
                report(
                    offset,
                    ExpressionCompiler.noFunction,
                    name == "length"
                        ? "length is written without brackets."
                        : Spelling.hint(for: name, among: StringMethod.allCases.map(\.rawValue))
                )
                return failCall(arguments, expression)
            }
        case .query where QueryProperty(rawValue: name) != nil:
            report(offset, ExpressionCompiler.noFunction, "\(name) is written without brackets.")
            return failCall(arguments, expression)
        default: break
        }
        _ = refuseMember(name, of: target.type, offset, expression)
        return failCall(arguments, expression)
    }

    /// Reports the faults inside the arguments of a faulty call.
    private mutating func failCall(_ arguments: [Expression], _ expression: Expression) -> Piece {
        for argument in arguments { _ = compile(argument) }
        return failed(expression)
    }

    /// Whether the number of arguments is right; reports it when not.
    private mutating func checkCount(
        _ arguments: [Expression],
        _ count: Int,
        _ name: String,
        _ offset: Int
    ) -> Bool {
        if arguments.count == count { return true }
        report(offset, "\(name)() expects \(count) argument\(count == 1 ? "" : "s").")
        for argument in arguments { _ = compile(argument) }
        return false
    }

    // MARK: Snapshots

    private mutating func compileSnapshotCall(
        _ target: Piece,
        _ method: SnapshotMethod,
        _ offset: Int,
        _ arguments: [Expression],
        _ expression: Expression
    ) -> Piece {
        let base = target.operation
        let type: ValueType =
            switch method {
            case .val, .getPriority: .value
            case .child, .parent: .snapshot
            default: .boolean
            }
        if let count = method.argumentCount,
            !checkCount(arguments, count, method.rawValue, offset)
        {
            return emit(.noValue, type, expression)
        }
        let operation: Operation
        switch method {
        case .val: operation = .val(base)
        case .exists: operation = .exists(base)
        case .parent: operation = .parent(base)
        case .getPriority: operation = .priority(base)
        case .isString: operation = .isKind(base, .string)
        case .isNumber: operation = .isKind(base, .number)
        case .isBoolean: operation = .isKind(base, .boolean)
        case .child: operation = compileChild(base, method, arguments[0])
        case .hasChild:
            let child = compileChild(base, method, arguments[0])
            let piece = emit(child, .snapshot, expression)
            builder.hide(piece.operation)
            operation = .exists(piece.operation)
        case .hasChildren: operation = compileHasChildren(base, offset, arguments)
        }
        return emit(operation, type, expression)
    }

    /// The operation for `child(argument)`; a literal argument joins literal calls before it.
    private mutating func compileChild(
        _ base: OperationIndex,
        _ method: SnapshotMethod,
        _ argument: Expression
    ) -> Operation {
        if case .string(let text) = argument.kind {
            let keys = childKeys(Array(text.utf8))
            if case .child(let inner, let path) = builder[base] {
                builder.hide(base)
                return .child(inner, path: builder.add(path: builder.paths[Int(path)] + keys))
            }
            return .child(base, path: builder.add(path: keys))
        }
        let piece = compile(argument)
        if !piece.type.isText {
            report(argument.start, "\(method.rawValue)() expects a string argument.")
        }
        return .childAt(base, piece.operation)
    }

    private mutating func compileHasChildren(
        _ base: OperationIndex,
        _ offset: Int,
        _ arguments: [Expression]
    ) -> Operation {
        if arguments.isEmpty { return .hasChildren(base) }
        guard arguments.count == 1 else {
            report(
                offset,
                "hasChildren() expects only a single argument "
                    + "(containing an array of child names)."
            )
            return .noValue
        }
        guard case .array(let elements) = arguments[0].kind else {
            if compile(arguments[0]).type != .error {
                report(arguments[0].start, "hasChildren() expects an array of child names.")
            }
            return .noValue
        }
        var list: [ChildArgument] = []
        for element in elements {
            if case .string(let text) = element.kind {
                list.append(.path(builder.add(path: childKeys(Array(text.utf8)))))
                continue
            }
            let piece = compile(element)
            if !piece.type.isText {
                report(element.start, "hasChildren() expects an array of strings.")
            }
            list.append(.text(piece.operation))
        }
        return .hasAllChildren(base, list: builder.add(childList: list))
    }

    // MARK: Strings

    private mutating func compileStringCall(
        _ target: Piece,
        _ method: StringMethod,
        _ offset: Int,
        _ arguments: [Expression],
        _ expression: Expression
    ) -> Piece {
        let base = target.operation
        let type: ValueType =
            switch method {
            case .replace, .toLowerCase, .toUpperCase: .string
            default: .boolean
            }
        if !checkCount(arguments, method.argumentCount, method.rawValue, offset) {
            return emit(.noValue, type, expression)
        }
        let operation: Operation
        switch method {
        case .toLowerCase: operation = .lowercase(base)
        case .toUpperCase: operation = .uppercase(base)
        case .matches: operation = compileMatches(base, arguments[0])
        case .contains: operation = .contains(base, compileText(arguments[0], method))
        case .beginsWith: operation = .beginsWith(base, compileText(arguments[0], method))
        case .endsWith: operation = .endsWith(base, compileText(arguments[0], method))
        case .replace:
            let old = compileText(arguments[0], method, number: 1)
            operation = .replace(base, old, compileText(arguments[1], method, number: 2))
        }
        return emit(operation, type, expression)
    }

    /// Compiles an argument that must be a string; `number` counts those of `replace` from 1.
    private mutating func compileText(
        _ argument: Expression,
        _ method: StringMethod,
        number: Int = 0
    ) -> OperationIndex {
        let piece = compile(argument)
        if !piece.type.isText {
            report(
                argument.start,
                number == 0
                    ? "\(method.rawValue)() expects a string argument."
                    : "Argument \(number) of \(method.rawValue)() must be a string."
            )
        }
        return piece.operation
    }

    private mutating func compileMatches(
        _ base: OperationIndex,
        _ argument: Expression
    ) -> Operation {
        if case .pattern(let body, let flags) = argument.kind {
            guard let pattern = makePattern(body, flags, argument) else { return .noValue }
            return .matches(base, pattern: pattern)
        }
        if compile(argument).type != .error {
            report(
                argument.start,
                "matches() expects a regular expression literal argument.",
                "Write it between slashes, as /^a+$/, without quotes."
            )
        }
        return .noValue
    }
}
