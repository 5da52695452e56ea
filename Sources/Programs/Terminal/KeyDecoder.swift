/// Bytes of a terminal as keys: UTF-8, control keys, escape sequences and bracketed paste.
///
/// Takes bytes in parts, cut anywhere. An unknown sequence is dropped as a whole, so that its rest is never typed.
///
///     ESC [ A                    up; also ESC O A
///     ESC [ 5 ~                  page up: a number and a tilde
///     ESC [ 1 ; 5 C              right, with a modifier that we leave out
///     ESC [ 200 ~ ... ESC [ 201 ~    what was pasted
package struct KeyDecoder: Sendable {
    private enum State {
        case ground
        /// ESC was read.
        case escape
        /// `ESC [` or `ESC O` and these bytes.
        case sequence([UInt8])
        /// A character that begins with these bytes.
        case utf8([UInt8])
        /// The pasted bytes so far.
        case paste([UInt8])
    }

    private var state = State.ground

    /// Bytes of a paste that are kept; more are left out.
    package static let pasteLimit = 64 * 1024
    /// Most bytes of an escape sequence.
    private static let sequenceLimit = 32

    package init() {}

    /// Whether an escape was read that may be the key or the beginning of a sequence: `flush` says which, later.
    package var isWaiting: Bool {
        if case .escape = state { return true }
        return false
    }

    /// The keys that end in these bytes.
    package mutating func decode(_ bytes: some Sequence<UInt8>) -> [Key] {
        var keys: [Key] = []
        for byte in bytes { take(byte, &keys) }
        return keys
    }

    /// The escape key, if nothing came behind an escape for a while.
    package mutating func flush() -> [Key] {
        guard isWaiting else { return [] }
        state = .ground
        return [.escape]
    }

    private mutating func take(_ byte: UInt8, _ keys: inout [Key]) {
        switch state {
        case .ground: begin(byte, &keys)
        case .escape:
            switch byte {
            case UInt8(ascii: "["), UInt8(ascii: "O"): state = .sequence([])
            case 0x1B: keys.append(.escape)
            case _:
                // A key with Alt: the key alone.
                state = .ground
                begin(byte, &keys)
            }
        case .sequence(let bytes): takeInSequence(byte, bytes, &keys)
        case .utf8(let bytes): takeInCharacter(byte, bytes, &keys)
        case .paste(let bytes): takeInPaste(byte, bytes, &keys)
        }
    }

    private mutating func begin(_ byte: UInt8, _ keys: inout [Key]) {
        switch byte {
        case 0x1B: state = .escape
        case 0x0D, 0x0A: keys.append(.enter)
        case 0x09: keys.append(.tab)
        case 0x7F, 0x08: keys.append(.backspace)
        case 0x01...0x1A:
            keys.append(.control(Character(Unicode.Scalar(byte + 0x60))))
        case 0x20...0x7E: keys.append(.character(Character(Unicode.Scalar(byte))))
        case 0xC2...0xF4: state = .utf8([byte])
        case _: break
        }
    }

    private mutating func takeInCharacter(_ byte: UInt8, _ begun: [UInt8], _ keys: inout [Key]) {
        guard byte & 0xC0 == 0x80 else {
            state = .ground
            return take(byte, &keys)
        }
        let bytes = begun + [byte]
        let length = bytes[0] < 0xE0 ? 2 : bytes[0] < 0xF0 ? 3 : 4
        guard bytes.count == length else {
            state = .utf8(bytes)
            return
        }
        state = .ground
        if let text = String(validating: bytes, as: UTF8.self) {
            keys += text.map { .character($0) }
        }
    }

    private mutating func takeInSequence(_ byte: UInt8, _ begun: [UInt8], _ keys: inout [Key]) {
        switch byte {
        case 0x40...0x7E:
            state = .ground
            if let key = Self.key(begun, final: byte) { keys.append(key) }
            if byte == UInt8(ascii: "~"), begun == Array("200".utf8) { state = .paste([]) }
        case 0x20...0x3F where begun.count < Self.sequenceLimit:
            state = .sequence(begun + [byte])
        case _:
            state = .ground
            take(byte, &keys)
        }
    }

    private static func key(_ parameters: [UInt8], final: UInt8) -> Key? {
        switch final {
        case UInt8(ascii: "A"): .up
        case UInt8(ascii: "B"): .down
        case UInt8(ascii: "C"): .right
        case UInt8(ascii: "D"): .left
        case UInt8(ascii: "H"): .home
        case UInt8(ascii: "F"): .end
        case UInt8(ascii: "P"): .f1
        case UInt8(ascii: "Z"): .backTab
        case UInt8(ascii: "M"): .enter
        case UInt8(ascii: "~"):
            switch String(decoding: parameters.prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self) {
            case "1", "7": .home
            case "4", "8": .end
            case "3": .delete
            case "5": .pageUp
            case "6": .pageDown
            case "11": .f1
            case _: nil
            }
        case _: nil
        }
    }

    private static let pasteEnd = Array("\u{1B}[201~".utf8)

    private mutating func takeInPaste(_ byte: UInt8, _ begun: [UInt8], _ keys: inout [Key]) {
        var bytes = begun
        state = .ground  // Lets go of the array, so that the next line copies nothing.
        bytes.append(byte)
        if bytes.suffix(Self.pasteEnd.count) == Self.pasteEnd[...] {
            let pasted = bytes.dropLast(Self.pasteEnd.count).prefix(Self.pasteLimit)
            let text = String(decoding: pasted, as: UTF8.self)
            let lines = text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
            if !lines.isEmpty { keys.append(.paste(lines)) }
            return
        }
        if bytes.count > Self.pasteLimit + Self.pasteEnd.count {
            bytes.remove(at: Self.pasteLimit)
        }
        state = .paste(bytes)
    }
}
