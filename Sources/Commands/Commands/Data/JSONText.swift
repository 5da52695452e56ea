import JSONTree

/// The parts of a JSON text, in their original form.
enum JSONParts {
    /// The members of an object, in their order.
    static func members(of json: [UInt8]) throws(JSONError) -> [(name: String, value: [UInt8])] {
        try JSONScanner.whole(json) { (scanner) throws(JSONError) in
            var members: [(String, [UInt8])] = []
            try scanner.enterObject()
            while let name = try scanner.nextMember() {
                members.append((name, Array(json[try scanner.skipValue()])))
            }
            return members
        }
    }

    /// The elements of an array, in their order.
    static func elements(of json: [UInt8]) throws(JSONError) -> [[UInt8]] {
        try JSONScanner.whole(json) { (scanner) throws(JSONError) in
            var elements: [[UInt8]] = []
            try scanner.enterArray()
            while try scanner.nextElement() {
                elements.append(Array(json[try scanner.skipValue()]))
            }
            return elements
        }
    }

    /// The text of a string, or of a number as it is written; nil for any other value.
    static func word(_ json: [UInt8]) -> String? {
        guard let value = Node(answer: json) else { return nil }
        return value.kind == .number ? String(decoding: json, as: UTF8.self) : value.string
    }
}

extension Node {
    /// The tree of an answer; nil when that is not JSON.
    init?(answer body: [UInt8]) {
        do throws(JSONError) { self = try .readingAnyJSON(body) } catch { return nil }
    }

    /// The elements of a list, or the children in key order.
    var elements: [Node] {
        var elements: [Node] = []
        visitChildren { _, child in
            elements.append(child)
            return true
        }
        return elements
    }
}
