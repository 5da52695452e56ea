import JSONTree
package import SecurityRules

/// A simulator request made from parts in different sources: options, files.
///
/// Each part begins on a line of its own of the body, so that a fault of the body can name the part.
package struct SimulationForm: Sendable {
    /// Where a part came from, in a message, such as `--value` or a file's name.
    private struct Part {
        let origin: String
        let firstLine: Int
        let lineCount: Int
    }

    /// The body of the request.
    package private(set) var body: [UInt8] = Array("{".utf8)
    private var parts: [Part] = []
    private var line = 1

    package init() {}

    /// Adds a member whose value is JSON text.
    package mutating func add(_ name: String, json: [UInt8], from origin: String) {
        if !parts.isEmpty { body.append(UInt8(ascii: ",")) }
        appendJSONString(name, to: &body)
        body.append(contentsOf: ":\n".utf8)
        line += 1
        let lineCount = 1 + json.count { $0 == UInt8(ascii: "\n") }
        parts.append(Part(origin: origin, firstLine: line, lineCount: lineCount))
        body.append(contentsOf: json)
        body.append(UInt8(ascii: "\n"))
        line += lineCount
    }

    /// Adds a member whose value is a text.
    package mutating func add(_ name: String, text: String, from origin: String) {
        var json: [UInt8] = []
        appendJSONString(text, to: &json)
        add(name, json: json, from: origin)
    }

    /// Ends the body.
    package mutating func finish() { body.append(UInt8(ascii: "}")) }

    /// The fault of one JSON text on its own; nil when it is JSON.
    package static func fault(of json: [UInt8]) -> RulesFault? {
        json.withBytes { bytes in
            do throws(InputFault) {
                _ = try RawValue(whole: bytes, what: "This")
                return nil
            } catch {
                return InputText(json).resolved(error)
            }
        }
    }

    /// A fault of the body, named after the part that it is in: `--auth:1:5: ...`.
    package func words(_ fault: RulesFault) -> String {
        let hint = fault.hint.map { "\n    hint: \($0)" } ?? ""
        let part = parts.first {
            ($0.firstLine..<$0.firstLine + $0.lineCount).contains(fault.line)
        }
        guard let part else { return fault.message + hint }
        let line = fault.line - part.firstLine + 1
        return "\(part.origin):\(line):\(fault.column): \(fault.message)\(hint)"
    }
}
