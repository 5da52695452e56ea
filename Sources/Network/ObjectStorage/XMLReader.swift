/// An element of an answer: its name, and either text or elements.
struct XMLElement: Equatable {
    let name: String
    /// All of its own text, without what is around elements.
    var text = ""
    var children: [XMLElement] = []

    /// The first element of a name.
    func child(_ name: String) -> XMLElement? { children.first { $0.name == name } }

    /// The text of the first element of a name.
    func text(of name: String) -> String? { child(name)?.text }
}

/// Why an answer is not the XML that stores write.
struct XMLFault: Error, Equatable {
    let reason: String
    let offset: Int
}

/// Reads the XML that stores answer with, and no more of the language than they use.
///
///     <?xml version="1.0" encoding="UTF-8"?>
///     <Error><Code>NoSuchKey</Code><Message>…</Message></Error>
///
/// Takes a declaration, elements, attributes (which it drops), text, the five named entities and those of characters.
/// Refuses all else, such as document types, comments and sections of raw text, and what is deeper or larger than any answer.
struct XMLReader {
    /// Elements within each other; a list has four.
    static let depthLimit = 16
    /// Elements in all; a list of 1,000 objects has about 10,000.
    static let elementLimit = 100_000

    private let bytes: [UInt8]
    private var offset = 0
    private var elementCount = 0

    /// The one element of `bytes`.
    static func read(_ bytes: [UInt8]) throws(XMLFault) -> XMLElement {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw XMLFault(reason: "is not UTF-8", offset: 0)
        }
        var reader = XMLReader(bytes)
        reader.skip(Array("\u{FEFF}".utf8))
        reader.skipSpace()
        if reader.skip(Array("<?xml".utf8)) {
            guard reader.skipPast(Array("?>".utf8)) else { throw reader.fault("ends early") }
        }
        reader.skipSpace()
        let root = try reader.element(depth: 1)
        reader.skipSpace()
        guard reader.offset == bytes.count else { throw reader.fault("has more than one element") }
        return root
    }

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    private mutating func element(depth: Int) throws(XMLFault) -> XMLElement {
        elementCount += 1
        guard depth <= Self.depthLimit else { throw fault("is too deep") }
        guard elementCount <= Self.elementLimit else { throw fault("has too many elements") }
        guard skip([UInt8(ascii: "<")]) else { throw fault("must begin with an element") }
        var element = XMLElement(name: try name())
        guard try !attributes() else { return element }
        var text: [UInt8] = []
        while let byte = peek() {
            if byte != UInt8(ascii: "<") {
                try appendCharacter(to: &text)
            } else if skip(Array("</".utf8)) {
                guard try name() == element.name else { throw fault("closes another element") }
                skipSpace()
                guard skip([UInt8(ascii: ">")]) else { throw fault("has a broken end") }
                // Between elements there is white space only.
                guard element.children.isEmpty || text.allSatisfy(Self.isSpace) else {
                    throw fault("has text between elements")
                }
                if element.children.isEmpty { element.text = String(decoding: text, as: UTF8.self) }
                return element
            } else {
                element.children.append(try self.element(depth: depth + 1))
            }
        }
        throw fault("ends early")
    }

    /// Skips attributes and the end of a start tag; whether the element ends there.
    private mutating func attributes() throws(XMLFault) -> Bool {
        while true {
            skipSpace()
            if skip(Array("/>".utf8)) { return true }
            if skip([UInt8(ascii: ">")]) { return false }
            _ = try name()
            skipSpace()
            guard skip([UInt8(ascii: "=")]) else { throw fault("has a broken attribute") }
            skipSpace()
            guard let quote = peek(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'")
            else {
                throw fault("has an attribute without quotes")
            }
            offset += 1
            while let byte = peek(), byte != quote, byte != UInt8(ascii: "<") { offset += 1 }
            guard peek() == quote else { throw fault("has an attribute without an end") }
            offset += 1
        }
    }

    private mutating func name() throws(XMLFault) -> String {
        let start = offset
        while let byte = peek(), Self.isNameByte(byte) { offset += 1 }
        guard offset > start, !(UInt8(ascii: "-")...UInt8(ascii: "9")).contains(bytes[start]) else {
            throw fault("has an element or mark that stores do not use")
        }
        return String(decoding: bytes[start..<offset], as: UTF8.self)
    }

    private mutating func appendCharacter(to text: inout [UInt8]) throws(XMLFault) {
        guard bytes[offset] == UInt8(ascii: "&") else {
            text.append(bytes[offset])
            offset += 1
            return
        }
        let rest = bytes[(offset + 1)...].prefix(12)
        guard let end = rest.firstIndex(of: UInt8(ascii: ";")) else {
            throw fault("has an entity without an end")
        }
        let entity = String(decoding: bytes[(offset + 1)..<end], as: UTF8.self)
        guard let scalar = Self.scalar(entity) else { throw fault("has an unknown entity") }
        text += Array(String(scalar).utf8)
        offset = end + 1
    }

    private static func scalar(_ entity: String) -> UnicodeScalar? {
        switch entity {
        case "lt": "<"
        case "gt": ">"
        case "amp": "&"
        case "quot": "\""
        case "apos": "'"
        default:
            if entity.hasPrefix("#x") {
                number(entity.dropFirst(2), radix: 16)
            } else if entity.hasPrefix("#") {
                number(entity.dropFirst(), radix: 10)
            } else {
                nil
            }
        }
    }

    private static func number(_ digits: Substring, radix: Int) -> UnicodeScalar? {
        guard digits.first?.isHexDigit == true else { return nil }
        return UInt32(digits, radix: radix).flatMap { $0 == 0 ? nil : UnicodeScalar($0) }
    }

    private func peek() -> UInt8? { offset < bytes.count ? bytes[offset] : nil }

    @discardableResult
    private mutating func skip(_ part: [UInt8]) -> Bool {
        guard bytes[offset...].starts(with: part) else { return false }
        offset += part.count
        return true
    }

    private mutating func skipPast(_ part: [UInt8]) -> Bool {
        while offset < bytes.count {
            if skip(part) { return true }
            offset += 1
        }
        return false
    }

    private mutating func skipSpace() {
        while let byte = peek(), Self.isSpace(byte) { offset += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        let lower = byte | 0x20
        return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lower) || byte >= 0x80
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || [UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":")]
                .contains(byte)
    }

    private func fault(_ reason: String) -> XMLFault { XMLFault(reason: reason, offset: offset) }
}
