/// Takes an answer apart into the children at its top, as it arrives, in constant memory.
///
/// Returns each child as a member of an object, `"key":value`, with a comma before it if needed; the texts are those
/// of the answer. An array, which stands for numeric keys, becomes members too. `null` children, and the priority of
/// the location itself, are left out.
struct ChildTexts {
    /// Key of the last child that was handed on, decoded.
    private(set) var lastKey: String?
    private(set) var childCount = 0

    /// Whether children went before these, so that the first needs a comma.
    private let isContinued: Bool

    private enum State {
        case start
        /// Before a key, or the end.
        case beforeKey
        case inKey
        case beforeValue
        case inValue
        case end
    }

    private var state = State.start
    private var isArray = false
    private var index = 0
    private var key: [UInt8] = []
    private var isEscaped = false
    private var isInString = false
    /// Open brackets within the value.
    private var depth = 0
    /// The start of a value that may turn out to be `null`.
    private var held: [UInt8] = []
    private var isLeftOut = false

    init(isContinued: Bool) {
        self.isContinued = isContinued
    }

    /// Whether the answer came to its end.
    var isWhole: Bool { state == .end }

    /// Takes the next bytes and appends the result.
    mutating func read(_ bytes: UnsafeRawBufferPointer, into out: inout [UInt8]) {
        var location = 0
        while location < bytes.count {
            let byte = bytes[location]
            switch state {
            case .start: start(byte)
            case .beforeKey:
                if byte == UInt8(ascii: "\"") {
                    key = [byte]
                    isEscaped = false
                    state = .inKey
                } else if byte == UInt8(ascii: "}") {
                    state = .end
                }
            case .inKey: readKey(byte)
            case .beforeValue:
                // White space, the colon after a key, the comma between elements.
                if byte == UInt8(ascii: "]"), isArray {
                    state = .end
                } else if ![0x20, 0x0A, 0x0D, 0x09, 0x3A, 0x2C].contains(byte) {
                    beginValue()
                    continue
                }
            case .inValue:
                location = readValue(bytes, from: location, into: &out)
                continue
            case .end: break
            }
            location += 1
        }
    }

    private mutating func start(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "{"): state = .beforeKey
        case UInt8(ascii: "["):
            isArray = true
            state = .beforeValue
        case 0x20, 0x0A, 0x0D, 0x09: break
        // A leaf has no children.
        default: state = .end
        }
    }

    private mutating func readKey(_ byte: UInt8) {
        key.append(byte)
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            state = .beforeValue
        }
    }

    private mutating func beginValue() {
        if isArray {
            key = Array("\"\(index)\"".utf8)
            index += 1
        }
        isLeftOut = key == Array("\".priority\"".utf8)
        held = []
        depth = 0
        isInString = false
        isEscaped = false
        state = .inValue
        isBegun = false
    }

    /// Whether the value's key was handed on.
    private var isBegun = false
    private static let null = Array("null".utf8)

    /// Moves through a value; returns where it went to.
    private mutating func readValue(
        _ bytes: UnsafeRawBufferPointer,
        from start: Int,
        into out: inout [UInt8],
    ) -> Int {
        var location = start
        while location < bytes.count {
            let byte = bytes[location]
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
            } else if byte == UInt8(ascii: "\"") {
                isInString = true
            } else if byte | 0x20 == UInt8(ascii: "{") {
                depth += 1
            } else if depth == 0, byte == UInt8(ascii: ",") || byte | 0x20 == UInt8(ascii: "}") {
                hand(UnsafeRawBufferPointer(rebasing: bytes[start..<location]), into: &out)
                endValue(into: &out)
                // The closing bracket is looked at again.
                return byte == UInt8(ascii: ",") ? location + 1 : location
            } else if byte | 0x20 == UInt8(ascii: "}") {
                depth -= 1
            }
            location += 1
        }
        hand(UnsafeRawBufferPointer(rebasing: bytes[start..<location]), into: &out)
        return location
    }

    private mutating func hand(_ part: UnsafeRawBufferPointer, into out: inout [UInt8]) {
        if isLeftOut { return }
        if isBegun {
            out += part
            return
        }
        held += part
        if held.count > Self.null.count || !Self.null.starts(with: held) { begin(into: &out) }
    }

    private mutating func begin(into out: inout [UInt8]) {
        if isContinued || childCount > 0 { out.append(UInt8(ascii: ",")) }
        out += key
        out.append(UInt8(ascii: ":"))
        out += held
        held = []
        childCount += 1
        isBegun = true
        lastKey = JSONParts.word(key) ?? lastKey
    }

    private mutating func endValue(into out: inout [UInt8]) {
        // The held bytes are a whole short value: data, unless it is null.
        let trimmed = held.filter { ![0x20, 0x0A, 0x0D, 0x09].contains($0) }
        if !isLeftOut, !isBegun, !trimmed.isEmpty, trimmed != Self.null { begin(into: &out) }
        state = isArray ? .beforeValue : .beforeKey
    }
}
