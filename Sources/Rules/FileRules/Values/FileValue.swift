/// A value of rules for files.
///
/// Texts are UTF-8: they are equal when their code points are, and ordered by them. Equal values are equal as `==` of
/// rules says, so that 1 equals 1.0.
package enum FileValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case int(Int64)
    case float(Double)
    case string([UInt8])
    case bytes([UInt8])
    case list(FileList)
    case set(FileList)
    case map(FileMap)
    /// What `diff()` gives: the sets of keys by the names of their functions.
    case difference(FileMap)
    /// Segments; each is one name, whatever is in it.
    case path([[UInt8]])
    case timestamp(NanoTime)
    case duration(NanoTime)
    case latlng(latitude: Double, longitude: Double)

    /// A text.
    package static func text(_ text: String) -> FileValue { .string(Array(text.utf8)) }
}

/// The types that `is` knows.
package enum FileValueType: String, CaseIterable, Sendable {
    case bool, int, float, number, string, bytes, list, map, set, path, timestamp, duration, latlng
    case null
}

/// The elements of a list or a set, in their order.
package struct FileList: Sendable, Hashable {
    /// In their order; those of a set are different.
    package let elements: [FileValue]
    /// Bytes of all that is in it, each value counted as 16 more.
    let weight: Int
    /// Lists and maps one inside another, itself included.
    let depth: Int

    /// A list of these.
    package init(_ elements: [FileValue]) {
        self.elements = elements
        weight = elements.reduce(16) { $0 + $1.weight }
        depth = 1 + (elements.lazy.map(\.depth).max() ?? 0)
    }

    /// The different ones of these, in the order in which they first come.
    init(distinct elements: [FileValue]) {
        var seen: Set<FileValue> = []
        self.init(elements.filter { seen.insert($0).inserted })
    }

    package static func == (a: FileList, b: FileList) -> Bool {
        // The weight of equal lists may differ only where an int equals a float, and both count the same.
        a.weight == b.weight && a.elements == b.elements
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(elements) }
}

/// The members of a map, in the order of their keys.
package struct FileMap: Sendable, Hashable {
    /// Ascending.
    package let keys: [[UInt8]]
    /// By key.
    package let values: [FileValue]
    let weight: Int
    let depth: Int

    /// A map; of equal keys the last one counts.
    package init(_ members: [(key: [UInt8], value: FileValue)]) {
        var keys: [[UInt8]] = []
        var values: [FileValue] = []
        let sorted = members.enumerated().sorted { a, b in
            a.element.key == b.element.key
                ? a.offset < b.offset : a.element.key.lexicographicallyPrecedes(b.element.key)
        }
        for (_, member) in sorted {
            if keys.last == member.key {
                values[values.count - 1] = member.value
            } else {
                keys.append(member.key)
                values.append(member.value)
            }
        }
        self.keys = keys
        self.values = values
        weight = zip(keys, values).reduce(16) { $0 + $1.0.count + $1.1.weight }
        depth = 1 + (values.lazy.map(\.depth).max() ?? 0)
    }

    /// The value of a key; nil when it is not there. O(log n).
    package subscript(key: [UInt8]) -> FileValue? {
        var low = 0
        var high = keys.count
        while low < high {
            let middle = (low + high) / 2
            if keys[middle].lexicographicallyPrecedes(key) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low < keys.count && keys[low] == key ? values[low] : nil
    }

    package static func == (a: FileMap, b: FileMap) -> Bool {
        a.weight == b.weight && a.keys == b.keys && a.values == b.values
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(keys)
        hasher.combine(values)
    }
}

extension FileValue {
    /// Bytes of all that is in it, and 16.
    var weight: Int {
        switch self {
        case .string(let text), .bytes(let text): 16 + text.count
        case .list(let list), .set(let list): list.weight
        case .map(let map), .difference(let map): map.weight
        case .path(let segments): segments.reduce(16) { $0 + 16 + $1.count }
        case .null, .bool, .int, .float, .timestamp, .duration, .latlng: 16
        }
    }

    /// Lists and maps one inside another.
    var depth: Int {
        switch self {
        case .list(let list), .set(let list): list.depth
        case .map(let map), .difference(let map): map.depth
        case .null, .bool, .int, .float, .string, .bytes, .path, .timestamp, .duration, .latlng: 0
        }
    }

    /// The type, as error texts name it.
    package var type: FileValueType {
        switch self {
        case .null: .null
        case .bool: .bool
        case .int: .int
        case .float: .float
        case .string: .string
        case .bytes: .bytes
        case .list: .list
        case .set: .set
        case .map, .difference: .map
        case .path: .path
        case .timestamp: .timestamp
        case .duration: .duration
        case .latlng: .latlng
        }
    }

    /// Whether it is of a type; an int and a float are both a number.
    func `is`(_ type: FileValueType) -> Bool {
        self.type == type || (type == .number && (self.type == .int || self.type == .float))
    }

    package static func == (a: FileValue, b: FileValue) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.bool(let x), .bool(let y)): x == y
        case (.int(let x), .int(let y)): x == y
        case (.float(let x), .float(let y)): x == y
        case (.int(let x), .float(let y)), (.float(let y), .int(let x)): Int64(exactly: y) == x
        case (.string(let x), .string(let y)), (.bytes(let x), .bytes(let y)): x == y
        case (.list(let x), .list(let y)): x == y
        // The order of a set says nothing.
        case (.set(let x), .set(let y)):
            x.elements.count == y.elements.count && Set(x.elements) == Set(y.elements)
        case (.map(let x), .map(let y)), (.difference(let x), .difference(let y)): x == y
        case (.path(let x), .path(let y)): x == y
        case (.timestamp(let x), .timestamp(let y)), (.duration(let x), .duration(let y)): x == y
        case (.latlng(let x, let u), .latlng(let y, let v)): x == y && u == v
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .int(let value): hasher.combine(value)
        case .float(let value):
            // A float that an int equals has its hash.
            if let whole = Int64(exactly: value) {
                hasher.combine(whole)
            } else {
                hasher.combine(value)
            }
        case .string(let text), .bytes(let text): hasher.combine(text)
        case .list(let list): hasher.combine(list)
        case .set(let set): hasher.combine(set.elements.count)
        case .map(let map), .difference(let map): hasher.combine(map)
        case .path(let segments): hasher.combine(segments)
        case .timestamp(let time), .duration(let time): hasher.combine(time)
        case .latlng(let latitude, let longitude):
            hasher.combine(latitude)
            hasher.combine(longitude)
        }
    }
}
