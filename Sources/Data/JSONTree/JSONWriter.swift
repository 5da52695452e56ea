/// Writes values as JSON text into memory of its own.
///
/// Recurses over embedded maps only, which are at most a quarter page; `JSONStream` handles values
/// in blocks of their own.
struct JSONWriter {
    let form: Node.JSONForm
    var text: Scratch
    private let isPretty: Bool
    /// Levels that the next line is indented by; 0 in the compact layout.
    private var level: Int

    init(
        _ form: Node.JSONForm,
        _ layout: Node.JSONLayout = .compact,
        into text: Scratch = Scratch()
    ) {
        self.form = form
        self.text = text
        switch layout {
        case .compact: (isPretty, level) = (false, 0)
        case .pretty(let level): (isPretty, self.level) = (true, level)
        }
    }

    /// The state of a writer that continues the text.
    var layout: Node.JSONLayout { isPretty ? .pretty(level: level) : .compact }

    /// Bytes written and not yet taken.
    var byteCount: Int { text.used }

    /// Returns the written bytes.
    mutating func take(into out: inout [UInt8]) {
        out.append(contentsOf: text.bytes(0, text.used))
        text.used = 0
    }

    /// Writes a value that is only bytes, its priority included, or a text in a block of its own.
    mutating func write(_ block: Block, _ value: BytePointer) {
        if value[0] != TypeByte.priority { return writeBody(block, value, priority: .absent) }
        let body = value + value.prefixSize
        let priority = form == .export ? Node(block, value + 1) : .absent
        writeBody(block, body, priority: priority)
    }

    mutating func write(leaf: Node) {
        switch leaf.storage {
        case .absent: write("null")
        case .boolean(let flag): flag ? write("true") : write("false")
        case .integer(let number): write(integer: number)
        case .double(let number): write(double: number)
        case .packed(let block, let offset):
            withExtendedLifetime(block) { write(block, block.start + Int(offset)) }
        }
    }

    private mutating func writeBody(_ block: Block, _ body: BytePointer, priority: Node) {
        if body[0] == TypeByte.map { return writeMap(block, body, priority: priority) }
        if priority.isAbsent { return writeScalar(block, body) }
        openLeaf()
        writeScalar(block, body)
        closeLeaf(priority)
    }

    @inline(__always)
    private mutating func writeScalar(_ block: Block, _ value: BytePointer) {
        switch value[0] {
        case TypeByte.shortText: writeString((value + 2).bytes(Int(value[1])))
        case TypeByte.longText: writeString((value + 5).bytes(Int(value.load32(1))))
        case TypeByte.reference:
            block.withReference(value.load16(1)) { text in
                if let bytes = Node.text(text.start) { writeString(bytes) }
            }
        default: write(leaf: Node(scalar: value))
        }
    }

    private mutating func writeMap(_ block: Block, _ map: BytePointer, priority: Node) {
        let entries = Entries(map)
        let count = entries.count
        if form == .value, let last = ArrayRule.lastIndex(map) {
            openMap(isArray: true)
            var next = 0
            for index in 0..<count {
                next = beginElement(Key.integer(entries.key(index)) ?? last, from: next)
                write(block, entries.value(index))
                write(0x2C)
            }
            return closeMap(isArray: true)
        }
        openMap(isArray: false)
        for index in 0..<count {
            beginMember(entries.key(index))
            if form == .keys {
                write("true")
            } else {
                write(block, entries.value(index))
            }
            write(0x2C)
        }
        if !priority.isAbsent { writeLastPriority(priority) }
        closeMap(isArray: false)
    }

    // MARK: - Layout

    // Each element and member ends in a comma, which the end of its array or object removes.

    /// Begins an array or object.
    mutating func openMap(isArray: Bool) {
        write(isArray ? 0x5B : 0x7B)
        if isPretty && !isArray { level += 1 }
    }

    /// Ends an array or object behind the comma of its last element or member.
    mutating func closeMap(isArray: Bool) {
        text.used -= 1
        if isPretty && isArray { return write(" ]") }
        if isPretty {
            level -= 1
            startLine()
        }
        write(isArray ? 0x5D : 0x7D)
    }

    /// Writes a name, up to where its value begins.
    @inline(__always)
    mutating func beginMember(_ key: Bytes) {
        if isPretty { startLine() }
        writeString(key)
        writeColon()
    }

    /// Writes `null` for the elements that are missing before `index`; returns the index after it.
    mutating func beginElement(_ index: Int, from next: Int) -> Int {
        for _ in next..<max(next, index) { isPretty ? write(" null,") : write("null,") }
        if isPretty { write(0x20) }
        return index + 1
    }

    /// Begins a leaf that has a priority.
    mutating func openLeaf() {
        openMap(isArray: false)
        beginDotMember("\".value\"")
    }

    /// Ends a leaf that has a priority.
    mutating func closeLeaf(_ priority: Node) {
        write(0x2C)
        writeLastPriority(priority)
        closeMap(isArray: false)
    }

    mutating func writeLastPriority(_ priority: Node) {
        beginDotMember("\".priority\"")
        write(leaf: priority)
        write(0x2C)
    }

    private mutating func beginDotMember(_ name: StaticString) {
        if isPretty { startLine() }
        write(name)
        writeColon()
    }

    @inline(__always)
    private mutating func writeColon() {
        isPretty ? write(" : ") : write(0x3A)
    }

    private mutating func startLine() {
        write(0x0A)
        for _ in 0..<level { write("  ") }
    }

    /// Removes a trailing comma; returns whether there was one.
    mutating func dropTrailingComma() -> Bool {
        if text.used == 0 || text.base[text.used - 1] != 0x2C { return false }
        text.used -= 1
        return true
    }

    // MARK: - Words

    @inline(__always)
    mutating func write(_ byte: UInt8) {
        text.reserve(to: text.used + 1)
        text.base[text.used] = byte
        text.used += 1
    }

    @inline(__always)
    mutating func write(_ word: StaticString) {
        let count = word.utf8CodeUnitCount
        text.reserve(to: text.used + count)
        unsafe text.append(BytePointer(word.utf8Start), count)
    }

    mutating func write(integer number: Int64) {
        text.reserve(to: text.used + 20)
        var rest = number.magnitude
        var digits = 1
        var power: UInt64 = 10
        while digits < 19 && rest >= power {
            digits += 1
            power *= 10
        }
        if number < 0 { write(0x2D) }
        var offset = text.used + digits
        text.used = offset
        repeat {
            offset -= 1
            text.base[offset] = UInt8(48 + rest % 10)
            rest /= 10
        } while rest > 0
    }

    /// Writes a double in the fewest digits that read back as it.
    mutating func write(double number: Double) {
        let digits = number == 0 ? "-0" : number.description
        for byte in digits.utf8 { write(byte) }
    }
}
