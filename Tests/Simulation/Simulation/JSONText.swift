/// JSON as the simulated clients read it: a reader that shares no code with the server's.
///
/// Members keep their order. Bad text is a bug of the server, so the reader only says where.
package enum JSONText: Equatable, Sendable {
    case null
    case boolean(Bool)
    case number(Double)
    case string(String)
    case array([JSONText])
    case object([(name: String, value: JSONText)])

    /// Reads a whole text.
    ///
    /// - Throws: `JSONTextError` where it stops making sense.
    package init(_ bytes: [UInt8]) throws(JSONTextError) {
        var reader = Reader(bytes: bytes)
        self = try reader.value()
        guard reader.offset == bytes.count else { throw reader.fault }
    }

    /// The member of that name; nil without one.
    package subscript(name: String) -> JSONText? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The text this is; nil for other kinds.
    package var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The number this is; nil for other kinds.
    package var number: Double? {
        guard case .number(let number) = self else { return nil }
        return number
    }

    package static func == (left: JSONText, right: JSONText) -> Bool {
        left.text == right.text
    }

    /// The value as JSON, names in byte order, whole numbers without a point.
    package var text: String { text(isSorted: true) }

    /// The value as JSON, names in their order or in byte order.
    package func text(isSorted: Bool) -> String {
        switch self {
        case .null: return "null"
        case .boolean(let flag): return flag ? "true" : "false"
        case .number(let number): return JSONText.text(of: number)
        case .string(let text): return JSONText.quoted(text)
        case .array(let items):
            return "[" + items.map { $0.text(isSorted: isSorted) }.joined(separator: ",") + "]"
        case .object(var members):
            if isSorted {
                members.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            }
            let texts = members.map {
                JSONText.quoted($0.name) + ":" + $0.value.text(isSorted: isSorted)
            }
            return "{" + texts.joined(separator: ",") + "}"
        }
    }

    static func text(of number: Double) -> String {
        if let whole = Int64(exactly: number) { return String(whole) }
        return number.description
    }

    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\u{0}"..<" ":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

/// Where a text stopped being JSON.
package struct JSONTextError: Error, Equatable {
    /// Bytes from the start.
    package let offset: Int
}

private struct Reader {
    let bytes: [UInt8]
    var offset = 0

    var fault: JSONTextError { JSONTextError(offset: offset) }

    private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func take(_ text: String) -> Bool {
        guard bytes[offset...].starts(with: text.utf8) else { return false }
        offset += text.utf8.count
        return true
    }

    mutating func value() throws(JSONTextError) -> JSONText {
        if take("null") { return .null }
        if take("true") { return .boolean(true) }
        if take("false") { return .boolean(false) }
        switch next {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "["): return .array(try array())
        case UInt8(ascii: "{"): return .object(try object())
        default: return .number(try number())
        }
    }

    private mutating func number() throws(JSONTextError) -> Double {
        let start = offset
        while let byte = next, "+-.eE0123456789".utf8.contains(byte) { offset += 1 }
        guard let number = Double(String(decoding: bytes[start..<offset], as: UTF8.self)) else {
            throw fault
        }
        return number
    }

    private mutating func array() throws(JSONTextError) -> [JSONText] {
        offset += 1
        var items: [JSONText] = []
        while !take("]") {
            if !items.isEmpty, !take(",") { throw fault }
            items.append(try value())
        }
        return items
    }

    private mutating func object() throws(JSONTextError) -> [(name: String, value: JSONText)] {
        offset += 1
        var members: [(name: String, value: JSONText)] = []
        while !take("}") {
            if !members.isEmpty, !take(",") { throw fault }
            let name = try string()
            guard take(":") else { throw fault }
            members.append((name, try value()))
        }
        return members
    }

    private mutating func string() throws(JSONTextError) -> String {
        guard take("\"") else { throw fault }
        var text: [UInt8] = []
        while let byte = next {
            offset += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): text.append(contentsOf: try escape().utf8)
            default: text.append(byte)
            }
        }
        throw fault
    }

    /// The workload uses no character that needs a surrogate pair to be escaped.
    private mutating func escape() throws(JSONTextError) -> String {
        guard let byte = next else { throw fault }
        offset += 1
        switch byte {
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "u"):
            let digits = String(decoding: bytes[offset...].prefix(4), as: UTF8.self)
            offset += 4
            guard let code = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(code) else {
                throw fault
            }
            return String(scalar)
        default: return String(Unicode.Scalar(byte))
        }
    }
}
