extension Database {
    /// Makes of an `Encodable` value one that can be written.
    public typealias Encoder = DatabaseEncoder
    /// Makes of what is in a database a `Decodable` value.
    public typealias Decoder = DatabaseDecoder
}

extension DataSnapshot {
    /// What is there as a value of this type.
    ///
    /// - Parameters:
    ///   - type: The type; an optional one for what may not be there.
    ///   - decoder: Makes the value.
    /// - Returns: The value.
    /// - Throws: `DecodingError`, and what the type's own functions throw.
    public func data<Value: Decodable>(
        as type: Value.Type,
        decoder: Database.Decoder = Database.Decoder(),
    ) throws -> Value {
        try decoder.decode(type, from: node)
    }
}

extension DatabaseReference {
    /// Replaces what is at this place by a value of any `Encodable` type.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - encoder: Makes of it what is written.
    ///   - completion: Told when the server has it or has refused it.
    /// - Throws: `EncodingError`, and what the value's own functions throw.
    public func setValue<Value: Encodable>(
        from value: Value,
        encoder: Database.Encoder = Database.Encoder(),
        completion: (((any Error)?) -> Void)? = nil,
    ) throws {
        let encoded = try encoder.encode(value)
        guard let completion else { return setValue(encoded) }
        setValue(encoded) { error, _ in completion(error) }
    }
}

extension MutableData {
    /// What is there as a value of this type, as `DataSnapshot.data(as:)` gives it.
    ///
    /// - Parameters:
    ///   - type: The type; an optional one for what may not be there.
    ///   - decoder: Makes the value.
    /// - Returns: The value.
    /// - Throws: `DecodingError`, and what the type's own functions throw.
    public func data<Value: Decodable>(
        as type: Value.Type,
        decoder: Database.Decoder = Database.Decoder(),
    ) throws -> Value {
        try decoder.decode(type, from: node)
    }
}
