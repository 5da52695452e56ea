/// The name of a warning, as it is printed and as a comment that silences it spells it.
package enum LintCode: String, Sendable, CaseIterable {
    case openRoot = "open-root"
    case unauthenticatedCreate = "unauthenticated-create"
    case writeAboveOwner = "write-above-owner"
    case writeWithoutExists = "write-without-exists"
    case readAboveSecret = "read-above-secret"
    case readWithoutOwner = "read-without-owner"
    case unverifiedEmail = "unverified-email"
    case selfGrantedRight = "self-granted-right"
    case nullEquality = "null-equality"
    case concatBeforeAuth = "concat-before-auth"
    case constantRule = "constant-rule"
    case unreachableRule = "unreachable-rule"
    case shadowedWildcard = "shadowed-wildcard"
    case unusedWildcard = "unused-wildcard"
    case quotedWildcard = "quoted-wildcard"
    case optionalChild = "optional-child"
    case counterFirstWrite = "counter-first-write"
    case comparedObject = "compared-object"
    case missingIndex = "missing-index"
    case limitWithoutOrder = "limit-without-order"
    case unanchoredRegex = "unanchored-regex"
    case regexAlternatives = "regex-alternatives"
    case regexGroup = "regex-group"
    case mixedOrder = "mixed-order"
    case trailingComma = "trailing-comma"
    case unusedAllow = "unused-allow"
}

/// Something that loads and rarely means what was meant, and where.
package struct LintWarning: Equatable, Sendable, CustomStringConvertible {
    /// Which lint found it.
    package let code: LintCode

    /// Line in the rules text, from 1.
    package let line: Int

    /// Column in Unicode scalars, from 1, also inside a JSON string.
    package let column: Int

    /// What is there, and what an attacker can do or a user suffers.
    package let message: String

    /// How to write it right.
    package let hint: String

    /// `line:column: warning[code]: message`, without the hint.
    package var description: String {
        "\(line):\(column): warning[\(code.rawValue)]: \(message)"
    }
}

/// A warning whose place is still an offset, in scalars of the rules text.
struct PlacedWarning {
    let code: LintCode
    let offset: Int
    let message: String
    let hint: String?
}
