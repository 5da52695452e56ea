import Foundation
import JSONTree

/// Converts database values to `Decodable` values.
///
/// The strategies are those of `JSONDecoder`. A map with the keys of an array is read as a list or a dictionary, as
/// the type needs.
public final class DatabaseDecoder {
    /// How dates are read; as `Date` itself does unless set: seconds since 2001.
    public var dateDecodingStrategy: DateDecodingStrategy = .deferredToDate
    /// How `Data` is read; as base64 unless set.
    public var dataDecodingStrategy: DataDecodingStrategy = .base64
    /// How infinities and NaN are read; unless set they cannot be.
    public var nonConformingFloatDecodingStrategy: NonConformingFloatDecodingStrategy = .throw
    /// How keys are read; as they are unless set.
    public var keyDecodingStrategy: KeyDecodingStrategy = .useDefaultKeys
    /// Data for the values' own functions.
    public var userInfo: [CodingUserInfoKey: Any] = [:]

    /// Makes a decoder with the defaults.
    public init() {}

    /// Decodes a value from the form of `DataSnapshot.value` or `MutableData.value`.
    ///
    /// - Throws: `DecodingError`, and errors of the value's own functions.
    public func decode<Value: Decodable>(_ type: Value.Type, from value: Any) throws -> Value {
        try decode(type, from: try Draft(app: value).node)
    }

    func decode<Value: Decodable>(_ type: Value.Type, from node: Node) throws -> Value {
        try NodeDecoding(node: node, codingPath: [], strategies: self).decode(type)
    }
}

struct NodeDecoding: Swift.Decoder {
    let node: Node
    let codingPath: [any CodingKey]
    let strategies: DatabaseDecoder
    /// Whether keys are the data's own: those of a dictionary.
    var keepsKeys = false
    var userInfo: [CodingUserInfoKey: Any] { strategies.userInfo }

    func container<Key: CodingKey>(keyedBy: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard node.isMap else { throw mismatch([String: Any].self) }
        return KeyedDecodingContainer(KeyedDecoding<Key>(self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let last = ArrayRule.lastIndex(node) else { throw mismatch([Any].self) }
        return UnkeyedDecoding(self, count: last + 1)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        SingleValueDecoding(decoder: self)
    }

    func part(_ node: Node, at key: any CodingKey) -> NodeDecoding {
        NodeDecoding(node: node, codingPath: codingPath + [key], strategies: strategies)
    }

    /// Decodes any type: the node's own, those with a strategy by it, and all others by their own functions.
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value: Any
        if type == Bool.self {
            value = try boolean()
        } else if type == String.self {
            value = try text()
        } else if type == Double.self {
            value = try double()
        } else if type == Float.self {
            value = Float(try double())
        } else if let type = type as? any FixedWidthInteger.Type {
            value = try integer(type)
        } else if type == Date.self {
            value = try date()
        } else if type == Data.self {
            value = try data()
        } else if type == URL.self {
            let text = try text()
            guard let url = URL(string: text) else { throw corrupted("\"\(text)\" is no URL") }
            value = url
        } else if type == Decimal.self {
            value = try node.integer.map { Decimal($0) } ?? Decimal(double())
        } else {
            var inner = self
            inner.keepsKeys = type is any StringKeyed.Type
            // The type that was asked for may be a subclass of `Value`.
            return try type.init(from: inner)
        }
        guard let value = value as? Value else { throw mismatch(type) }
        return value
    }

    private func boolean() throws -> Bool {
        guard let boolean = node.boolean else { throw mismatch(Bool.self) }
        return boolean
    }

    private func text() throws -> String {
        guard let text = node.string else { throw mismatch(String.self) }
        return text
    }

    private func integer<Value: FixedWidthInteger>(_ type: Value.Type) throws -> Value {
        guard let number = node.number else { throw mismatch(type) }
        let value = node.integer.flatMap { Value(exactly: $0) } ?? Value(exactly: number)
        guard let value else { throw corrupted("\(number) does not fit \(type)") }
        return value
    }

    private func double() throws -> Double {
        if let number = node.number { return number }
        if let text = node.string,
            case .convertFromString(let positive, let negative, let nan) =
                strategies.nonConformingFloatDecodingStrategy
        {
            if text == positive { return .infinity }
            if text == negative { return -.infinity }
            if text == nan { return .nan }
        }
        throw mismatch(Double.self)
    }

    private func date() throws -> Date {
        switch strategies.dateDecodingStrategy {
        case .deferredToDate: return try Date(from: self)
        case .secondsSince1970: return Date(timeIntervalSince1970: try double())
        case .millisecondsSince1970: return Date(timeIntervalSince1970: try double() / 1_000)
        case .iso8601:
            let text = try text()
            guard let date = try? Date(text, strategy: .iso8601) else {
                throw corrupted("\"\(text)\" is no ISO 8601 date")
            }
            return date
        case .formatted(let formatter):
            let text = try text()
            guard let date = formatter.date(from: text) else {
                throw corrupted("\"\(text)\" is no date of the format")
            }
            return date
        case .custom(let decode): return try decode(self)
        }
    }

    private func data() throws -> Data {
        switch strategies.dataDecodingStrategy {
        case .deferredToData: return try Data(from: self)
        case .base64:
            guard let data = Data(base64Encoded: try text()) else {
                throw corrupted("it is no base64")
            }
            return data
        case .custom(let decode): return try decode(self)
        }
    }

    private func mismatch(_ type: Any.Type) -> DecodingError {
        if node.isAbsent {
            return .valueNotFound(
                type,
                DecodingError.Context(codingPath: codingPath, debugDescription: "nothing is there")
            )
        }
        let text = "\(node.kind) is there"
        return .typeMismatch(
            type,
            DecodingError.Context(codingPath: codingPath, debugDescription: text)
        )
    }

    private func corrupted(_ text: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: text))
    }
}
