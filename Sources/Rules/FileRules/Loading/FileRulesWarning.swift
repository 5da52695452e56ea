/// The name of a warning, as it is printed and as a silencing comment spells it.
package enum FileLintCode: String, Sendable, CaseIterable {
    case databaseLookup = "database-lookup"
    case firestoreLookup = "firestore-lookup"
    case listInVersion1 = "list-in-version-1"
    case neverMatches = "never-matches"
    case duplicateMatch = "duplicate-match"
    case shadowedCapture = "shadowed-capture"
    case openToAll = "open-to-all"
    case signedOutWrite = "signed-out-write"
    case constantCondition = "constant-condition"
    case unknownMember = "unknown-member"
    case wholeText = "whole-text"
    case idleEscape = "idle-escape"
    case unusedFunction = "unused-function"
}

/// Something that loads and is probably not meant, and where.
package struct FileRulesWarning: Equatable, Sendable, CustomStringConvertible {
    /// Which lint found it.
    package let code: FileLintCode
    /// Where.
    package let position: FileRulesPosition
    /// The finding, and its effect.
    package let message: String
    /// How to write it right.
    package let hint: String

    /// `line:column: warning[code]: message`, without the hint.
    package var description: String { "\(position): warning[\(code.rawValue)]: \(message)" }
}
