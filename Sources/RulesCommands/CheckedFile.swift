import Files
import JSONTree
import RulesCases
import SecurityRules

/// One rules file and what is wrong with it.
struct CheckedFile {
    /// Something found, and where; a file that cannot be read has no place.
    struct Finding {
        let place: (line: Int, column: Int)?
        /// The name of a warning; nil for errors.
        let code: String?
        let message: String
        let hint: String?
    }

    /// Bytes of one file: more than rules may have, so that their own limit speaks.
    private static let byteLimit = 8 << 20

    let name: String
    /// What the file holds; empty when it cannot be read.
    private(set) var bytes: [UInt8] = []
    private(set) var errors: [Finding] = []
    private(set) var warnings: [Finding] = []
    /// Whether it holds cases, by its name and what is in it; an error, too, for who wants rules.
    private(set) var isFileOfCases = false
    private var lines = RulesLines("")

    /// Reads and checks a file; `-` is standard input.
    init(_ path: String) {
        name = path == "-" ? "standard input" : path
        do throws(FileError) {
            bytes = try InputFile.read(path, byteLimit: CheckedFile.byteLimit)
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
        lines = RulesLines(text)
        do throws(RulesError) {
            warnings = try Ruleset.load(text).lint().map {
                Finding(
                    place: ($0.line, $0.column),
                    code: $0.code.rawValue,
                    message: $0.message,
                    hint: $0.hint
                )
            }
        } catch {
            errors = error.faults.map {
                Finding(
                    place: ($0.line, $0.column),
                    code: nil,
                    message: $0.message,
                    hint: $0.hint
                )
            }
        }
    }

    /// The faults that a server found and this program did not, as people read them; nil when an answer holds none.
    func texts(ofRefusal body: [UInt8]) -> String? {
        let list: Node
        do throws(JSONError) { list = try Node(json: body)["errors"] } catch { return nil }
        var texts: [String] = []
        list.visitChildren { _, entry in
            guard let line = entry["line"].integer, let column = entry["column"].integer,
                let message = entry["message"].string
            else { return true }
            let finding = Finding(
                place: (Int(line), Int(column)),
                code: nil,
                message: message,
                hint: entry["hint"].string
            )
            texts.append(text(of: finding, "error"))
            return true
        }
        return texts.isEmpty ? nil : texts.joined(separator: "\n")
    }

    private mutating func fail(_ message: String) {
        errors = [Finding(place: nil, code: nil, message: message, hint: nil)]
    }

    /// Says where the first bytes stand that are no UTF-8.
    private mutating func reportEncoding(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        let replacement: Unicode.Scalar = "\u{FFFD}"
        var (offset, line, column) = (0, 1, 1)
        for scalar in text.unicodeScalars {
            // One that stands in the file itself is good text.
            if scalar == replacement, !bytes[offset...].starts(with: [0xEF, 0xBF, 0xBD]) { break }
            offset += UTF8.width(scalar)
            (line, column) = scalar == "\n" ? (line + 1, 1) : (line, column + 1)
        }
        lines = RulesLines(text)
        errors = [
            Finding(
                place: (line, column),
                code: nil,
                message: "The file is not UTF-8 text.",
                hint: "Save it as UTF-8; what stands here is in another encoding."
            )
        ]
    }

    // MARK: Text

    /// Every finding as people read it.
    var texts: [String] {
        errors.map { text(of: $0, "error") }
            + warnings.map { text(of: $0, "warning[\($0.code ?? "")]") }
    }

    /// A finding with its line, a caret below the place, and the hint.
    ///
    ///     rules/a.json:3:17: error: Unknown variable 'x'.
    ///         ".read": "x == 1"
    ///                   ^
    ///         hint: ...
    private func text(of finding: Finding, _ kind: String) -> String {
        // The message of a file that cannot be read names it.
        guard let (line, column) = finding.place else { return "\(kind): \(finding.message)" }
        var text = "\(name):\(line):\(column): \(kind): \(finding.message)"
        text += "\n" + Excerpt.text(of: lines[line], column: column)
        if let hint = finding.hint { text += "\n    hint: \(hint)" }
        return text
    }

    // MARK: JSON

    /// `{"path", "errors": [{"line"?, "column"?, "message", "hint"?}], "warnings": [{"code", "line", "column", "message", "hint"}]}`.
    var json: String {
        var out = Array("{\"path\":".utf8)
        appendJSONString(name, to: &out)
        for (key, findings) in [("errors", errors), ("warnings", warnings)] {
            out += Array(",\"\(key)\":[".utf8)
            for (index, finding) in findings.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                append(finding, to: &out)
            }
            out.append(UInt8(ascii: "]"))
        }
        out.append(UInt8(ascii: "}"))
        return String(decoding: out, as: UTF8.self)
    }

    /// A text as JSON.
    static func jsonString(_ text: String) -> String {
        var out: [UInt8] = []
        appendJSONString(text, to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    private func append(_ finding: Finding, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "{"))
        if let code = finding.code { out += Array("\"code\":\"\(code)\",".utf8) }
        if let (line, column) = finding.place {
            out += Array("\"line\":\(line),\"column\":\(column),".utf8)
        }
        out += Array("\"message\":".utf8)
        appendJSONString(finding.message, to: &out)
        if let hint = finding.hint {
            out += Array(",\"hint\":".utf8)
            appendJSONString(hint, to: &out)
        }
        out.append(UInt8(ascii: "}"))
    }
}
