/// Why JSON text is not a value of the tree, and where.
package struct JSONError: Error, Equatable {
    /// The fault.
    package enum Reason: Equatable, Sendable {
        case unexpectedEnd
        case unexpectedByte(UInt8)
        /// Something follows the value.
        case trailingText
        /// A member's name is not a key.
        case badKey(PathError)
        /// More than `Limits.depth` keys, or more than `Limits.textNesting` brackets.
        case tooDeep
        /// The limit is `Limits.stringByteCount`.
        case stringTooLong
        case invalidUTF8
        case badEscape
        /// A byte below 0x20 inside a string.
        case controlCharacter
        case badNumber
        /// Further from 0 than a double can be.
        case numberOutOfRange
        /// Something other than `{".sv":"timestamp"}` and `{".sv":{"increment":number}}`.
        case badServerValue
        /// A server value where none may stand.
        case unexpectedServerValue
        /// `.value` beside children.
        case valueBesideChildren
        /// `.value` is not a boolean, number, string, null or server value.
        case badValue
        /// `.priority` is not a number, string, null or server value.
        case badPriority
    }

    /// The fault.
    package let reason: Reason

    /// Bytes from the text's start to the fault; for a member's name to its opening quote.
    package let offset: Int

    /// Makes the error of something wrong `offset` bytes into the text.
    package init(_ reason: Reason, offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    /// The position in the text: line, and byte in the line, both from 1.
    package func lineAndColumn(in text: Bytes) -> (line: Int, column: Int) {
        var line = 1
        var lineStart = 0
        for index in 0..<min(offset, text.count) where text[index] == 0x0A {
            line += 1
            lineStart = index + 1
        }
        return (line, min(offset, text.count) - lineStart + 1)
    }
}
