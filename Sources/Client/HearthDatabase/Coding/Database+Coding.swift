extension Database {
    /// Makes of an `Encodable` value one that can be written.
    public typealias Encoder = DatabaseEncoder
    /// Converts database values to `Decodable` values.
    public typealias Decoder = DatabaseDecoder
}

extension DataSnapshot {
    /// The snapshot's value as this type: an optional one if the value may be absent.
    ///
    /// - Throws: `DecodingError`, and errors of the type's own functions.
    public func data<Value: Decodable>(
        as type: Value.Type,
        decoder: Database.Decoder = Database.Decoder(),
    ) throws -> Value {
        try decoder.decode(type, from: node)
    }
}

extension DatabaseReference {
    /// Replaces the value at this location by any `Encodable` value; `completion` is called when the server has stored
    /// or refused it.
    ///
    /// - Throws: `EncodingError`, and errors of the value's own functions.
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
    /// The present value as this type, as `DataSnapshot.data(as:)` converts it.
    ///
    /// - Throws: `DecodingError`, and errors of the type's own functions.
    public func data<Value: Decodable>(
        as type: Value.Type,
        decoder: Database.Decoder = Database.Decoder(),
    ) throws -> Value {
        try decoder.decode(type, from: node)
    }
}
