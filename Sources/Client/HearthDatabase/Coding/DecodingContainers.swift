import JSONTree

struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let decoder: NodeDecoding
    /// The database's keys by those that the type knows, where a strategy changes them.
    private let converted: [String: JSONTree.Key]?

    init(_ decoder: NodeDecoding) {
        self.decoder = decoder
        converted = decoder.keepsKeys ? nil : Self.converted(decoder)
    }

    private static func converted(_ decoder: NodeDecoding) -> [String: JSONTree.Key]? {
        let convert: (String) -> String
        switch decoder.strategies.keyDecodingStrategy {
        case .useDefaultKeys: return nil
        case .convertFromSnakeCase: convert = SnakeCase.camel
        case .custom(let custom):
            convert = { custom(decoder.codingPath + [NamedKey(stringValue: $0)]).stringValue }
        }
        var keys: [String: JSONTree.Key] = [:]
        decoder.node.visitChildren { bytes, _ in
            // Of two keys that become the same the first one in order counts.
            let text = convert(bytes.string)
            if keys[text] == nil { keys[text] = JSONTree.Key(bytes) }
            return true
        }
        return keys
    }

    var codingPath: [any CodingKey] { decoder.codingPath }

    var allKeys: [Key] {
        if let converted { return converted.keys.sorted().compactMap { Key(stringValue: $0) } }
        var keys: [Key] = []
        decoder.node.visitChildren { bytes, _ in
            if let key = Key(stringValue: bytes.string) { keys.append(key) }
            return true
        }
        return keys
    }

    func contains(_ key: Key) -> Bool { !child(key).isAbsent }

    private func child(_ key: any CodingKey) -> Node {
        if let converted {
            return converted[key.stringValue].map { decoder.node.child($0) } ?? .absent
        }
        return Array(key.stringValue.utf8).withBytes { decoder.node.child($0) }
    }

    private func at(_ key: Key) throws -> NodeDecoding {
        let node = child(key)
        guard !node.isAbsent else {
            throw DecodingError.keyNotFound(
                key,
                DecodingError.Context(codingPath: codingPath, debugDescription: "nothing is there")
            )
        }
        return decoder.part(node, at: key)
    }

    func decodeNil(forKey key: Key) throws -> Bool { child(key).isAbsent }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try at(key).decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key,
    ) throws -> KeyedDecodingContainer<Nested> {
        try at(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try at(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Swift.Decoder {
        let key = NamedKey.superPart
        return decoder.part(child(key), at: key)
    }

    func superDecoder(forKey key: Key) throws -> any Swift.Decoder {
        decoder.part(child(key), at: key)
    }
}

/// Decodes elements of a list; gaps are nil.
struct UnkeyedDecoding: UnkeyedDecodingContainer {
    private let decoder: NodeDecoding
    private let elementCount: Int
    private(set) var currentIndex = 0

    init(_ decoder: NodeDecoding, count: Int) {
        self.decoder = decoder
        elementCount = count
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { elementCount }
    var isAtEnd: Bool { currentIndex >= elementCount }

    private var element: NodeDecoding {
        let node = Array("\(currentIndex)".utf8).withBytes { decoder.node.child($0) }
        return decoder.part(node, at: NamedKey(intValue: currentIndex))
    }

    private mutating func next() throws -> NodeDecoding {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                Any.self,
                DecodingError.Context(codingPath: codingPath, debugDescription: "the list ends")
            )
        }
        defer { currentIndex += 1 }
        return element
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, element.node.isAbsent else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try next().decode(type)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Swift.Decoder { try next() }
}

struct SingleValueDecoding: SingleValueDecodingContainer {
    let decoder: NodeDecoding
    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.node.isAbsent }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.decode(type) }
}
