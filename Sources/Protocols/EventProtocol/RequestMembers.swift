import JSONTree
import Queries
import WireProtocol

/// The members of one request, found where they lie in the frame and read when they are needed.
struct RequestMembers {
    /// Every member that some request has.
    enum Name: String, CaseIterable {
        case id, path, token, events, query, export, outline, observer, value, update, cancel,
            ifMatch,
            index
        case action = "do"
    }

    private let frame: Bytes
    private var ranges: [Name: Range<Int>] = [:]

    /// A fault of the names of members: the first that is unknown or given twice.
    private var nameFault: EventError?

    init(frame: Bytes) {
        self.frame = frame
    }

    /// Passes over the whole frame; false when it is not an object.
    ///
    /// - Throws: `JSONError` for text that is not JSON.
    mutating func find() throws(JSONError) -> Bool {
        var scanner = JSONScanner(frame)
        guard try scanner.peek() == UInt8(ascii: "{") else {
            _ = try scanner.skipValue()
            try scanner.expectEnd()
            return false
        }
        try scanner.enterObject()
        while let text = try scanner.nextMember() {
            let name = Name(rawValue: text)
            let range = try scanner.skipValue()
            if let name, ranges.updateValue(range, forKey: name) == nil { continue }
            if nameFault != nil { continue }
            nameFault = EventError(
                .badRequest,
                name == nil
                    ? "Unknown member \(FaultText.quoted(text))."
                    : "\(FaultText.quoted(text)) is given twice."
            )
        }
        try scanner.expectEnd()
        return true
    }

    /// The request's id if it is readable, also when the rest is invalid.
    var knownID: Int64? { integer(.id) }

    /// The request's id.
    func id() throws(EventError) -> Int64 {
        if let id = knownID { return id }
        throw EventError(
            .badRequest,
            ranges[.id] == nil ? #""id" is missing."# : #""id" must be a whole number of 64 bits."#
        )
    }

    /// The name of the action.
    func action() throws(EventError) -> String {
        if let nameFault { throw nameFault }
        return try string(.action)
    }

    /// Checks that there are no members besides these, `id` and `do`.
    func expect(only names: Name..., in action: String) throws(EventError) {
        // In the order of their declaration, since that of a dictionary is another each time.
        for name in Name.allCases where ranges[name] != nil {
            if name == .id || name == .action || names.contains(name) { continue }
            throw EventError(
                .badRequest,
                "\(FaultText.quoted(name.rawValue)) is no member of \(FaultText.quoted(action))."
            )
        }
    }

    /// Whether the member exists.
    func has(_ name: Name) -> Bool { ranges[name] != nil }

    /// The bytes of a member's value, and the offset of the first in the frame.
    func text(_ name: Name) throws(EventError) -> (bytes: Bytes, offset: Int) {
        guard let range = ranges[name] else {
            throw EventError(.badRequest, "\(FaultText.quoted(name.rawValue)) is missing.")
        }
        return (frame.slice(range), range.lowerBound)
    }

    /// A member that must be a string.
    func string(_ name: Name) throws(EventError) -> String {
        let (bytes, _) = try text(name)
        do throws(JSONError) {
            var scanner = JSONScanner(bytes)
            return try scanner.readString()
        } catch {
            // The frame is JSON, so it is a value of another type.
            throw EventError(.badRequest, "\(FaultText.quoted(name.rawValue)) must be a string.")
        }
    }

    /// A member that is a whole number of 64 bits, else nil.
    func integer(_ name: Name) -> Int64? {
        guard let range = ranges[name] else { return nil }
        let byte = frame[range.lowerBound]
        let isNumber = byte == UInt8(ascii: "-") || (0x30...0x39).contains(byte)
        if !isNumber { return nil }
        do throws(JSONError) {
            var scanner = JSONScanner(frame.slice(range))
            return try scanner.readInteger()
        } catch {
            preconditionFailure("a number that was passed over is one")
        }
    }

    /// A member that must be true or false; false when it is not there.
    func flag(_ name: Name) throws(EventError) -> Bool {
        guard let range = ranges[name] else { return false }
        let bytes = frame.slice(range)
        if bytes.elementsEqual("true".utf8) { return true }
        if bytes.elementsEqual("false".utf8) { return false }
        throw EventError(.badRequest, "\(FaultText.quoted(name.rawValue)) must be true or false.")
    }
}
