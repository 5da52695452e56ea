import FileRules
import Files
import JSONTree
import RulesTools
import SecurityRules

/// One rules file and its faults.
struct CheckedFile {
    /// A fault; a file that cannot be read has one at line 0, where nothing is.
    struct Finding {
        let fault: RulesFault
        /// The name of a warning; nil for errors.
        var code: String?

        /// `{"code"?, "line"?, "column"?, "message", "hint"?}`.
        fileprivate var json: JSONValue {
            [
                "code": code.map { .string($0) },
                "line": fault.line > 0 ? .number(fault.line) : nil,
                "column": fault.line > 0 ? .number(fault.column) : nil,
                "message": .string(fault.message), "hint": fault.hint.map { .string($0) },
            ]
        }
    }

    let name: String
    /// The content of the file; empty when it cannot be read.
    private(set) var bytes: [UInt8] = []
    private(set) var errors: [Finding] = []
    private(set) var warnings: [Finding] = []
    /// Whether it holds cases, by its name and content; an error, too, if rules are expected.
    private(set) var isFileOfCases = false
    /// Whether the rules are for files, and not for a database.
    private(set) var isForFiles = false
    private var lines = RulesText("")

    /// Reads and checks a file; `-` is standard input.
    init(_ path: String) {
        name = path == "-" ? "standard input" : path
        do throws(FileError) {
            bytes = try InputFile.read(path, byteLimit: RulesFile.byteLimit)
        } catch {
            fail("\(error)")
            return
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            reportEncoding(bytes)
            return
        }
        if CaseFile.isMeant(bytes) {
            isFileOfCases = path.hasSuffix(CaseSource.suffix)
            fail("\(name): holds cases and no rules; 'hearth rules test' runs it")
            return
        }
        lines = RulesText(text)
        isForFiles = FileRuleset.isMeant(text)
        do throws(RulesError) { warnings = try Self.warnings(text, isForFiles) } catch {
            errors = error.faults.map { Finding(fault: $0) }
        }
    }

    /// What is to be said of rules that load.
    private static func warnings(
        _ text: String,
        _ isForFiles: Bool
    ) throws(RulesError) -> [Finding] {
        func finding(_ line: Int, _ column: Int, _ message: String, _ hint: String?, _ code: String)
            -> Finding
        {
            let fault = RulesFault(line: line, column: column, message: message, hint: hint)
            return Finding(fault: fault, code: code)
        }
        if isForFiles {
            return try FileRuleset.load(text).warnings.map {
                finding($0.position.line, $0.position.column, $0.message, $0.hint, $0.code.rawValue)
            }
        }
        return try Ruleset.load(text).lint().map {
            finding($0.line, $0.column, $0.message, $0.hint, $0.code.rawValue)
        }
    }

    /// The faults that a server found and this program did not, as people read them; nil when an answer holds none.
    func texts(ofRefusal body: [UInt8]) -> String? {
        let faults = Node(answer: body)?.member("errors").elements ?? []
        let texts = faults.compactMap { entry -> String? in
            guard let fault = RulesFault(entry, at: entry), fault.line > 0 else { return nil }
            return text(of: Finding(fault: fault), "error")
        }
        return texts.isEmpty ? nil : texts.joined(separator: "\n")
    }

    private mutating func fail(_ message: String) {
        errors = [Finding(fault: RulesFault(line: 0, column: 0, message: message))]
    }

    /// Reports the position of the first bytes that are not UTF-8.
    private mutating func reportEncoding(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        let replacement: Unicode.Scalar = "\u{FFFD}"
        var (offset, line, column) = (0, 1, 1)
        for scalar in text.unicodeScalars {
            // A replacement character in the file itself is valid text.
            if scalar == replacement, !bytes[offset...].starts(with: [0xEF, 0xBF, 0xBD]) { break }
            offset += UTF8.width(scalar)
            (line, column) = scalar == "\n" ? (line + 1, 1) : (line, column + 1)
        }
        lines = RulesText(text)
        let fault = RulesFault(
            line: line,
            column: column,
            message: "The file is not UTF-8 text.",
            hint: "Save it as UTF-8; what stands here is in another encoding."
        )
        errors = [Finding(fault: fault)]
    }

    // MARK: Text

    /// Every finding as people read it.
    var texts: [String] {
        errors.map { text(of: $0, "error") }
            + warnings.map { text(of: $0, "warning[\($0.code ?? "")]") }
    }

    /// The same as one text.
    var findings: String { texts.joined(separator: "\n") }

    private func text(of finding: Finding, _ kind: String) -> String {
        // The message of a file that cannot be read names it.
        finding.fault.line > 0
            ? Excerpt.fault(finding.fault, "\(kind): ", of: name, lines)
            : "\(kind): \(finding.fault.message)"
    }

    // MARK: JSON

    /// `{"path", "errors": [...], "warnings": [...]}`.
    var json: JSONValue {
        [
            "path": .string(name), "errors": .list(errors.map(\.json)),
            "warnings": .list(warnings.map(\.json)),
        ]
    }
}
