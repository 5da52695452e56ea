/// A JSON value to write: members keep their order, and empty values are written too.
package indirect enum JSONValue: Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case string(String)
    case list([JSONValue])
    case object([Member])
    /// JSON text that was checked before.
    case raw([UInt8])

    package struct Member: Sendable {
        package let name: String
        package let value: JSONValue

        /// Names a value.
        package init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// Its text, without white space.
    package var text: [UInt8] {
        var out: [UInt8] = []
        append(to: &out)
        return out
    }

    /// Appends its text, without white space.
    package func append(to out: inout [UInt8]) {
        switch self {
        case .null: out += Array("null".utf8)
        case .boolean(let flag): out += Array("\(flag)".utf8)
        case .integer(let number): out += Array("\(number)".utf8)
        case .string(let text): appendJSONString(text, to: &out)
        case .raw(let text): out += text
        case .list(let values):
            out.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                value.append(to: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .object(let members):
            out.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                appendJSONString(member.name, to: &out)
                out.append(UInt8(ascii: ":"))
                member.value.append(to: &out)
            }
            out.append(UInt8(ascii: "}"))
        }
    }
}

/// JSON as it is written in Swift: `["name": .string(name), "keys": .list(keys)]`.
extension JSONValue: ExpressibleByDictionaryLiteral, ExpressibleByStringLiteral {
    /// An object with its members in this order; those that are nil are left out.
    package init(dictionaryLiteral members: (String, JSONValue?)...) {
        self = .object(members.compactMap { name, value in value.map { Member(name, $0) } })
    }

    /// A text.
    package init(stringLiteral text: String) { self = .string(text) }

    /// An integer.
    package static func number(_ number: some BinaryInteger) -> JSONValue {
        .integer(Int64(number))
    }
}

/// The members of an object under construction; nil values are left out.
package struct JSONMembers: Sendable {
    /// In their order.
    package var all: [JSONValue.Member] = []

    /// Begins with none.
    package init() {}

    /// The object.
    package var value: JSONValue { .object(all) }

    /// Adds a member, unless the value is nil.
    package mutating func add(_ name: String, _ value: JSONValue?) {
        if let value { all.append(JSONValue.Member(name, value)) }
    }

    /// Adds a text, unless it is nil.
    package mutating func add(_ name: String, _ text: String?) {
        add(name, text.map { .string($0) })
    }

    /// Adds a number.
    package mutating func add(_ name: String, count: Int) { add(name, .integer(Int64(count))) }
}
