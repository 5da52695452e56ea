import JSONTree

/// The value of one member of a JSON object.
package enum JSONField: Sendable, Equatable {
    case null
    case boolean(Bool)
    case text(String)
    /// A number, as it is written.
    case number(String)
    /// The text of an object or an array.
    case nested([UInt8])

    /// What it is as a text: a text itself, everything else as JSON; nil for null.
    package var asText: String? {
        switch self {
        case .null: nil
        case .boolean(let flag): "\(flag)"
        case .text(let text), .number(let text): text
        case .nested(let text): String(decoding: text, as: UTF8.self)
        }
    }
}

/// Why a text is not the JSON that was expected.
package struct JSONFieldsFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong, for people; no full stop at its end.
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// The members of one JSON object, in their order. Made in one pass; a later member replaces an earlier one of its name.
package struct JSONFields: Sendable {
    /// Names and values.
    package let members: [(name: String, value: JSONField)]

    /// Reads an object that is the whole text.
    package init(_ text: [UInt8]) throws(JSONFieldsFault) {
        members = try Self.read(text) { (scanner) throws(JSONError) in
            guard try scanner.peek() == UInt8(ascii: "{") else { return nil }
            try scanner.enterObject()
            var members: [(name: String, value: JSONField)] = []
            while let name = try scanner.nextMember() {
                members.append((name, try Self.value(&scanner, text)))
            }
            return members
        }
    }

    /// The elements of an array that is the whole text.
    package static func elements(of text: [UInt8]) throws(JSONFieldsFault) -> [JSONField] {
        try read(text) { (scanner) throws(JSONError) in
            guard try scanner.peek() == UInt8(ascii: "[") else { return nil }
            try scanner.enterArray()
            var elements: [JSONField] = []
            while try scanner.nextElement() { elements.append(try value(&scanner, text)) }
            return elements
        }
    }

    /// The value of a member; nil when there is none, and for null.
    package func given(_ name: String) -> JSONField? {
        let value = self[name]
        return value == .null ? nil : value
    }

    /// The value of a member, null included.
    package subscript(name: String) -> JSONField? {
        members.last { $0.name == name }?.value
    }

    /// A text; nil when the member is not there.
    package func text(_ name: String) throws(JSONFieldsFault) -> String? {
        guard let value = given(name) else { return nil }
        guard case .text(let text) = value else {
            throw JSONFieldsFault("'\(name)' must be a text")
        }
        return text
    }

    /// A whole number, also one written as a text; nil when the member is not there.
    package func integer(_ name: String) throws(JSONFieldsFault) -> Int64? {
        switch given(name) {
        case nil: return nil
        case .number(let digits), .text(let digits):
            if let number = Int64(digits) { return number }
        case .null, .boolean, .nested: break
        }
        throw JSONFieldsFault("'\(name)' must be a whole number of 64 bits")
    }

    /// True or false; false when the member is not there.
    package func flag(_ name: String) throws(JSONFieldsFault) -> Bool {
        guard let value = given(name) else { return false }
        guard case .boolean(let flag) = value else {
            throw JSONFieldsFault("'\(name)' must be true or false")
        }
        return flag
    }

    /// The members of an object within; nil when the member is not there.
    package func object(_ name: String) throws(JSONFieldsFault) -> JSONFields? {
        guard let value = given(name) else { return nil }
        guard case .nested(let text) = value, text.first == UInt8(ascii: "{") else {
            throw JSONFieldsFault("'\(name)' must be an object")
        }
        return try JSONFields(text)
    }

    /// The elements of an array within; none when the member is not there.
    package func list(_ name: String) throws(JSONFieldsFault) -> [JSONField] {
        guard let value = given(name) else { return [] }
        guard case .nested(let text) = value, text.first == UInt8(ascii: "[") else {
            throw JSONFieldsFault("'\(name)' must be an array")
        }
        return try JSONFields.elements(of: text)
    }

    /// Checks a record of ours: each member is known, and there once.
    package func expect(only names: Set<String>) throws(JSONFieldsFault) {
        var seen: Set<String> = []
        for (name, _) in members {
            guard names.contains(name) else {
                throw JSONFieldsFault("'\(name)' is no member that this version knows")
            }
            guard seen.insert(name).inserted else {
                throw JSONFieldsFault("'\(name)' is there twice")
            }
        }
    }

    /// Reads a whole text; `body` gives nil for a value of another kind.
    private static func read<Value>(
        _ text: [UInt8],
        _ body: (inout JSONScanner) throws(JSONError) -> Value?
    ) throws(JSONFieldsFault) -> Value {
        try text.withBytes { (bytes) throws(JSONFieldsFault) in
            var scanner = JSONScanner(bytes)
            let value: Value?
            do throws(JSONError) {
                value = try body(&scanner)
                if value != nil { try scanner.expectEnd() }
            } catch {
                throw JSONFieldsFault("the text must be JSON; byte \(error.offset) is not")
            }
            guard let value else { throw JSONFieldsFault("the text must be a JSON object") }
            return value
        }
    }

    private static func value(
        _ scanner: inout JSONScanner,
        _ text: [UInt8]
    ) throws(JSONError) -> JSONField {
        switch try scanner.peek() {
        case UInt8(ascii: "\""): return .text(try scanner.readString())
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .boolean(try scanner.readBoolean())
        case UInt8(ascii: "n"):
            try scanner.readNull()
            return .null
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            return .nested(Array(text[try scanner.skipValue()]))
        default: return .number(String(decoding: text[try scanner.skipValue()], as: UTF8.self))
        }
    }
}
