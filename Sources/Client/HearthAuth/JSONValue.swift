import Foundation

/// Any JSON, for bodies of requests and claims of tokens.
indirect enum JSONValue: Codable, Sendable, Equatable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case text(String)
    case list([JSONValue])
    case object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let int = try? value.decode(Int64.self) {
            self = .int(int)
        } else if let double = try? value.decode(Double.self) {
            self = .double(double)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let list = try? value.decode([JSONValue].self) {
            self = .list(list)
        } else {
            self = .object(try value.decode([String: JSONValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .null: try value.encodeNil()
        case .bool(let bool): try value.encode(bool)
        case .int(let int): try value.encode(int)
        case .double(let double): try value.encode(double)
        case .text(let text): try value.encode(text)
        case .list(let list): try value.encode(list)
        case .object(let object): try value.encode(object)
        }
    }

    /// The number, if it is one.
    var number: Double? {
        switch self {
        case .int(let int): Double(int)
        case .double(let double): double
        case .null, .bool, .text, .list, .object: nil
        }
    }

    var string: String? {
        if case .text(let text) = self { text } else { nil }
    }

    /// As Swift's own types: `Bool`, `Int`, `Double`, `String`, arrays and dictionaries; null is `NSNull`.
    var plain: any Sendable {
        switch self {
        case .null: NSNull()
        case .bool(let bool): bool
        case .int(let int): Int(int)
        case .double(let double): double
        case .text(let text): text
        case .list(let list): list.map { $0.plain }
        case .object(let object): object.mapValues { $0.plain }
        }
    }
}
