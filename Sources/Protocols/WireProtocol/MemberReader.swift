import JSONTree

/// Why reading a message stopped.
enum ReadingStop: Error {
    /// The text is not JSON, or a value in it cannot be stored.
    case json(JSONError)
    /// There is no request to answer.
    case envelope(MessageError)
    /// The request can be refused with this text.
    case body(String)
}

/// Reads the members of objects, telling a wrong type from bad JSON.
///
/// Functions that return an optional return nil, consuming nothing, when the next value is of another type.
struct MemberReader {
    private var scanner: JSONScanner

    /// The offset in the whole message at which this reader's text starts.
    private let base: Int

    /// Reads `range` of `message`, which holds one value.
    init(_ message: Bytes, _ range: Range<Int>) {
        scanner = JSONScanner(message.slice(range))
        base = range.lowerBound
    }

    /// Consumes `{`; false when the next value is not an object.
    mutating func enterObject() throws(ReadingStop) -> Bool {
        guard try nextByte() == UInt8(ascii: "{") else { return false }
        do { try scanner.enterObject() } catch { throw stop(error) }
        return true
    }

    /// Consumes the next member's name; nil after consuming `}`.
    mutating func nextMember() throws(ReadingStop) -> String? {
        do { return try scanner.nextMember() } catch { throw stop(error) }
    }

    /// Consumes `[`; false when the next value is not an array.
    mutating func enterArray() throws(ReadingStop) -> Bool {
        guard try nextByte() == UInt8(ascii: "[") else { return false }
        do { try scanner.enterArray() } catch { throw stop(error) }
        return true
    }

    /// Goes to the next element; false after consuming `]`.
    mutating func nextElement() throws(ReadingStop) -> Bool {
        do { return try scanner.nextElement() } catch { throw stop(error) }
    }

    /// Consumes the next member's name, which is one of a few; nil after consuming `}`.
    mutating func nextName() throws(ReadingStop) -> MemberName? {
        do { return try scanner.nextName() } catch { throw stop(error) }
    }

    /// Passes over a value and says where in the message it lies.
    mutating func skip() throws(ReadingStop) -> Range<Int> {
        do {
            let range = try scanner.skipValue()
            return base + range.lowerBound..<base + range.upperBound
        } catch {
            throw stop(error)
        }
    }

    /// Checks that nothing follows.
    mutating func expectEnd() throws(ReadingStop) {
        do { try scanner.expectEnd() } catch { throw stop(error) }
    }

    /// Reads a string.
    mutating func string() throws(ReadingStop) -> String? {
        guard try nextByte() == UInt8(ascii: "\"") else { return nil }
        do { return try scanner.readString() } catch { throw stop(error) }
    }

    /// Reads a boolean.
    mutating func boolean() throws(ReadingStop) -> Bool? {
        let byte = try nextByte()
        guard byte == UInt8(ascii: "t") || byte == UInt8(ascii: "f") else { return nil }
        do { return try scanner.readBoolean() } catch { throw stop(error) }
    }

    /// Reads a number that is whole and fits 64 bits. A number that is not is consumed.
    mutating func integer() throws(ReadingStop) -> Int64? {
        guard try Self.startsNumber(nextByte()) else { return nil }
        do { return try scanner.readInteger() } catch { throw stop(error) }
    }

    /// Reads null; false when the next value is another.
    mutating func null() throws(ReadingStop) -> Bool {
        guard try nextByte() == UInt8(ascii: "n") else { return false }
        do { try scanner.readNull() } catch { throw stop(error) }
        return true
    }

    /// Reads a scalar or null, and says where in the message it lies.
    mutating func scalar() throws(ReadingStop) -> (node: Node, range: Range<Int>)? {
        let byte = try nextByte()
        if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") { return nil }
        let start = base + scanner.offset
        do {
            let node = try scanner.readNode(anyKeys: false)
            return (node, start..<base + scanner.offset)
        } catch {
            throw stop(error)
        }
    }

    /// Reads an object whose keys mean nothing to the tree.
    mutating func freeObject() throws(ReadingStop) -> Node? {
        guard try nextByte() == UInt8(ascii: "{") else { return nil }
        do { return try scanner.readNode(anyKeys: true) } catch { throw stop(error) }
    }

    /// Reads a value as writes carry it.
    mutating func draft() throws(ReadingStop) -> Draft {
        do { return try scanner.readDraft() } catch { throw stop(error) }
    }

    private mutating func nextByte() throws(ReadingStop) -> UInt8 {
        do { return try scanner.peek() } catch { throw stop(error) }
    }

    private func stop(_ error: JSONError) -> ReadingStop {
        .json(JSONError(error.reason, offset: base + error.offset))
    }

    private static func startsNumber(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
