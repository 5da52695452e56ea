import JSONTree

/// A value of the rules text, with its position as an offset in scalars.
indirect enum RulesFileValue: Sendable {
    case object([FileMember], offset: Int)
    case array([RulesFileValue], offset: Int)
    case string(QuotedText)
    case boolean(Bool, offset: Int)
    case number(text: String, offset: Int)
    case null(offset: Int)

    /// Where a fault of this value is reported: its first scalar, for a string that after the quote.
    var offset: Int {
        switch self {
        case .object(_, let offset), .array(_, let offset), .boolean(_, let offset),
            .number(_, let offset), .null(let offset):
            offset
        case .string(let text): text.start
        }
    }

    /// Appends the value as strict JSON: no comments, no raw newlines, no spaces.
    func appendStrictJSON(to out: inout [UInt8]) {
        switch self {
        case .object(let members, _):
            out.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                appendJSONString(member.key.string, to: &out)
                out.append(UInt8(ascii: ":"))
                member.value.appendStrictJSON(to: &out)
            }
            out.append(UInt8(ascii: "}"))
        case .array(let elements, _):
            out.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                element.appendStrictJSON(to: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .string(let text): appendJSONString(text.string, to: &out)
        case .boolean(let value, _): out.append(contentsOf: (value ? "true" : "false").utf8)
        case .number(let text, _): out.append(contentsOf: text.utf8)
        case .null: out.append(contentsOf: "null".utf8)
        }
    }
}

/// One `"key": value` of the rules text.
struct FileMember: Sendable {
    let key: QuotedText
    let value: RulesFileValue
}
