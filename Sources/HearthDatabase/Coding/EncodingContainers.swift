import Foundation

/// Encodes members of a map.
struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: ValueEncoding
    var codingPath: [any CodingKey] { encoder.codingPath }

    private func at(_ key: any CodingKey) -> ValueEncoding {
        ValueEncoding(
            encoder.target.member(encoder.key(key)),
            codingPath + [key],
            encoder.options,
        )
    }

    mutating func encodeNil(forKey key: Key) throws { at(key).target.set(NSNull()) }

    mutating func encode(_ value: Bool, forKey key: Key) throws { at(key).target.set(value) }

    mutating func encode(_ value: String, forKey key: Key) throws { at(key).target.set(value) }

    mutating func encode(_ value: Int, forKey key: Key) throws { at(key).target.set(value) }

    mutating func encode(_ value: Int8, forKey key: Key) throws { at(key).target.set(value) }

    mutating func encode(_ value: Int16, forKey key: Key) throws { at(key).target.set(value) }

    mutating func encode(_ value: Int32, forKey key: Key) throws { at(key).target.set(value) }

    mutating func encode(_ value: Int64, forKey key: Key) throws { at(key).target.set(value) }

    mutating func encode(_ value: UInt, forKey key: Key) throws { at(key).target.set(value) }

    mutating func encode(_ value: UInt8, forKey key: Key) throws { at(key).target.set(value) }

    mutating func encode(_ value: UInt16, forKey key: Key) throws { at(key).target.set(value) }

    mutating func encode(_ value: UInt32, forKey key: Key) throws { at(key).target.set(value) }

    mutating func encode(_ value: UInt64, forKey key: Key) throws { at(key).target.set(value) }

    mutating func encode(_ value: Double, forKey key: Key) throws {
        try at(key).encode(double: value)
    }

    mutating func encode(_ value: Float, forKey key: Key) throws {
        try at(key).encode(double: Double(value))
    }

    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try at(key).encode(value)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key,
    ) -> KeyedEncodingContainer<Nested> {
        at(key).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        at(key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Swift.Encoder { at(NamedKey.superPart) }

    mutating func superEncoder(forKey key: Key) -> any Swift.Encoder { at(key) }
}

/// Encodes elements of a list.
struct UnkeyedEncoding: UnkeyedEncodingContainer {
    let encoder: ValueEncoding
    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.target.count }

    private func next() -> ValueEncoding {
        let path = codingPath + [NamedKey(intValue: count)]
        return ValueEncoding(encoder.target.append(), path, encoder.options)
    }

    mutating func encodeNil() throws { next().target.set(NSNull()) }

    mutating func encode(_ value: Bool) throws { next().target.set(value) }

    mutating func encode(_ value: String) throws { next().target.set(value) }

    mutating func encode(_ value: Int) throws { next().target.set(value) }

    mutating func encode(_ value: Int8) throws { next().target.set(value) }

    mutating func encode(_ value: Int16) throws { next().target.set(value) }

    mutating func encode(_ value: Int32) throws { next().target.set(value) }

    mutating func encode(_ value: Int64) throws { next().target.set(value) }

    mutating func encode(_ value: UInt) throws { next().target.set(value) }

    mutating func encode(_ value: UInt8) throws { next().target.set(value) }

    mutating func encode(_ value: UInt16) throws { next().target.set(value) }

    mutating func encode(_ value: UInt32) throws { next().target.set(value) }

    mutating func encode(_ value: UInt64) throws { next().target.set(value) }

    mutating func encode(_ value: Double) throws { try next().encode(double: value) }

    mutating func encode(_ value: Float) throws {
        try next().encode(double: Double(value))
    }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        try next().encode(value)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        next().unkeyedContainer()
    }

    mutating func superEncoder() -> any Swift.Encoder { next() }
}

/// Encodes one value.
struct SingleValueEncoding: SingleValueEncodingContainer {
    let encoder: ValueEncoding
    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() throws { encoder.target.set(NSNull()) }

    func encode(_ value: Bool) throws { encoder.target.set(value) }

    func encode(_ value: String) throws { encoder.target.set(value) }

    func encode(_ value: Int) throws { encoder.target.set(value) }

    func encode(_ value: Int8) throws { encoder.target.set(value) }

    func encode(_ value: Int16) throws { encoder.target.set(value) }

    func encode(_ value: Int32) throws { encoder.target.set(value) }

    func encode(_ value: Int64) throws { encoder.target.set(value) }

    func encode(_ value: UInt) throws { encoder.target.set(value) }

    func encode(_ value: UInt8) throws { encoder.target.set(value) }

    func encode(_ value: UInt16) throws { encoder.target.set(value) }

    func encode(_ value: UInt32) throws { encoder.target.set(value) }

    func encode(_ value: UInt64) throws { encoder.target.set(value) }

    func encode(_ value: Double) throws { try encoder.encode(double: value) }

    func encode(_ value: Float) throws {
        try encoder.encode(double: Double(value))
    }

    func encode<Value: Encodable>(_ value: Value) throws {
        try encoder.encode(value)
    }
}

/// A key made of any text or index.
struct NamedKey: CodingKey {
    static let superPart = NamedKey(stringValue: "super")

    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "\(intValue)"
        self.intValue = intValue
    }
}

/// `fromCamelCase` and `to_snake_case`, as Foundation's coders convert keys.
enum SnakeCase {
    /// Puts `_` before each word that begins with a capital, and takes the capitals away.
    static func snake(_ text: String) -> String {
        var words: [String] = []
        var word = ""
        let letters = Array(text)
        for (index, letter) in letters.enumerated() {
            let isAfterSmall = index > 0 && !letters[index - 1].isUppercase
            let isBeforeSmall = index + 1 < letters.count && letters[index + 1].isLowercase
            if letter.isUppercase, !word.isEmpty, isAfterSmall || isBeforeSmall {
                words.append(word)
                word = ""
            }
            word += letter.lowercased()
        }
        return (words + [word]).joined(separator: "_")
    }

    /// Takes the `_` between words away and makes the words' first letters capitals, but the first's.
    static func camel(_ text: String) -> String {
        let first = text.firstIndex { $0 != "_" } ?? text.endIndex
        let last = text.lastIndex { $0 != "_" }.map { text.index(after: $0) } ?? text.endIndex
        if first >= last { return text }
        let words = text[first..<last].split(separator: "_")
        guard words.count > 1, let head = words.first else { return text }
        let tail = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst().lowercased() }
        return String(text[..<first]) + head.lowercased() + tail.joined()
            + String(text[last...])
    }
}
