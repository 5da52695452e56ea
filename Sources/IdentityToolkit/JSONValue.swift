import JSONTree

/// A JSON value that is written: members keep their order, and what is empty is written too.
package indirect enum JSONValue: Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case string(String)
    case list([JSONValue])
    case object([Member])
    /// JSON text that somebody else has checked.
    case raw([UInt8])

    package struct Member: Sendable {
        package let name: String
        package let value: JSONValue

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

    private func append(to out: inout [UInt8]) {
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

/// The members of an object that is put together; what is nil is left out.
package struct JSONMembers: Sendable {
    package internal(set) var all: [JSONValue.Member] = []

    package init() {}

    package var value: JSONValue { .object(all) }

    /// The text of a member; nil for anything else.
    package func text(_ name: String) -> String? {
        if case .string(let text) = all.first(where: { $0.name == name })?.value {
            text
        } else {
            nil
        }
    }

    /// The elements of a member that is a list; 0 for anything else.
    package func count(_ name: String) -> Int {
        if case .list(let list) = all.first(where: { $0.name == name })?.value {
            list.count
        } else {
            0
        }
    }

    package mutating func add(_ name: String, _ value: JSONValue?) {
        if let value { all.append(JSONValue.Member(name, value)) }
    }

    package mutating func add(_ name: String, _ text: String?) {
        add(name, text.map { .string($0) })
    }
}
