import CPages
import JSONTree

/// The counts of rules over their text, as one file of HTML that opens without a server.
enum CoveragePage {
    /// Writes the file of a report as `/.inspect/coverage.json` has it; `title` is any text.
    static func bytes(title: String, _ report: [UInt8]) -> [UInt8] {
        let start = coverage_page
        var page = Array(UnsafeBufferPointer(start: start.bytes, count: start.byte_count))
        let data: JSONValue = ["title": .string(title), "report": .raw(report)]
        for byte in data.text {
            // So that nothing in it begins or ends an element.
            if byte == UInt8(ascii: "<") { page += "\\u003c".utf8 } else { page.append(byte) }
        }
        return page + "</script>\n".utf8
    }
}
