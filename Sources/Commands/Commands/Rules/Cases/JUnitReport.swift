import RulesTools

/// Outcomes in the XML that continuous integration reads.
enum JUnitReport {
    /// One suite for each file, in the order of the cases.
    static func text(_ cases: [TestReport.Entry]) -> String {
        var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<testsuites>"]
        var rest = cases[...]
        while let file = rest.first?.file {
            let suite = rest.prefix { $0.file == file }
            rest = rest.dropFirst(suite.count)
            let failures = suite.count { !$0.isPassed }
            lines.append(
                "  <testsuite name=\"\(escaped(file))\" tests=\"\(suite.count)\" failures=\"\(failures)\">"
            )
            for entry in suite {
                let name = escaped(entry.name)
                let head = "    <testcase name=\"\(name)\" classname=\"\(escaped(file))\""
                if entry.isPassed {
                    lines.append(head + "/>")
                    continue
                }
                let message = escaped(entry.problems.joined(separator: "; "))
                let text = escaped(
                    ([entry.location ?? file] + [entry.explanation ?? ""]).joined(separator: "\n")
                )
                lines.append(head + "><failure message=\"\(message)\">\(text)</failure></testcase>")
            }
            lines.append("  </testsuite>")
        }
        lines.append("</testsuites>")
        return lines.joined(separator: "\n")
    }

    /// Text as XML takes it; characters that it has no way to write become U+FFFD.
    private static func escaped(_ text: String) -> String {
        var out = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": out += "&amp;"
            case "<": out += "&lt;"
            case ">": out += "&gt;"
            case "\"": out += "&quot;"
            case "\n", "\t": out.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF:
                out += "\u{FFFD}"
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }
}
