import Foundation
import JSONTree
import WireProtocol

/// Makes of a value of an app the JSON text that a write sends, and checks it on the way. Values that an app may pass:
/// nil and `NSNull`, texts, booleans, numbers, arrays, dictionaries with texts as keys, `NSNumber` and the other
/// Foundation classes of these, and any of them in optionals.
struct ValueText {
    private(set) var json: [UInt8] = []
    private var keys: [String] = []

    mutating func write(_ value: Any?) throws(DatabaseError) {
        guard let value else { return append("null") }
        if let text = value as? String { return try write(text: text) }
        if type(of: value) is AnyClass { return try write(object: value) }
        if type(of: value) == Bool.self, let boolean = value as? Bool {
            return append(boolean ? "true" : "false")
        }
        if let number = value as? any BinaryInteger { return try write(integer: number) }
        if let number = value as? any BinaryFloatingPoint {
            return try write(double: Double(number))
        }
        if type(of: value) == Decimal.self, let number = value as? Decimal {
            return try write(number: NSDecimalNumber(decimal: number))
        }
        if let optional = value as? any OptionalValue { return try write(optional.wrapped) }
        try write(collection: value)
    }

    private mutating func write(object value: Any) throws(DatabaseError) {
        switch value {
        case is NSNull: append("null")
        case let number as NSNumber: try write(number: number)
        default: try write(collection: value)
        }
    }

    private mutating func write(collection value: Any) throws(DatabaseError) {
        if let members = value as? [String: Any] { return try write(members: members) }
        if let members = value as? [AnyHashable: Any] { return try write(members: members) }
        if let elements = value as? [Any] { return try write(elements: elements) }
        if let text = value as? any StringProtocol { return try write(text: String(text)) }
        throw fault("a value of type \(type(of: value)) is not one that JSON has")
    }

    private mutating func write(text: String) throws(DatabaseError) {
        guard text.utf8.count <= Limits.stringByteCount else {
            throw fault(
                "a text has at most \(Limits.stringByteCount) bytes, this one has \(text.utf8.count)"
            )
        }
        appendJSONString(text, to: &json)
    }

    private mutating func write(integer: any BinaryInteger) throws(DatabaseError) {
        if let number = Int64(exactly: integer) { return append("\(number)") }
        try write(double: Double(integer))
    }

    private mutating func write(number: NSNumber) throws(DatabaseError) {
        if number.isBoolean { return append(number.boolValue ? "true" : "false") }
        switch number.objCType.pointee {
        case CChar(bitPattern: UInt8(ascii: "f")), CChar(bitPattern: UInt8(ascii: "d")):
            try write(double: number.doubleValue)
        case CChar(bitPattern: UInt8(ascii: "Q")), CChar(bitPattern: UInt8(ascii: "L")):
            try write(integer: number.uint64Value)
        default: append("\(number.int64Value)")
        }
    }

    private mutating func write(double: Double) throws(DatabaseError) {
        guard double.isFinite else { throw fault("\(double) is not a number that JSON has") }
        append("\(double)")
    }

    private mutating func write(members: [AnyHashable: Any]) throws(DatabaseError) {
        var texts: [String: Any] = [:]
        for (key, value) in members {
            guard let text = key.base as? String else {
                throw .invalidKey("\(key.base)", why: "a key must be a text")
            }
            texts[text] = value
        }
        try write(members: texts)
    }

    private mutating func write(members: [String: Any]) throws(DatabaseError) {
        append("{")
        var isFirst = true
        // A dictionary has another order in every process; requests should not.
        for (key, value) in members.sorted(by: { $0.key < $1.key }) {
            if !isFirst { append(",") }
            isFirst = false
            try enter(key)
            appendJSONString(key, to: &json)
            append(":")
            try write(value)
            keys.removeLast()
        }
        append("}")
    }

    private mutating func write(elements: [Any]) throws(DatabaseError) {
        append("[")
        for (index, element) in elements.enumerated() {
            if index > 0 { append(",") }
            try enter("\(index)")
            try write(element)
            keys.removeLast()
        }
        append("]")
    }

    /// Names that have a meaning of their own in a value.
    private static let marks: Set<String> = [".value", ".priority", ".sv"]

    private mutating func enter(_ key: String) throws(DatabaseError) {
        if !Self.marks.contains(key) {
            do throws(PathError) {
                _ = try Key(key)
            } catch {
                throw .invalidKey(key, why: error.why)
            }
        }
        keys.append(key)
        // One more level for a mark at the deepest level, as in a leaf with a priority.
        guard keys.count <= Limits.depth + 2 else {
            throw fault("it is more than \(Limits.depth) levels deep")
        }
    }

    private mutating func append(_ text: String) { json.append(contentsOf: text.utf8) }

    private func fault(_ why: String) -> DatabaseError {
        .invalidValue(at: keys.joined(separator: "/"), why: why)
    }
}

extension Draft {
    init(app value: Any?) throws(DatabaseError) {
        var text = ValueText()
        try text.write(value)
        do throws(JSONError) {
            self = try Draft(json: text.json)
        } catch {
            throw .invalidValue(at: "", why: error.reason.why)
        }
    }

    init(app value: Any?, priority: Any?) throws(DatabaseError) {
        self = try Draft(app: value)
        let part = try Draft(priority: priority)
        replace(WriteTarget(path: .root, isPriority: true), with: part)
    }

    /// Reads a priority: nil, a number, a text or a server value.
    init(priority: Any?) throws(DatabaseError) {
        self = try Draft(app: priority)
        try check(for: WriteTarget(path: .root, isPriority: true))
    }

    /// Checks what depends on the location: the depth, and the form of a priority.
    func check(for target: WriteTarget) throws(DatabaseError) {
        do throws(WriteFault) {
            try check(at: target)
        } catch {
            throw .invalidValue(at: "", why: error.description)
        }
    }
}

extension MergeEntry {
    /// Reads the values of a multi-location update below `base`, in the order of their paths.
    static func reading(
        _ values: [AnyHashable: Any],
        base: Path,
    ) throws(DatabaseError) -> [MergeEntry] {
        var merge: [(path: String, draft: Draft)] = []
        for (key, value) in values {
            guard let text = key.base as? String else {
                throw .invalidKey("\(key.base)", why: "a path must be a text")
            }
            do throws(DatabaseError) {
                merge.append((text, try Draft(app: value)))
            } catch .invalidValue(let location, let why) {
                throw .invalidValue(at: location.isEmpty ? text : "\(text)/\(location)", why: why)
            }
        }
        merge.sort { $0.path < $1.path }
        do throws(WriteFault) {
            return try MergeEntry.checked(merge, base: base)
        } catch .path(let text, let error) {
            throw .invalidPath(text, why: error.why)
        } catch {
            throw .invalidValue(at: "", why: error.description)
        }
    }
}

extension NSNumber {
    /// Whether it was made of a boolean, which compares equal to 0 or 1.
    var isBoolean: Bool {
        #if canImport(Darwin)
            CFGetTypeID(self) == CFBooleanGetTypeID()
        #else
            // Booleans have a class of their own there; the type of 8-bit integers is theirs.
            type(of: self) == type(of: NSNumber(value: true))
        #endif
    }
}

/// An optional of any type, looked at from outside.
private protocol OptionalValue {
    var wrapped: Any? { get }
}

extension Optional: OptionalValue {
    fileprivate var wrapped: Any? { self }
}

extension JSONError.Reason {
    fileprivate var why: String { FaultText.json(self) }
}
