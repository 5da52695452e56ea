package import SecurityRules

/// Something that loads and rarely means what was meant, and where.
package struct LintWarning: Equatable, Sendable, CustomStringConvertible {
    /// Which lint found it.
    package let code: LintCode

    /// Line in the rules text, from 1.
    package let line: Int

    /// Column in Unicode scalars, from 1, also inside a JSON string.
    package let column: Int

    /// The finding, and its effect: what an attacker can do or a user suffers.
    package let message: String

    /// How to write it right.
    package let hint: String

    /// `line:column: warning[code]: message`, without the hint.
    package var description: String {
        "\(line):\(column): warning[\(code.rawValue)]: \(message)"
    }
}
