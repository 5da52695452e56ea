import Foundation

struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: ValueEncoding
    var codingPath: [any CodingKey] { encoder.codingPath }

    private func at(_ key: any CodingKey) -> ValueEncoding {
        encoder.part(encoder.target.member(encoder.key(key)), at: key)
    }

    mutating func encodeNil(forKey key: Key) throws { at(key).target.set(NSNull()) }

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

struct UnkeyedEncoding: UnkeyedEncodingContainer {
    let encoder: ValueEncoding
    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.target.count }

    private func next() -> ValueEncoding {
        let key = NamedKey(intValue: count)
        return encoder.part(encoder.target.append(), at: key)
    }

    mutating func encodeNil() throws { next().target.set(NSNull()) }

    mutating func encode<Value: Encodable>(_ value: Value) throws { try next().encode(value) }

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

struct SingleValueEncoding: SingleValueEncodingContainer {
    let encoder: ValueEncoding
    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() throws { encoder.target.set(NSNull()) }

    func encode<Value: Encodable>(_ value: Value) throws { try encoder.encode(value) }
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
    /// Adds `_` before each capitalised word, and makes it lower case.
    static func snake(_ text: String) -> String {
        var words: [String] = []
        var word = ""
        let characters = Array(text)
        for (index, character) in characters.enumerated() {
            let isAfterSmall = index > 0 && !characters[index - 1].isUppercase
            let isBeforeSmall = index + 1 < characters.count && characters[index + 1].isLowercase
            if character.isUppercase, !word.isEmpty, isAfterSmall || isBeforeSmall {
                words.append(word)
                word = ""
            }
            word += character.lowercased()
        }
        return (words + [word]).joined(separator: "_")
    }

    /// Removes the `_` between words and capitalises each word but the first.
    static func camel(_ text: String) -> String {
        let first = text.firstIndex { $0 != "_" } ?? text.endIndex
        let last = text.lastIndex { $0 != "_" }.map { text.index(after: $0) } ?? text.endIndex
        if first >= last { return text }
        let words = text[first..<last].split(separator: "_")
        guard words.count > 1, let head = words.first else { return text }
        let tail = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst().lowercased() }
        return String(text[..<first]) + head.lowercased() + tail.joined() + String(text[last...])
    }
}
