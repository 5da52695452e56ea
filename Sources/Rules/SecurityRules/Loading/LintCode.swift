/// The name of a warning, as it is printed and as a silencing comment spells it.
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

/// A warning with its position still as an offset.
package struct LocatedWarning {
    /// Which lint found it.
    package let code: LintCode
    /// In scalars of the rules text.
    package let offset: Int
    /// The finding and its effect.
    package let message: String
    /// How to write it right; nil when the code says all.
    package let hint: String?

    /// Notes a finding at an offset of the rules text.
    package init(_ code: LintCode, _ offset: Int, _ message: String, _ hint: String?) {
        self.code = code
        self.offset = offset
        self.message = message
        self.hint = hint
    }
}
