/// Reads JSON text that arrives in parts, in whole values of about `windowByteCount` bytes of text.
///
/// Keeps no more text than that and one scalar (10 MiB; up to six times as much where every character is
/// written as an escape). When so much text holds no whole member, the object or array that is
/// unfinished is opened and its members are read one run after the other. Where runs end follows from
/// the text and the window alone, never from how the text arrives.
///
/// Every byte is read by `JSONScanner` in the order of the text, so errors are those of the whole text. Two differ: a
/// string over `Limits.stringByteCount` is refused before its end arrives, and so is a name, number or word as long as
/// that.
struct JSONCutter {
    /// A position in the whole text: bytes from its start; line and column as people count.
    struct TextPosition {
        var offset = 0
        var line = 1
        var column = 1
    }

    /// An object or array that is read in runs.
    struct Container {
        /// Where its bracket is.
        let start: TextPosition
        let isArray: Bool
        /// Of an update's own object: names are paths, values are apart from each other.
        let isUpdate: Bool
        /// Keys from the value's own position down to it.
        let depth: Int
        /// Its name in the container around it; empty for the outermost.
        let key: [UInt8]
        /// Index of the next element of an array.
        var nextIndex = 0
        /// Members read, those whose names start with a dot aside.
        var memberCount = 0
        var dots = DotMembers()
    }

    enum Event {
        /// The whole value: its text fits the window, or it is a scalar.
        case whole(Draft, text: [UInt8])
        case opened(Container)
        case run(MemberRun)
        case closed(Container)
        /// Members of an update's own object.
        case entries([(path: String, draft: Draft)])
    }

    private enum State {
        case start
        /// Behind a bracket or a comma.
        case item(isFirst: Bool)
        /// Behind a name.
        case colon([UInt8])
        case value([UInt8])
        /// Behind a value.
        case after
        /// Behind the outermost value.
        case tail
    }

    let windowByteCount: Int
    let isUpdate: Bool
    /// Whether runs carry their text.
    let keepsText: Bool

    /// Text not consumed yet, from `bufferStart` on; its first byte is at `base` of the whole text.
    private var buffer: [UInt8] = []
    private var bufferStart = 0
    private var base = 0
    private var isFinished = false
    private var state = State.start
    private var lexer = JSONLexer()
    private var scratch = Scratch()
    /// Outermost first.
    private(set) var containers: [Container] = []
    /// The position of the first byte that is not consumed.
    private var consumed = TextPosition()
    /// Bytes of the whole text that are consumed.
    var consumedOffset: Int { consumed.offset }
    /// Where the error that was thrown is.
    private(set) var fault: TextPosition?

    init(windowByteCount: Int, isUpdate: Bool = false, keepsText: Bool = false) {
        precondition(windowByteCount > 0, "a window holds something")
        self.windowByteCount = windowByteCount
        self.isUpdate = isUpdate
        self.keepsText = keepsText
    }

    /// Takes more text.
    mutating func append(_ text: Bytes) {
        if bufferStart > 0 {
            buffer.removeSubrange(..<bufferStart)
            base += bufferStart
            bufferStart = 0
        }
        buffer.append(contentsOf: text)
    }

    /// Says that the text is complete.
    mutating func end() { isFinished = true }

    /// The next event; nil when there is more text to come, or at the end.
    mutating func next() throws(JSONError) -> Event? {
        do throws(JSONError) {
            while true {
                switch try step() {
                case .again: continue
                case .wait: return nil
                case .event(let event): return event
                }
            }
        } catch {
            note(error)
            throw error
        }
    }

    /// Keeps where an error is that a reader of the events found in a container.
    mutating func refuse(_ reason: JSONError.Reason, _ container: Container) -> JSONError {
        fault = container.start
        return JSONError(reason, offset: container.start.offset)
    }

    private mutating func note(_ error: JSONError) {
        if error.offset >= consumed.offset {
            fault = position(at: error.offset)
        } else {
            fault = containers.last { $0.start.offset == error.offset }?.start ?? consumed
        }
    }

    // MARK: Steps

    private enum Progress {
        case again
        case wait
        case event(Event)
    }

    private mutating func step() throws(JSONError) -> Progress {
        switch state {
        case .start: try readStart()
        case .item(let isFirst): try readItem(isFirst: isFirst)
        case .colon(let key): try readColon(key)
        case .value(let key): try readValue(key)
        case .after: try readAfter()
        case .tail: try readTail()
        }
    }

    /// Looks for cuts as far as the window reaches.
    private mutating func look() {
        advanceLexer(to: min(consumed.offset + windowByteCount, textEnd))
    }

    private mutating func advanceLexer(to limit: Int) {
        if limit <= lexer.offset { return }
        buffer.withBytes { lexer.advance($0, base: base, to: limit, current: containers.count - 1) }
    }

    private var textEnd: Int { base + buffer.count }
    private var isAllSeen: Bool { isFinished && lexer.offset == textEnd }
    private var isWindowFull: Bool {
        lexer.isOverlong || lexer.offset - consumed.offset >= windowByteCount
    }

    private mutating func readStart() throws(JSONError) -> Progress {
        if isUpdate {
            guard let byte = try peek() else { return .wait }
            if byte != 0x7B { throw JSONError(.unexpectedByte(byte), offset: consumed.offset) }
            advanceLexer(to: consumed.offset + 1)
            return .event(open(byte, key: []))
        }
        look()
        if isAllSeen {
            let text = Array(buffer[bufferStart...])
            state = .tail
            let draft = try scan { scanner throws(JSONError) in
                let draft = try scanner.readDraft()
                try scanner.expectEnd()
                return draft
            }
            consume(to: textEnd)
            return .event(.whole(draft, text: text))
        }
        if !isWindowFull { return .wait }
        let before = consumed.offset
        guard let byte = try peek() else { return .wait }
        if consumed.offset != before { return .again }
        let isNested = byte == 0x7B || byte == 0x5B
        if isNested, !lexer.isClosed { return .event(open(byte, key: [])) }
        if !isNested, try !isTokenSeen() { return .wait }
        let (draft, end) = try scan { scanner throws(JSONError) in
            (try scanner.readDraft(), scanner.offset)
        }
        let start = bufferStart
        consume(to: consumed.offset + end)
        state = .tail
        return .event(.whole(draft, text: Array(buffer[start..<bufferStart])))
    }

    /// Reads a run of members, or steps into the one that the window does not hold.
    private mutating func readItem(isFirst: Bool) throws(JSONError) -> Progress {
        guard let byte = try peek() else { return .wait }
        look()
        let container = containers[containers.count - 1]
        let comma = lexer.levels[containers.count - 1].comma
        if let closing = lexer.closing { return try readRun(to: closing, isFirst) }
        if isWindowFull {
            if comma >= consumed.offset { return try readRun(to: comma, isFirst) }
            if !container.isArray { return try readName() }
            if container.depth == Limits.depth { throw tooDeep(container) }
            if !isFirst, byte == 0x5D {
                throw JSONError(.unexpectedByte(byte), offset: consumed.offset)
            }
            state = .value([])
            return .again
        }
        if isAllSeen { return try readRun(to: .max, isFirst) }
        return .wait
    }

    private func tooDeep(_ container: Container) -> JSONError {
        JSONError(.tooDeep, offset: container.start.offset)
    }

    /// Reads the name of a member that does not fit the window.
    private mutating func readName() throws(JSONError) -> Progress {
        let container = containers[containers.count - 1]
        let byte = buffer[bufferStart]
        let start = consumed.offset
        if byte != 0x22 { throw JSONError(.unexpectedByte(byte), offset: start) }
        if lexer.isOverlong, lexer.tokenStart == start {
            let length = PathError.keyTooLong(byteCount: lexer.offset - start)
            throw JSONError(.badKey(length), offset: start)
        }
        if try !isTokenSeen() { return .wait }
        let (key, end) = try scan { scanner throws(JSONError) in
            scanner.offset += 1
            let byteCount = try scanner.copyText(to: scanner.scratch.used)
            return (scanner.scratch.bytes(scanner.scratch.used, byteCount).array, scanner.offset)
        }
        if !container.isUpdate {
            if DotMembers.isName(key) { return try readWideDotMember() }
            if container.depth == Limits.depth { throw tooDeep(container) }
            if let fault = key.withBytes({ Key.fault(in: $0) }) {
                throw JSONError(.badKey(fault), offset: start)
            }
        }
        consume(to: start + end)
        state = .colon(key)
        return .again
    }

    /// A member such as `.priority` is never opened: its end must have arrived, at most a scalar away.
    private mutating func readWideDotMember() throws(JSONError) -> Progress {
        let limit = consumed.offset + windowByteCount + Limits.stringByteCount + 1024
        var reached = lexer.offset
        while lexer.closing == nil, !lexer.isOverlong, reached < min(limit, textEnd) {
            reached = min(reached + windowByteCount, limit, textEnd)
            advanceLexer(to: reached)
            if lexer.levels[containers.count - 1].comma >= consumed.offset { break }
        }
        let comma = lexer.levels[containers.count - 1].comma
        if let closing = lexer.closing { return try readRun(to: closing, false) }
        if comma >= consumed.offset { return try readRun(to: comma, false) }
        if lexer.isOverlong {
            throw JSONError(.stringTooLong, offset: lexer.tokenStart)
        }
        if isAllSeen { return try readRun(to: .max, false) }
        if lexer.offset < limit { return .wait }
        throw JSONError(.badValue, offset: consumed.offset)
    }

    private mutating func readColon(_ key: [UInt8]) throws(JSONError) -> Progress {
        guard let byte = try peek() else { return .wait }
        if byte != 0x3A { throw JSONError(.unexpectedByte(byte), offset: consumed.offset) }
        consume(to: consumed.offset + 1)
        state = .value(key)
        return .again
    }

    /// Reads the value of one member, or opens it when the window does not hold it.
    private mutating func readValue(_ key: [UInt8]) throws(JSONError) -> Progress {
        guard let byte = try peek() else { return .wait }
        look()
        let isNested = byte == 0x7B || byte == 0x5B
        if isNested {
            // A comma followed it, or its bracket closed. In text that is not JSON another bracket may be open instead.
            let level = lexer.levels.dropFirst(containers.count).first
            let isWhole =
                lexer.levels[containers.count - 1].comma >= consumed.offset
                || (lexer.offset > consumed.offset && level?.start != consumed.offset)
            if !isWhole && !isAllSeen {
                return isWindowFull ? .event(open(byte, key: key)) : .wait
            }
        } else if try !isTokenSeen() {
            return .wait
        }
        return .event(try readMember(key))
    }

    /// Whether the string, number or word that is next has been looked at to its end.
    private mutating func isTokenSeen() throws(JSONError) -> Bool {
        let start = consumed.offset
        while lexer.offset <= start || (lexer.isInToken && lexer.tokenStart == start) {
            if lexer.isOverlong { throw JSONError(.stringTooLong, offset: start) }
            if lexer.offset == textEnd { return isFinished }
            advanceLexer(to: min(lexer.offset + windowByteCount, textEnd))
            if lexer.closing != nil { break }
        }
        return true
    }

    private mutating func readAfter() throws(JSONError) -> Progress {
        guard let byte = try peek() else { return .wait }
        let container = containers[containers.count - 1]
        if byte == (container.isArray ? 0x5D : 0x7D) {
            advanceLexer(to: consumed.offset + 1)
            precondition(lexer.closing == consumed.offset, "both find the same bracket")
            lexer.close()
            consume(to: consumed.offset + 1)
            containers.removeLast()
            state = containers.isEmpty ? .tail : .after
            return .event(.closed(container))
        }
        if byte != 0x2C { throw JSONError(.unexpectedByte(byte), offset: consumed.offset) }
        advanceLexer(to: consumed.offset + 1)
        consume(to: consumed.offset + 1)
        state = .item(isFirst: false)
        return .again
    }

    private mutating func readTail() throws(JSONError) -> Progress {
        skipSpace()
        if bufferStart < buffer.count { throw JSONError(.trailingText, offset: consumed.offset) }
        return .wait
    }

    private mutating func open(_ byte: UInt8, key: [UInt8]) -> Event {
        let isOutermost = containers.isEmpty
        let depth = isOutermost ? 0 : containers.count - (isUpdate ? 1 : 0)
        var name = key
        if let last = containers.indices.last {
            containers[last].memberCount += 1
            if containers[last].isArray {
                name = Array(String(containers[last].nextIndex).utf8)
                containers[last].nextIndex += 1
            }
        }
        let container = Container(
            start: consumed,
            isArray: byte == 0x5B,
            isUpdate: isUpdate && isOutermost,
            depth: depth,
            key: name
        )
        containers.append(container)
        consume(to: consumed.offset + 1)
        state = .item(isFirst: true)
        return .opened(container)
    }

    // MARK: Reading

    /// Reads members up to the comma or bracket at `cut`, or to one whose name starts with a dot.
    private mutating func readRun(to cut: Int, _ isFirst: Bool) throws(JSONError) -> Progress {
        let last = containers.count - 1
        var container = containers[last]
        let relative = cut == .max ? cut : cut - consumed.offset
        let start = container.start.offset - consumed.offset
        if container.isUpdate {
            let (entries, end) = try scan { scanner throws(JSONError) in
                (try scanner.readEntries(isFirst, cut: relative), scanner.offset)
            }
            pass(cut, end)
            return entries.isEmpty ? .again : .event(.entries(entries))
        }
        let keepsText = keepsText
        let (run, end) = try scan { scanner throws(JSONError) in
            let run = try scanner.readRun(&container, isFirst, cut: relative, start, keepsText)
            return (run, scanner.offset)
        }
        containers[last] = container
        pass(cut, end)
        return run.map { .event(.run($0)) } ?? .again
    }

    /// Consumes a run of members, and the comma behind it.
    private mutating func pass(_ cut: Int, _ end: Int) {
        let reached = consumed.offset + end
        if reached < cut {
            // Before a member that is read by itself.
            consume(to: reached)
            state = .item(isFirst: false)
        } else if cut == lexer.closing {
            consume(to: cut)
            state = .after
        } else {
            consume(to: cut + 1)
            state = .item(isFirst: false)
        }
    }

    /// Reads one member whose name and colon are consumed.
    private mutating func readMember(_ key: [UInt8]) throws(JSONError) -> Event {
        let last = containers.count - 1
        let container = containers[last]
        let start = bufferStart
        state = .after
        if container.isUpdate {
            let (draft, end) = try scan { scanner throws(JSONError) in
                (try scanner.readDraft(), scanner.offset)
            }
            consume(to: consumed.offset + end)
            return .entries([(String(decoding: key, as: UTF8.self), draft)])
        }
        let name = container.isArray ? Array(String(container.nextIndex).utf8) : key
        var (run, end) = try scan { scanner throws(JSONError) in
            (try scanner.readMember(name, depth: container.depth), scanner.offset)
        }
        containers[last].memberCount += 1
        if container.isArray { containers[last].nextIndex += 1 }
        if keepsText {
            run.text = MemberRun.text(name) + buffer[start..<start + end]
        }
        consume(to: consumed.offset + end)
        return .run(run)
    }

    /// Reads from the unconsumed bytes; errors carry their position in the whole text.
    private mutating func scan<T>(
        _ body: (inout JSONScanner) throws(JSONError) -> T
    ) throws(JSONError) -> T {
        let start = bufferStart
        let offset = consumed.offset
        var memory = scratch
        scratch = Scratch()
        defer { scratch = memory }
        do throws(JSONError) {
            return try buffer.withBytes { bytes throws(JSONError) in
                var scanner = JSONScanner(bytes.slice(start..<bytes.count))
                scanner.scratch = memory
                defer {
                    memory = scanner.scratch
                    memory.used = 0
                }
                return try body(&scanner)
            }
        } catch {
            throw JSONError(error.reason, offset: error.offset + offset)
        }
    }

    /// The next byte that is not white space; nil when it has not arrived yet.
    private mutating func peek() throws(JSONError) -> UInt8? {
        skipSpace()
        if bufferStart < buffer.count {
            let byte = buffer[bufferStart]
            if byte < 0x20 { throw JSONError(.unexpectedByte(byte), offset: consumed.offset) }
            return byte
        }
        if isFinished { throw JSONError(.unexpectedEnd, offset: textEnd) }
        return nil
    }

    private mutating func skipSpace() {
        var end = bufferStart
        while end < buffer.count {
            let byte = buffer[end]
            if byte != 0x20 && byte != 0x0A && byte != 0x0D && byte != 0x09 { break }
            end += 1
        }
        if end > bufferStart { consume(to: base + end) }
    }

    /// Gives up text before `offset`.
    private mutating func consume(to offset: Int) {
        consumed = position(at: offset)
        bufferStart = offset - base
        // The skipped text has no bracket and no string.
        if lexer.offset < offset { advanceLexer(to: offset) }
    }

    private func position(at offset: Int) -> TextPosition {
        var position = consumed
        let end = min(offset, textEnd)
        let from = consumed.offset - base
        buffer.withBytes { bytes in
            let text = bytes.pointer
            var newlines = 0
            for index in from..<max(from, end - base) { newlines += text[index] == 0x0A ? 1 : 0 }
            position.column += end - consumed.offset
            if newlines == 0 { return }
            var last = end - base - 1
            while text[last] != 0x0A { last -= 1 }
            position.line += newlines
            position.column = end - base - last
        }
        position.offset = offset
        return position
    }
}
