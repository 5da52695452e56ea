import HTTPClient
import JSONTree

struct ExportRun {
    private let database: RemoteDatabase
    private let file: OutputFile
    /// Whether priorities are written, as `.priority` members.
    private let hasPriorities: Bool
    private var progress: Progress

    init(_ database: RemoteDatabase, _ file: OutputFile, hasPriorities: Bool) {
        self.database = database
        self.file = file
        self.hasPriorities = hasPriorities
        progress = Progress("exporting", database.console, isShown: !file.isOnTerminal)
    }

    var elapsed: Duration { progress.elapsed }

    /// Writes the value at `path` and a newline.
    mutating func perform(_ path: DatabasePath) throws(CommandError) {
        defer { progress.clear() }
        if try !writeWhole(path) {
            database.console.say(
                "\(database.address.describe(path)) is too large for one answer: it is exported in"
                    + " pages, each as it is when it is read"
            )
            try writePages(path)
        }
        try file.write([UInt8(ascii: "\n")])
    }

    private var form: Parameters {
        hasPriorities ? [("format", "export")] : []
    }

    /// Writes the value from one answer; false when it is too large for one.
    private mutating func writeWhole(_ path: DatabasePath) throws(CommandError) -> Bool {
        let file = file
        var progress = progress
        defer { self.progress = progress }
        // The newline that a server may add comes from here in any case.
        var newlines = 0
        return try get(path, form) { bytes throws(CommandError) in
            var count = bytes.count
            while count > 0, bytes[count - 1] == UInt8(ascii: "\n") { count -= 1 }
            if count > 0, newlines > 0 {
                try file.write([UInt8](repeating: UInt8(ascii: "\n"), count: newlines))
                newlines = 0
            }
            newlines += bytes.count - count
            try file.write(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
            progress.show(file.byteCount)
        }
    }

    /// Writes an object, page by page of its children.
    private mutating func writePages(_ path: DatabasePath) throws(CommandError) {
        guard path.keys.count <= DataLimits.cutDepth else {
            throw .failed("\(path.description) is deeper than \(DataLimits.cutDepth) levels")
        }
        try file.write([UInt8(ascii: "{")])
        var lastKey: String?
        // One for each page: a server that does not know `startAfter` gives the same again and again.
        var seenKeys: Set<String> = []
        func goOn(behind key: String) throws(CommandError) {
            guard seenKeys.insert(key).inserted else {
                let location = database.address.describe(path)
                throw .failed("\(location): the server gives the same page again and again")
            }
            lastKey = key
        }
        var size = PageSize()
        while true {
            guard let page = try writePage(path, after: lastKey, size.childCount) else {
                if size.shrink() { continue }
                guard let key = try firstKey(path, after: lastKey) else { break }
                let isFirst = lastKey == nil
                try goOn(behind: key)
                try writeLargeChild(path, key, isFirst: isFirst)
                continue
            }
            guard let key = page.lastKey else { break }
            try goOn(behind: key)
            size.follow(page.byteCount, page.childCount)
        }
        if hasPriorities { try writePriority(path, isFirst: lastKey == nil) }
        try file.write([UInt8(ascii: "}")])
    }

    /// Writes at most `count` children behind a key; nil when they are too large for one answer.
    private mutating func writePage(
        _ path: DatabasePath,
        after key: String?,
        _ count: Int,
    ) throws(CommandError) -> (lastKey: String?, childCount: Int, byteCount: Int)? {
        var parameters = form + [("orderBy", "\"$key\""), ("limitToFirst", String(count))]
        if let key { parameters.append(("startAfter", JSONWord.quoted(key))) }
        var children = ChildTexts(isContinued: key != nil)
        let file = file
        let bytesBefore = file.byteCount
        var progress = progress
        defer { self.progress = progress }
        let isWhole = try get(path, parameters) { bytes throws(CommandError) in
            var out: [UInt8] = []
            out.reserveCapacity(bytes.count + 64)
            children.read(bytes, into: &out)
            try file.write(out)
            progress.show(file.byteCount)
        }
        guard isWhole else { return nil }
        return (children.lastKey, children.childCount, file.byteCount - bytesBefore)
    }

    private mutating func writeLargeChild(
        _ path: DatabasePath,
        _ key: String,
        isFirst: Bool,
    ) throws(CommandError) {
        var text: [UInt8] = isFirst ? [] : [UInt8(ascii: ",")]
        appendJSONString(key, to: &text)
        try file.write(text + [UInt8(ascii: ":")])
        let child = path.appending([key])
        if try !writeWhole(child) { try writePages(child) }
    }

    /// The key behind another.
    private func firstKey(
        _ path: DatabasePath,
        after key: String?,
    ) throws(CommandError) -> String? {
        var parameters = [("shallow", "true"), ("limitToFirst", "1")]
        if let key { parameters.append(("startAfter", key)) }
        let answer = try getSmall(path, parameters)
        var children = ChildTexts(isContinued: false)
        var out: [UInt8] = []
        answer.withUnsafeBytes { children.read($0, into: &out) }
        return children.lastKey
    }

    private func writePriority(_ path: DatabasePath, isFirst: Bool) throws(CommandError) {
        let text = try getSmall(path.appending([".priority"]), []).filter {
            $0 != UInt8(ascii: "\n")
        }
        guard text != Array("null".utf8) else { return }
        try file.write(Array("\(isFirst ? "" : ",")\".priority\":".utf8) + text)
    }

    /// Reads a value that is little.
    private func getSmall(
        _ path: DatabasePath,
        _ parameters: Parameters,
    ) throws(CommandError) -> [UInt8] {
        let body = try database.perform(database.request(.get, path, parameters)).body
        var answer = JSONAnswer(database.address, path)
        try body.withUnsafeBufferPointer { (bytes) throws(CommandError) in
            try answer.check(UnsafeRawBufferPointer(bytes))
        }
        try answer.finish()
        return body
    }

    /// Reads a value; false when the server says it is too large for one answer.
    private func get(
        _ path: DatabasePath,
        _ parameters: Parameters,
        _ receive: (UnsafeRawBufferPointer) throws(CommandError) -> Void,
    ) throws(CommandError) -> Bool {
        let request = database.request(.get, path, parameters)
        var answer = JSONAnswer(database.address, path)
        let response = try withoutActuallyEscaping(receive) { (receive) throws(CommandError) in
            try database.answer(to: request) { bytes in
                try answer.check(bytes)
                try receive(bytes)
            }
        }
        if response.isSuccess {
            try answer.finish()
            return true
        }
        guard response.status == 400,
            RemoteDatabase.words(response).contains("exceeds the maximum size")
        else { throw database.refusal(request, response) }
        return false
    }
}

/// How many children are asked for at a time.
private struct PageSize {
    private(set) var childCount = 1000

    /// Bytes that a page should have: enough to make requests rare, little enough to be no burden.
    private static let byteCount = 16 * 1024 * 1024

    /// Asks for fewer; false when it is one already.
    mutating func shrink() -> Bool {
        guard childCount > 1 else { return false }
        childCount = max(1, childCount / 32)
        return true
    }

    /// Learns from a page.
    mutating func follow(_ byteCount: Int, _ count: Int) {
        let wanted = Self.byteCount / max(1, byteCount / max(1, count))
        childCount = max(1, min(wanted, childCount * 8, 1_000_000))
    }
}
