import JSONTree

/// The JSON text of an object that is put together member by member; what is nil is left out.
struct JSONObjectText {
    private var members: [UInt8] = []

    /// The text of the object so far.
    var bytes: [UInt8] { [UInt8(ascii: "{")] + members + [UInt8(ascii: "}")] }

    mutating func add(_ name: String, _ text: String?) {
        guard let text else { return }
        begin(name)
        appendJSONString(text, to: &members)
    }

    mutating func add(_ name: String, _ flag: Bool?) {
        if let flag { add(name, json: Array("\(flag)".utf8)) }
    }

    mutating func add(_ name: String, _ number: Int64?) {
        if let number { add(name, json: Array("\(number)".utf8)) }
    }

    mutating func add(_ name: String, _ texts: [String]) {
        var list: [UInt8] = [UInt8(ascii: "[")]
        for text in texts {
            if list.count > 1 { list.append(UInt8(ascii: ",")) }
            appendJSONString(text, to: &list)
        }
        add(name, json: list + [UInt8(ascii: "]")])
    }

    /// Adds a member whose value is JSON text already.
    mutating func add(_ name: String, json: some Collection<UInt8>) {
        begin(name)
        members += json
    }

    private mutating func begin(_ name: String) {
        if !members.isEmpty { members.append(UInt8(ascii: ",")) }
        appendJSONString(name, to: &members)
        members.append(UInt8(ascii: ":"))
    }
}

/// The parts of a JSON text, each as it was written.
enum JSONParts {
    /// The members of an object, in their order.
    ///
    /// - Throws: `JSONError` when it is none.
    static func members(
        of json: some Collection<UInt8>
    ) throws(JSONError) -> [(name: String, value: [UInt8])] {
        let json = Array(json)
        return try json.withBytes { (bytes) throws(JSONError) in
            var members: [(String, [UInt8])] = []
            var scanner = JSONScanner(bytes)
            try scanner.enterObject()
            while let name = try scanner.nextMember() {
                members.append((name, Array(json[try scanner.skipValue()])))
            }
            try scanner.expectEnd()
            return members
        }
    }

    /// The elements of an array, in their order.
    ///
    /// - Throws: `JSONError` when it is none.
    static func elements(of json: some Collection<UInt8>) throws(JSONError) -> [[UInt8]] {
        let json = Array(json)
        return try json.withBytes { (bytes) throws(JSONError) in
            var elements: [[UInt8]] = []
            var scanner = JSONScanner(bytes)
            try scanner.enterArray()
            while try scanner.nextElement() {
                elements.append(Array(json[try scanner.skipValue()]))
            }
            try scanner.expectEnd()
            return elements
        }
    }

    /// The text of a string, or of a number as it is written; nil for any other value.
    static func word(_ json: [UInt8]) -> String? {
        json.withBytes { bytes in
            var scanner = JSONScanner(bytes)
            do throws(JSONError) {
                switch try scanner.peek() {
                case UInt8(ascii: "\""): return try scanner.readString()
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    _ = try scanner.skipValue()
                    return String(decoding: json, as: UTF8.self)
                default: return nil
                }
            } catch {
                return nil
            }
        }
    }
}
