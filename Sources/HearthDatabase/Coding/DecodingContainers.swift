import JSONTree

/// Decodes members of a map.
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
        switch decoder.options.key {
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
        return NodeDecoding(node, codingPath + [key], decoder.options)
    }

    func decodeNil(forKey key: Key) throws -> Bool { child(key).isAbsent }

    func decode(_: Bool.Type, forKey key: Key) throws -> Bool { try at(key).boolean() }

    func decode(_: String.Type, forKey key: Key) throws -> String { try at(key).text() }

    func decode(_: Double.Type, forKey key: Key) throws -> Double { try at(key).double() }

    func decode(_: Float.Type, forKey key: Key) throws -> Float { Float(try at(key).double()) }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try at(key).integer(type) }

    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try at(key).integer(type) }

    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try at(key).integer(type) }

    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try at(key).integer(type) }

    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try at(key).integer(type) }

    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try at(key).integer(type) }

    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try at(key).integer(type) }

    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try at(key).integer(type) }

    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try at(key).integer(type) }

    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try at(key).integer(type) }

    func decode<Value: Decodable>(
        _ type: Value.Type,
        forKey key: Key,
    ) throws -> Value {
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
        NodeDecoding(
            child(NamedKey.superPart),
            codingPath + [NamedKey.superPart],
            decoder.options,
        )
    }

    func superDecoder(forKey key: Key) throws -> any Swift.Decoder {
        NodeDecoding(child(key), codingPath + [key], decoder.options)
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
        return NodeDecoding(
            node,
            codingPath + [NamedKey(intValue: currentIndex)],
            decoder.options,
        )
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

    mutating func decode(_: Bool.Type) throws -> Bool { try next().boolean() }

    mutating func decode(_: String.Type) throws -> String { try next().text() }

    mutating func decode(_: Double.Type) throws -> Double { try next().double() }

    mutating func decode(_: Float.Type) throws -> Float { Float(try next().double()) }

    mutating func decode(_ type: Int.Type) throws -> Int { try next().integer(type) }

    mutating func decode(_ type: Int8.Type) throws -> Int8 { try next().integer(type) }

    mutating func decode(_ type: Int16.Type) throws -> Int16 { try next().integer(type) }

    mutating func decode(_ type: Int32.Type) throws -> Int32 { try next().integer(type) }

    mutating func decode(_ type: Int64.Type) throws -> Int64 { try next().integer(type) }

    mutating func decode(_ type: UInt.Type) throws -> UInt { try next().integer(type) }

    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try next().integer(type) }

    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try next().integer(type) }

    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try next().integer(type) }

    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try next().integer(type) }

    mutating func decode<Value: Decodable>(
        _ type: Value.Type
    ) throws -> Value {
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

/// Decodes one value.
struct SingleValueDecoding: SingleValueDecodingContainer {
    let decoder: NodeDecoding
    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.node.isAbsent }

    func decode(_: Bool.Type) throws -> Bool { try decoder.boolean() }

    func decode(_: String.Type) throws -> String { try decoder.text() }

    func decode(_: Double.Type) throws -> Double { try decoder.double() }

    func decode(_: Float.Type) throws -> Float { Float(try decoder.double()) }

    func decode(_ type: Int.Type) throws -> Int { try decoder.integer(type) }

    func decode(_ type: Int8.Type) throws -> Int8 { try decoder.integer(type) }

    func decode(_ type: Int16.Type) throws -> Int16 { try decoder.integer(type) }

    func decode(_ type: Int32.Type) throws -> Int32 { try decoder.integer(type) }

    func decode(_ type: Int64.Type) throws -> Int64 { try decoder.integer(type) }

    func decode(_ type: UInt.Type) throws -> UInt { try decoder.integer(type) }

    func decode(_ type: UInt8.Type) throws -> UInt8 { try decoder.integer(type) }

    func decode(_ type: UInt16.Type) throws -> UInt16 { try decoder.integer(type) }

    func decode(_ type: UInt32.Type) throws -> UInt32 { try decoder.integer(type) }

    func decode(_ type: UInt64.Type) throws -> UInt64 { try decoder.integer(type) }

    func decode<Value: Decodable>(
        _ type: Value.Type
    ) throws -> Value {
        try decoder.decode(type)
    }
}
