import JSONTree

/// An account of a file, ready to be sent.
struct ImportedUser: Equatable {
    /// For people: `users[17] (line 203)`.
    let location: String
    /// The text that `accounts:batchCreate` takes.
    let json: [UInt8]
    let ways: SignInWays
}

/// Why a file of accounts cannot be read on.
enum UserFileError: Error, Equatable {
    /// The file does not have this format.
    case form(line: Int, String)
    /// One account has more bytes than any has.
    case tooLong(line: Int)
    /// It ends in the middle.
    case cutShort(line: Int)

    var text: String {
        switch self {
        case .form(let line, let words): "line \(line): \(words)"
        case .tooLong(let line):
            "line \(line): one account has more than \(UserFileLimits.recordByteCount) bytes"
        case .cutShort(let line): "line \(line): the file ends in the middle"
        }
    }
}

enum UserFileLimits {
    /// Bytes of one account: claims have 1,000, names and addresses some hundred each.
    static let recordByteCount = 256 * 1024
}

/// The accounts of a JSON file while it is read: `{"users": [...]}`, or only the list; other members are skipped.
///
/// Takes the text in parts, cut anywhere, and keeps one account of it.
struct UserObjects {
    /// A text of the list, not looked into.
    struct Item: Equatable {
        let index: Int
        let line: Int
        let json: [UInt8]

        /// For people.
        var location: String { "users[\(index)] (line \(line))" }
    }

    private var line = 1
    /// Open brackets.
    private var depth = 0
    /// Open brackets where an account begins; nil outside of the list.
    private var listDepth: Int?
    private var hasBegun = false
    private var isInString = false
    private var isEscaped = false
    /// The string that was read last, where it may be a name: at the top of the object.
    private var name: [UInt8] = []
    private var isNamed = false
    private var item: [UInt8]?
    private var itemLine = 0
    private var count = 0
    private var foundList = false

    /// Takes the next bytes; returns the accounts that end in them.
    mutating func read(_ bytes: UnsafeRawBufferPointer) throws(UserFileError) -> [Item] {
        var items: [Item] = []
        for byte in bytes {
            if item != nil {
                item?.append(byte)
                if let item, item.count > UserFileLimits.recordByteCount {
                    throw .tooLong(line: itemLine)
                }
            }
            if isInString {
                readInString(byte)
            } else {
                try readOutside(byte, &items)
            }
            if byte == UInt8(ascii: "\n") { line += 1 }
        }
        return items
    }

    /// To be called at the end of the file.
    func finish() throws(UserFileError) {
        guard depth == 0, hasBegun, !isInString else { throw .cutShort(line: line) }
        guard foundList else {
            throw .form(
                line: line,
                "there is no list 'users' in this file; is it of 'auth:export'?"
            )
        }
    }

    private mutating func readInString(_ byte: UInt8) {
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            isInString = false
            return
        }
        // A longer one is not 'users'.
        if depth == 1, listDepth == nil, name.count < 16 { name.append(byte) }
    }

    private mutating func readOutside(_ byte: UInt8, _ items: inout [Item]) throws(UserFileError) {
        switch byte {
        case 0x20, 0x0A, 0x0D, 0x09: break
        case UInt8(ascii: "\""):
            guard hasBegun else { throw .form(line: line, "this is not an object") }
            isInString = true
            isNamed = false
            if depth == 1, listDepth == nil { name = [] }
            if depth == listDepth { throw .form(line: line, "an account must be an object") }
        case UInt8(ascii: ":"): isNamed = depth == 1 && name == Array("users".utf8)
        case UInt8(ascii: "{"), UInt8(ascii: "["): try open(byte)
        case UInt8(ascii: "}"), UInt8(ascii: "]"): try close(byte, &items)
        case UInt8(ascii: ","): isNamed = false
        default:
            guard hasBegun else { throw .form(line: line, "this is not JSON of accounts") }
            if depth == listDepth { throw .form(line: line, "an account must be an object") }
            isNamed = false
        }
    }

    private mutating func open(_ byte: UInt8) throws(UserFileError) {
        if depth == 0, hasBegun { throw .form(line: line, "something follows the end") }
        if depth == listDepth {
            guard byte == UInt8(ascii: "{") else {
                throw .form(line: line, "an account must be an object")
            }
            item = [byte]
            itemLine = line
        }
        let isList =
            byte == UInt8(ascii: "[") && listDepth == nil && (depth == 0 || (depth == 1 && isNamed))
        hasBegun = true
        depth += 1
        isNamed = false
        if isList {
            listDepth = depth
            foundList = true
        }
    }

    private mutating func close(_ byte: UInt8, _ items: inout [Item]) throws(UserFileError) {
        guard depth > 0 else { throw .form(line: line, "a bracket is closed that was not opened") }
        if depth == listDepth { listDepth = nil }
        depth -= 1
        if depth == listDepth, let json = item {
            items.append(Item(index: count, line: itemLine, json: json))
            count += 1
            item = nil
        }
    }
}
