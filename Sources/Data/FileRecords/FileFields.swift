/// A fixed field of an object's metadata that its writer may set.
package enum FileField: String, CaseIterable, Sendable {
    case cacheControl, contentDisposition, contentEncoding, contentLanguage, contentType
}

/// What the writer of an object may say of it: fixed fields and custom metadata.
package struct FileFields: Sendable, Equatable {
    private var texts: [FileField: String] = [:]

    /// Keys and values, by the bytes of the keys; each key once.
    package private(set) var custom: [CustomEntry] = []

    /// A time of the writer's choice, as it was given (RFC 3339); it only moves forward.
    package var customTime: String?

    /// One entry of custom metadata.
    package struct CustomEntry: Sendable, Equatable {
        package let key: String
        package let value: String

        package init(_ key: String, _ value: String) {
            self.key = key
            self.value = value
        }
    }

    /// No field is set.
    package init() {}

    /// A fixed field; nil when it is not set.
    package subscript(field: FileField) -> String? {
        get { texts[field] }
        set { texts[field] = newValue }
    }

    /// The value of a custom key; nil when it is not set.
    package func custom(_ key: String) -> String? {
        let index = position(of: key)
        return isThere(key, index) ? custom[index].value : nil
    }

    /// Sets a custom key, or removes it.
    package mutating func setCustom(_ key: String, _ value: String?) {
        let index = position(of: key)
        let isThere = isThere(key, index)
        if let value {
            let entry = CustomEntry(key, value)
            if isThere { custom[index] = entry } else { custom.insert(entry, at: index) }
        } else if isThere {
            custom.remove(at: index)
        }
    }

    /// Removes all custom metadata.
    package mutating func removeCustom() { custom = [] }

    /// Where a key is, or belongs. By bytes: `String` takes some different texts for equal.
    private func position(of key: String) -> Int {
        var (low, high) = (0, custom.count)
        while low < high {
            let middle = (low + high) / 2
            if custom[middle].key.utf8.lexicographicallyPrecedes(key.utf8) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }

    private func isThere(_ key: String, _ index: Int) -> Bool {
        index < custom.count && custom[index].key.utf8.elementsEqual(key.utf8)
    }

    /// Why these fields cannot be stored; nil when they can.
    package var fault: MetadataFault? {
        for field in FileField.allCases {
            guard let text = texts[field] else { continue }
            if text.utf8.count > FileLimits.fieldByteCount {
                return .fieldTooLong(field.rawValue, byteCount: text.utf8.count)
            }
            // Fixed fields become headers of downloads.
            if Self.hasControl(text) { return .fieldCharacter(field.rawValue) }
        }
        if custom.count > FileLimits.customCount { return .customCount(custom.count) }
        var byteCount = 0
        for entry in custom {
            if entry.key.isEmpty || Self.hasControl(entry.key) { return .customKey }
            if entry.value.utf8.contains(0) { return .customValue(key: entry.key) }
            byteCount += entry.key.utf8.count + entry.value.utf8.count
        }
        if byteCount > FileLimits.customByteCount { return .customTooLong(byteCount: byteCount) }
        return nil
    }

    /// Whether a text has a control character, the two of line ends among them.
    package static func hasControl(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) }
    }
}

/// Why metadata is refused.
package enum MetadataFault: Error, Equatable, Sendable, CustomStringConvertible {
    case json(JSONFieldsFault)
    case fieldTooLong(String, byteCount: Int)
    case fieldCharacter(String)
    case customCount(Int)
    case customKey
    case customValue(key: String)
    case customTooLong(byteCount: Int)
    case customTime
    case customTimeBackwards
    case token
    case tokenCount

    /// What is wrong and what is right, for people.
    package var description: String {
        switch self {
        case .json(let fault): "Metadata: \(fault)."
        case .fieldTooLong(let field, let byteCount):
            "\(field) must have at most \(FileLimits.fieldByteCount) bytes; this one has \(byteCount)."
        case .fieldCharacter(let field):
            "\(field) must not have control characters or line ends."
        case .customCount(let count):
            "Custom metadata must have at most \(FileLimits.customCount) keys; there are \(count)."
        case .customKey: "A key of custom metadata must be printable and not empty."
        case .customValue(let key):
            "The value of custom metadata '\(key)' must not have a NUL character."
        case .customTooLong(let byteCount):
            "Custom metadata must have at most \(FileLimits.customByteCount) bytes; there are \(byteCount)."
        case .customTime: "customTime must be a time such as 2026-09-30T17:26:04.648Z."
        case .customTimeBackwards: "customTime must not be earlier than it is."
        case .token:
            "A download token must have 1 to \(FileLimits.tokenByteCount) printable ASCII characters and no comma."
        case .tokenCount: "An object has at most \(FileLimits.tokenCount) download tokens."
        }
    }
}
