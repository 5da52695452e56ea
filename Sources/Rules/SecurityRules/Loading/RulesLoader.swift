import JSONTree
import Queries

/// Turns a rules text into a tree of checked rules, collecting every fault.
struct RulesLoader {
    private let text: RulesText
    private var faults: [LocatedFault] = []
    /// What was noticed beside faults, in order of discovery.
    private(set) var warnings: [LocatedWarning] = []
    /// The comments of the text, in order.
    private(set) var comments: [Range<Int>] = []

    init(_ text: RulesText) {
        self.text = text
    }

    /// Loads the whole text; nil when there are faults.
    mutating func load() -> (file: RulesFileValue, top: RuleNode)? {
        var reader = RulesFileReader(text)
        do throws(LocatedFault) {
            let file = try reader.readText()
            comments = reader.comments
            warnings = reader.warnings
            let top = loadFile(file)
            if !faults.isEmpty { return nil }
            return top.map { (file, $0) }
        } catch {
            faults.append(error)
            return nil
        }
    }

    /// The faults in order of position, at most `RulesLimits.faultCount`.
    func sortedFaults() -> [RulesFault] {
        // Equal offsets keep the order in which they were found.
        let order = faults.indices.sorted {
            (faults[$0].offset, $0) < (faults[$1].offset, $1)
        }
        return order.prefix(RulesLimits.faultCount).map { faults[$0].resolved(in: text) }
    }

    private mutating func report(_ offset: Int, _ message: String, _ hint: String? = nil) {
        faults.append(LocatedFault(offset, message, hint))
    }

    private mutating func loadFile(_ file: RulesFileValue) -> RuleNode? {
        guard case .object(let members, let offset) = file else {
            let isString = if case .string = file { true } else { false }
            report(
                isString ? file.offset : file.offset + 1,
                "Expected 'rules' property.",
                isString
                    ? "The body must be the rules themselves, not a JSON string that holds them."
                    : nil
            )
            return nil
        }
        var top: RuleNode?
        var hasRules = false
        var seen: Set<[Unicode.Scalar]> = []
        for member in members where isFirst(member, &seen) {
            if member.key.string != "rules" {
                report(
                    member.key.start,
                    "Unexpected property '\(member.key.string)'.",
                    "The only property of a rules file is 'rules'."
                )
                continue
            }
            hasRules = true
            top = loadNode(member, at: Position(keys: [], captures: []))
        }
        if !hasRules { report(offset + 1, "Expected 'rules' property.") }
        return top
    }

    /// The position of a rule node in the tree.
    private struct Position {
        /// Keys and wildcards from the root down.
        let keys: [String]
        let captures: [Capture]

        var path: String { "/" + keys.joined(separator: "/") }

        func child(_ key: String) -> Position {
            let isWildcard = key.hasPrefix("$")
            let capture = Capture(name: key, keyIndex: keys.count)
            return Position(
                keys: keys + [key],
                captures: isWildcard ? captures + [capture] : captures
            )
        }
    }

    /// Whether no member before has the same key; of two, one would silently win.
    private mutating func isFirst(
        _ member: FileMember,
        _ seen: inout Set<[Unicode.Scalar]>
    ) -> Bool {
        if seen.insert(member.key.scalars).inserted { return true }
        report(member.key.start, "Duplicate key '\(member.key.string)'.")
        return false
    }

    private mutating func loadNode(_ member: FileMember, at position: Position) -> RuleNode? {
        guard case .object(let members, _) = member.value else {
            report(member.value.offset, "Expected '{'.")
            return nil
        }
        var rules: [RuleKind: Rule] = [:]
        var syntax = NodeSyntax(keys: position.keys, offset: member.key.start)
        var literals: [RuleNode.Literal] = []
        var wildcard: (name: String, node: RuleNode?)?
        var indexes: [QuerySpec.Index] = []
        var seen: Set<[Unicode.Scalar]> = []
        for member in members where isFirst(member, &seen) {
            let name = member.key.string
            if let kind = RulesLoader.kinds[name] {
                rules[kind] = loadRule(member, kind, at: position, &syntax)
            } else if name == ".indexOn" {
                indexes = loadIndexes(member.value)
            } else if name.hasPrefix("$") {
                if let wildcard {
                    report(
                        member.key.start,
                        "Cannot have multiple default rules ('\(wildcard.name)' and '\(name)')."
                    )
                }
                let node = loadChild(member, at: position)
                if wildcard == nil { wildcard = (name, node) }
            } else if let node = loadChild(member, at: position) {
                literals.append(RuleNode.Literal(key: Key(unchecked: Array(name.utf8)), node: node))
            }
        }
        return RuleNode(
            rules: rules,
            literals: literals.sorted { $0.key < $1.key },
            wildcard: wildcard?.node,
            indexes: indexes,
            syntax: syntax
        )
    }

    static let kinds: [String: RuleKind] = [
        ".read": .read, ".write": .write, ".validate": .validate,
    ]

    private mutating func loadChild(_ member: FileMember, at position: Position) -> RuleNode? {
        let name = member.key.string
        let isObject = if case .object = member.value { true } else { false }
        if !isObject {
            guard name.hasPrefix(".") else {
                report(member.value.offset, "Expected '{'.")
                return nil
            }
            // A `.rule` that is none, with an expression, is most often a misspelt one.
            let known = [".read", ".write", ".validate", ".indexOn"]
            report(
                member.key.start,
                "Unknown rule '\(name)'.",
                Spelling.hint(for: name, among: known)
                    ?? "The rules are \(known.joined(separator: ", "))."
            )
            return nil
        }
        if name.hasPrefix("$") {
            if position.captures.contains(where: { $0.name == name }) {
                report(
                    member.key.start,
                    "The wildcard '\(name)' is already used above.",
                    "The inner one would hide the outer one; give it another name."
                )
            }
        }
        let bare = name.hasPrefix("$") ? Array(name.utf8.dropFirst()) : Array(name.utf8)
        if bare.contains(where: { ".#$/[]".utf8.contains($0) }) {
            report(
                member.key.start,
                "String can't contain \".\", \"#\", \"$\", \"/\", \"[\", or \"]\"",
                name.contains("/") ? "Write one object inside another for a path." : nil
            )
        } else if name.isEmpty {
            report(member.key.start, "A key can't be empty.")
        } else if bare.count > Limits.keyByteCount {
            report(member.key.start, "A key can't be longer than \(Limits.keyByteCount) bytes.")
        } else if bare.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
            report(member.key.start, "A key can't contain control characters.")
        }
        return loadNode(member, at: position.child(name))
    }

    private mutating func loadRule(
        _ member: FileMember,
        _ kind: RuleKind,
        at position: Position,
        _ node: inout NodeSyntax
    ) -> Rule? {
        let value = member.value
        let (line, column) = text.position(of: value.offset)
        func rule(_ source: String, _ end: Int, _ body: Rule.Body) -> Rule {
            Rule(
                kind: kind,
                path: position.path,
                captures: position.captures,
                line: line,
                column: column,
                textRange: value.offset..<end,
                source: source,
                body: body
            )
        }
        switch value {
        case .boolean(let constant, let offset):
            node.rules[kind] = RuleSyntax(constant, at: offset, keyOffset: member.key.start)
            let source = "\(constant)"
            return rule(source, offset + source.utf8.count, .constant(constant))
        case .string(let source):
            var compiler = ExpressionCompiler(source, in: text, kind, position.captures)
            let program = compiler.compileRule()
            faults.append(contentsOf: compiler.faults)
            warnings.append(contentsOf: compiler.warnings)
            guard let program, let syntax = compiler.syntax else { return nil }
            let end = source.offsets[source.scalars.count]
            node.rules[kind] = RuleSyntax(
                expression: syntax,
                source: source,
                keyOffset: member.key.start
            )
            if case .boolean(let constant) = program.operations[Int(program.entry.number)] {
                return rule(source.string, end, .constant(constant))
            }
            return rule(source.string, end, .program(program))
        case .object, .array, .number, .null:
            report(
                value.offset,
                "Invalid rule expression.  Expected 'true', 'false', or an expression string."
            )
            return nil
        }
    }

    private mutating func loadIndexes(_ value: RulesFileValue) -> [QuerySpec.Index] {
        switch value {
        case .string(let entry): return loadIndex(entry).map { [$0] } ?? []
        case .array(let elements, _):
            var indexes: [QuerySpec.Index] = []
            for element in elements {
                guard case .string(let entry) = element else {
                    reportIndex(element.offset)
                    continue
                }
                if let index = loadIndex(entry), !indexes.contains(index) { indexes.append(index) }
            }
            return indexes
        case .object, .boolean, .number, .null:
            reportIndex(value.offset)
            return []
        }
    }

    private mutating func loadIndex(_ entry: QuotedText) -> QuerySpec.Index? {
        if entry.string == ".value" { return .value }
        do throws(PathError) {
            let path = try Path(entry.string)
            if !path.isRoot { return .child(path) }
        } catch {
            reportIndex(entry.start, "'\(entry.string)' is no path of a child.")
            return nil
        }
        reportIndex(entry.start, "An index names a child, or '.value'.")
        return nil
    }

    private mutating func reportIndex(_ offset: Int, _ hint: String? = nil) {
        report(
            offset,
            "Invalid indexOn expression. Must be either a string or an array of strings",
            hint
        )
    }
}
