package import SecurityRules

/// Rules for files, loaded: what a request is decided by.
package final class FileRuleset: Sendable {
    /// The text as it was given.
    package let text: String

    /// What loads and is probably not meant, in the order of the text.
    package let warnings: [FileRulesWarning]

    /// The `allow` statements in the order of the text.
    package let allows: [FileAllow]

    let source: RulesText
    let syntax: FileSyntax
    let patterns: [Pattern]

    /// Reads a text of at most `FileRulesLimits.textByteCount` bytes.
    ///
    /// - Throws: `RulesError` with every fault, sorted by line and column.
    package static func load(_ text: String) throws(RulesError) -> FileRuleset {
        if text.utf8.count > FileRulesLimits.textByteCount {
            let fault = RulesFault(
                line: 1,
                column: 1,
                message:
                    "The rules have \(text.utf8.count) bytes; at most \(FileRulesLimits.textByteCount) are allowed."
            )
            throw RulesError(faults: [fault])
        }
        let source = RulesText(text)
        let parser = FileRulesParser(source)
        let checker = FileRulesChecker(parser.syntax, source)
        let faults = (parser.faults + checker.faults).sorted { $0.offset < $1.offset }
        if !faults.isEmpty {
            let first = faults.prefix(FileRulesLimits.faultCount)
            throw RulesError(faults: first.map { $0.resolved(in: source) })
        }
        return FileRuleset(text, source, parser, checker)
    }

    /// Whether a text is meant as rules for files and not as rules for a database, which are an object: by its first word,
    /// comments and white space left out.
    package static func isMeant(_ text: String) -> Bool {
        var rest = text.unicodeScalars[...]
        if rest.first == "\u{FEFF}" { rest.removeFirst() }
        while let first = rest.first {
            if first.properties.isWhitespace {
                rest.removeFirst()
            } else if rest.starts(with: "//".unicodeScalars) {
                rest = rest.drop { $0 != "\n" && $0 != "\r" }
            } else if rest.starts(with: "/*".unicodeScalars) {
                rest = rest.dropFirst(2)
                while !rest.isEmpty, !rest.starts(with: "*/".unicodeScalars) { rest.removeFirst() }
                rest = rest.dropFirst(2)
            } else {
                let word = rest.prefix { $0.properties.isAlphabetic || $0 == "_" }
                return ["rules_version", "service", "function"].contains(String(word))
            }
        }
        return false
    }

    private init(
        _ text: String,
        _ source: RulesText,
        _ parser: FileRulesParser,
        _ checker: FileRulesChecker
    ) {
        self.text = text
        self.source = source
        syntax = checker.syntax
        patterns = checker.patterns
        allows = checker.syntax.allows.indices.map { FileAllow($0, checker.syntax, source) }
        warnings = FileRulesLinter(checker.syntax, source, parser.lexer).warnings
    }

    /// The version that the text names, 1 or 2.
    package var version: Int { syntax.version }

    /// Line and column of an offset in the text, both from 1.
    func position(_ offset: Int) -> FileRulesPosition { FileRulesPosition(offset, source) }

    /// The text of an expression, and where it begins.
    package func expression(_ number: Int) -> (text: String, at: FileRulesPosition) {
        let range = syntax.expressions[number].range
        return (String(scalars: source.scalars[range]), position(range.lowerBound))
    }

    /// The scalars of an expression in the text; operands lie in those of theirs.
    package func range(_ number: Int) -> Range<Int> { syntax.expressions[number].range }

    /// How many expressions there are; they are numbered from 0.
    package var expressionCount: Int { syntax.expressions.count }

    /// The expressions that decide an `allow`, with those of the functions that they call, in the order of the text;
    /// literals are left out. Each once.
    package func expressions(of allow: FileAllow) -> [Int] {
        var found: Set<Int> = []
        var waiting = [syntax.allows[allow.index].condition].compactMap { $0 }
        while let number = waiting.popLast() {
            if !found.insert(number).inserted { continue }
            waiting += syntax.expressions[number].operands
            if case .function(let callee, _) = syntax.expressions[number].kind {
                let function = syntax.functions[callee]
                waiting += function.lets.map(\.value) + [function.result].compactMap { $0 }
            }
        }
        let shown = found.filter { !isLiteral($0) }
        return shown.sorted {
            let (a, b) = (syntax.expressions[$0].range, syntax.expressions[$1].range)
            return (a.lowerBound, -a.upperBound) < (b.lowerBound, -b.upperBound)
        }
    }

    /// What kind of expression one is, for explanations.
    package enum Shape: Sendable {
        /// Operands of `&&`, of `||`.
        case allOf, anyOf
        /// A member of a value.
        case member
        case other
    }

    /// The kind of an expression.
    package func shape(_ number: Int) -> Shape {
        switch syntax.expressions[number].kind {
        case .and: .allOf
        case .or: .anyOf
        case .member, .requestMember: .member
        default: .other
        }
    }

    /// Whether an expression is a literal, whose value says nothing new.
    package func isLiteral(_ number: Int) -> Bool {
        if case .constant = syntax.expressions[number].kind { true } else { false }
    }
}

/// Where something stands in a rules text.
package struct FileRulesPosition: Hashable, Sendable, CustomStringConvertible {
    /// From 1.
    package let line: Int
    /// In Unicode scalars, from 1.
    package let column: Int

    init(_ offset: Int, _ source: RulesText) { (line, column) = source.position(of: offset) }

    /// `line:column`.
    package var description: String { "\(line):\(column)" }
}

/// One `allow` statement of a ruleset.
package struct FileAllow: Sendable, Equatable {
    /// Its number in `FileRuleset.allows`.
    package let index: Int

    /// The whole pattern of its block: `/b/{bucket}/o/photos/{id=**}`.
    package let pattern: String

    /// What it allows, as written: `read, write`.
    package let words: String

    /// Where it begins.
    package let position: FileRulesPosition

    /// The condition as written; `true` when there is none.
    package let condition: String

    /// The number of the condition's expression; nil when there is none.
    package let expression: Int?

    init(_ index: Int, _ syntax: FileSyntax, _ source: RulesText) {
        let statement = syntax.allows[index]
        self.index = index
        pattern = syntax.blocks[statement.block].pattern.map(\.description).joined()
        words = statement.words.map(\.name).joined(separator: ", ")
        position = FileRulesPosition(statement.offset, source)
        expression = statement.condition
        condition =
            expression.map { String(scalars: source.scalars[syntax.expressions[$0].range]) }
            ?? "true"
    }

    /// `allow read of /b/{bucket}/o/{id}`.
    package var name: String { "\(words) \(pattern)" }
}

extension PatternSegment: CustomStringConvertible {
    /// With its slash.
    var description: String {
        switch self {
        case .literal(let text): "/" + String(decoding: text, as: UTF8.self)
        case .capture(let name): "/{\(name)}"
        case .rest(let name): "/{\(name)=**}"
        }
    }
}
