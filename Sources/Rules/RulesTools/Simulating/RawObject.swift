package import JSONTree
import SecurityRules
import WireProtocol

/// The members of a JSON object with their positions in the text.
///
/// Borrows the text: its owner keeps it alive while the object is used.
package struct RawObject {
    /// One `"name": value`.
    package struct Member {
        package let name: String
        /// Of the quote before the name.
        package let nameOffset: Int
        package let value: RawValue
    }

    /// Of the opening brace.
    package let offset: Int
    /// In the order of the text.
    package let members: [Member]

    /// Reads the object that a value is; `what` names it in a message, such as `The body`.
    ///
    /// - Throws: `InputFault` when it is not an object, or repeats a name.
    package init(_ value: RawValue, what: String) throws(InputFault) {
        guard value.kind == .object else {
            throw InputFault(value.offset, "\(what) must be an object.")
        }
        offset = value.offset
        var members: [Member] = []
        var seen: Set<String> = []
        var scanner = JSONScanner(value.bytes)
        do throws(JSONError) {
            try scanner.enterObject()
            while true {
                let behind = scanner.offset
                guard let name = try scanner.nextMember() else { break }
                // Between a value and the name after it there are only a comma and white space.
                let quote = value.bytes[behind...].firstIndex(of: 0x22) ?? behind
                let range = try scanner.skipValue()
                let member = Member(
                    name: name,
                    nameOffset: value.offset + quote,
                    value: RawValue(
                        bytes: value.bytes.slice(range),
                        offset: value.offset + range.lowerBound
                    )
                )
                members.append(member)
            }
        } catch {
            throw value.fault(error, "\(what) is not as expected")
        }
        for member in members where !seen.insert(member.name).inserted {
            throw InputFault(member.nameOffset, "'\(member.name)' is given twice.")
        }
        self.members = members
    }

    /// The value of a member; nil when it is not there.
    package subscript(name: String) -> RawValue? { members.first { $0.name == name }?.value }

    /// Refuses a member that is not in `known`: a misspelt one would silently test something else.
    package func check(_ known: [String], in what: String) throws(InputFault) {
        for member in members where !known.contains(member.name) {
            let near = Spelling.nearest(to: member.name, among: known)
            let name = String(member.name.unicodeScalars.prefix(64))
            throw InputFault(
                member.nameOffset,
                "Unknown member '\(name)' in \(what).",
                near.map { "Did you mean '\($0)'?" }
                    ?? "Known are " + known.joined(separator: ", ") + "."
            )
        }
    }
}

/// A JSON value in a text.
package struct RawValue {
    package enum Kind {
        case object, array, string, number, boolean, null
    }

    /// The value's own text.
    package let bytes: Bytes
    /// Where it begins in the whole text.
    package let offset: Int
}

extension RawValue {
    /// The one value of a text.
    ///
    /// - Throws: `InputFault` when the text is no JSON.
    package init(whole text: Bytes, what: String) throws(InputFault) {
        var scanner = JSONScanner(text)
        do throws(JSONError) {
            let range = try scanner.skipValue()
            try scanner.expectEnd()
            self.init(bytes: text.slice(range), offset: range.lowerBound)
        } catch {
            throw RawValue(bytes: text, offset: 0).fault(error, "\(what) is no JSON")
        }
    }

    /// What its first byte says it is; the text of a value is never empty.
    package var kind: Kind {
        switch bytes[0] {
        case 0x7B: .object
        case 0x5B: .array
        case 0x22: .string
        case 0x74, 0x66: .boolean
        case 0x6E: .null
        default: .number
        }
    }

    /// What a reader of this value found wrong in it.
    func fault(_ error: JSONError, _ what: String) -> InputFault {
        InputFault(offset + error.offset, "\(what): \(FaultText.json(error.reason)).")
    }

    /// Reads the value with a scanner of its own.
    ///
    /// - Throws: `InputFault` with what the scanner refuses.
    package func read<T>(
        _ what: String,
        _ body: (inout JSONScanner) throws(JSONError) -> T
    ) throws(InputFault) -> T {
        var scanner = JSONScanner(bytes)
        do throws(JSONError) { return try body(&scanner) } catch { throw fault(error, what) }
    }

    /// The text of a string.
    ///
    /// - Throws: `InputFault` when it is none.
    package func string(_ name: String) throws(InputFault) -> String {
        guard kind == .string else {
            throw InputFault(offset, "'\(name)' must be a string.")
        }
        return try read("'\(name)' is no string") { (scanner) throws(JSONError) in
            try scanner.readString()
        }
    }

    /// The elements of a list.
    ///
    /// - Throws: `InputFault` when it is none.
    package func elements(_ name: String) throws(InputFault) -> [RawValue] {
        guard kind == .array else {
            throw InputFault(offset, "'\(name)' must be a list.")
        }
        return try read("'\(name)' is no list") { (scanner) throws(JSONError) in
            var elements: [RawValue] = []
            try scanner.enterArray()
            while try scanner.nextElement() {
                let range = try scanner.skipValue()
                let value = RawValue(bytes: bytes.slice(range), offset: offset + range.lowerBound)
                elements.append(value)
            }
            return elements
        }
    }
}
