import Foundation

/// Makes of an `Encodable` value one that can be written: `[String: Any]`, `[Any]`, texts, numbers.
///
/// The strategies are those of `JSONEncoder`.
public final class DatabaseEncoder {
    /// How dates are written; as `Date` itself does unless set: seconds since 2001.
    public var dateEncodingStrategy: DateEncodingStrategy = .deferredToDate
    /// How `Data` is written; as base64 unless set.
    public var dataEncodingStrategy: DataEncodingStrategy = .base64
    /// How infinities and NaN are written; unless set they cannot be.
    public var nonConformingFloatEncodingStrategy: NonConformingFloatEncodingStrategy = .throw
    /// How keys are written; as they are unless set.
    public var keyEncodingStrategy: KeyEncodingStrategy = .useDefaultKeys
    /// Data for the values' own functions.
    public var userInfo: [CodingUserInfoKey: Any] = [:]

    /// Makes an encoder with the defaults.
    public init() {}

    /// Encodes `value` in the form that `setValue` takes.
    ///
    /// - Throws: `EncodingError`, and errors of the value's own functions.
    public func encode<Value: Encodable>(_ value: Value) throws -> Any {
        let target = EncodedValue()
        try ValueEncoding(target: target, codingPath: [], strategies: self).encode(value)
        return target.result
    }
}

/// A part of the result while it is filled.
final class EncodedValue {
    private enum Content {
        case none
        case leaf(Any)
        case members([String: EncodedValue])
        case elements([EncodedValue])
    }

    private var content = Content.none

    /// The value; `NSNull` if nothing was written.
    var result: Any {
        switch content {
        case .none: NSNull()
        case .leaf(let value): value
        case .members(let members): members.mapValues(\.result)
        case .elements(let elements): elements.map(\.result)
        }
    }

    var count: Int { if case .elements(let elements) = content { elements.count } else { 0 } }

    func set(_ value: Any) { content = .leaf(value) }

    func openMembers() {
        if case .members = content { return }
        content = .members([:])
    }

    func openElements() {
        if case .elements = content { return }
        content = .elements([])
    }

    /// The part under a key; an existing one stays, such as a superclass's.
    func member(_ key: String) -> EncodedValue {
        guard case .members(var members) = content else { return EncodedValue() }
        if let member = members[key] { return member }
        let member = EncodedValue()
        members[key] = member
        content = .members(members)
        return member
    }

    func append() -> EncodedValue {
        guard case .elements(var elements) = content else { return EncodedValue() }
        let element = EncodedValue()
        content = .none
        elements.append(element)
        content = .elements(elements)
        return element
    }
}

struct ValueEncoding: Swift.Encoder {
    let target: EncodedValue
    let codingPath: [any CodingKey]
    let strategies: DatabaseEncoder
    /// Whether keys are the data's own: those of a dictionary.
    var keepsKeys = false
    var userInfo: [CodingUserInfoKey: Any] { strategies.userInfo }

    func container<Key: CodingKey>(keyedBy: Key.Type) -> KeyedEncodingContainer<Key> {
        target.openMembers()
        return KeyedEncodingContainer(KeyedEncoding<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        target.openElements()
        return UnkeyedEncoding(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleValueEncoding(encoder: self)
    }

    func part(_ target: EncodedValue, at key: any CodingKey) -> ValueEncoding {
        ValueEncoding(target: target, codingPath: codingPath + [key], strategies: strategies)
    }

    /// Encodes any value: those of JSON as they are, those with a strategy by it, others by their own functions.
    func encode<Value: Encodable>(_ value: Value) throws {
        switch value {
        case let boolean as Bool: target.set(boolean)
        case let text as String: target.set(text)
        case let integer as any FixedWidthInteger: target.set(integer)
        case let double as Double: try encode(double: double)
        case let float as Float: try encode(double: Double(float))
        case let date as Date: try encode(date: date)
        case let data as Data: try encode(data: data)
        case let url as URL: target.set(url.absoluteString)
        case let decimal as Decimal: target.set(NSDecimalNumber(decimal: decimal).doubleValue)
        default:
            var inner = self
            inner.keepsKeys = value is any StringKeyed
            try value.encode(to: inner)
        }
    }

    private func encode(double: Double) throws {
        if double.isFinite { return target.set(double) }
        switch strategies.nonConformingFloatEncodingStrategy {
        case .convertToString(let positive, let negative, let nan):
            target.set(double.isNaN ? nan : double > 0 ? positive : negative)
        case .throw: throw fault(double, "\(double) is not a number that JSON has")
        }
    }

    private func encode(date: Date) throws {
        switch strategies.dateEncodingStrategy {
        case .deferredToDate: try date.encode(to: self)
        case .secondsSince1970: target.set(date.timeIntervalSince1970)
        case .millisecondsSince1970: target.set(date.timeIntervalSince1970 * 1_000)
        case .iso8601: target.set(date.formatted(.iso8601))
        case .formatted(let formatter): target.set(formatter.string(from: date))
        case .custom(let encode): try encode(date, self)
        }
    }

    private func encode(data: Data) throws {
        switch strategies.dataEncodingStrategy {
        case .deferredToData: try data.encode(to: self)
        case .base64: target.set(data.base64EncodedString())
        case .custom(let encode): try encode(data, self)
        }
    }

    func key(_ key: any CodingKey) -> String {
        if keepsKeys { return key.stringValue }
        return switch strategies.keyEncodingStrategy {
        case .useDefaultKeys: key.stringValue
        case .convertToSnakeCase: SnakeCase.snake(key.stringValue)
        case .custom(let convert): convert(codingPath + [key]).stringValue
        }
    }

    private func fault(_ value: Any, _ text: String) -> EncodingError {
        .invalidValue(value, EncodingError.Context(codingPath: codingPath, debugDescription: text))
    }
}

/// A dictionary whose keys are data and so are kept as they are.
protocol StringKeyed {}

extension Dictionary: StringKeyed where Key == String {}
