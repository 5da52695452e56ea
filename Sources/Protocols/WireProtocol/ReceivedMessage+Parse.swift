import JSONTree
import Queries

extension ReceivedMessage {
    /// Reads one message, in one pass when types come before what they are the types of.
    ///
    /// Throws `MessageError` for text that is not a message of a server; the connection is then of no use.
    package static func parse(_ text: [UInt8]) throws(MessageError) -> ReceivedMessage {
        try MessageError.reading { () throws(ReadingStop) in
            try text.withBytes { (bytes) throws(ReadingStop) in
                try ReceivedReader(text: text, message: bytes).read()
            }
        }
    }
}

/// Reads the layers of a message; content before its type is skipped and read afterwards.
private struct ReceivedReader {
    /// The message, and its borrowed form.
    let text: [UInt8]
    let message: Bytes

    func read() throws(ReadingStop) -> ReceivedMessage {
        var reader = MemberReader(message, 0..<message.count)
        let result = try read(&reader) { (reader, layer) throws(ReadingStop) in
            switch layer {
            case "c": return try readControl(&reader)
            case "d": return try readData(&reader)
            default: throw .envelope(.unknownLayer)
            }
        }
        try reader.expectEnd()
        guard let result else { throw .envelope(.missing(member: "d")) }
        return result
    }

    /// Reads `{"t": type, "d": content}`; nil when there is no content.
    private func read<T>(
        _ reader: inout MemberReader,
        _ readContent: (inout MemberReader, String) throws(ReadingStop) -> T,
    ) throws(ReadingStop) -> T? {
        var type: String?
        var passed: Range<Int>?
        var result: T?
        guard try reader.enterObject() else { throw .envelope(.notAnObject) }
        while let name = try reader.nextName() {
            switch name {
            case "t":
                type = try reader.string()
                if type == nil { throw .envelope(.wrongType(member: "t")) }
            case "d":
                if let type {
                    result = try readContent(&reader, type)
                } else {
                    passed = try reader.skip()
                }
            default: _ = try reader.skip()
            }
        }
        if let result { return result }
        guard let type else { throw .envelope(.missing(member: "t")) }
        guard let passed else { return nil }
        var deferred = MemberReader(message, passed)
        return try readContent(&deferred, type)
    }

    // MARK: Control

    private func readControl(_ reader: inout MemberReader) throws(ReadingStop) -> ReceivedMessage {
        try read(&reader) { (reader, command) throws(ReadingStop) in
            switch command {
            case "h": return try readHello(&reader)
            case "r": return .reset(host: try readText(&reader))
            case "s": return .shutdown(try readText(&reader))
            case "o":
                _ = try reader.skip()
                return .pong
            default:
                _ = try reader.skip()
                return .unknown
            }
        } ?? .unknown
    }

    private func readText(_ reader: inout MemberReader) throws(ReadingStop) -> String {
        guard let text = try reader.string() else { throw .envelope(.wrongType(member: "d")) }
        return text
    }

    private func readHello(_ reader: inout MemberReader) throws(ReadingStop) -> ReceivedMessage {
        var time: Int64?
        var host: String?
        var session: String?
        guard try reader.enterObject() else { throw .envelope(.wrongType(member: "d")) }
        while let name = try reader.nextName() {
            switch name {
            case "ts": time = try reader.integer()
            case "h": host = try reader.string()
            case "s": session = try reader.string()
            default: _ = try reader.skip()
            }
        }
        guard let time else { throw .envelope(.missing(member: "ts")) }
        guard WireLimits.serverTime.contains(time) else {
            throw .envelope(.wrongType(member: "ts"))
        }
        let now = Timestamp(milliseconds: time)
        return .hello(serverTime: now, host: host ?? "", session: session ?? "")
    }

    // MARK: Replies

    private func readData(_ reader: inout MemberReader) throws(ReadingStop) -> ReceivedMessage {
        var number: Int64?
        var action: String?
        var passed: Range<Int>?
        var result: ReceivedMessage?
        guard try reader.enterObject() else { throw .envelope(.notAnObject) }
        while let name = try reader.nextName() {
            switch name {
            case "r":
                number = try reader.integer()
                if number == nil { throw .envelope(.wrongType(member: "r")) }
            case "a":
                action = try reader.string()
                if action == nil { throw .envelope(.wrongType(member: "a")) }
            case "b":
                if let number {
                    result = .reply(number, try readReply(&reader))
                } else if let action {
                    result = try readPush(&reader, action)
                } else {
                    passed = try reader.skip()
                }
            default: _ = try reader.skip()
            }
        }
        if let result { return result }
        guard let passed else { return .unknown }
        var deferred = MemberReader(message, passed)
        if let number { return .reply(number, try readReply(&deferred)) }
        if let action { return try readPush(&deferred, action) }
        return .unknown
    }

    private func readReply(_ reader: inout MemberReader) throws(ReadingStop) -> ReceivedReply {
        var status: String?
        var data: Range<Int>?
        guard try reader.enterObject() else { throw .envelope(.wrongType(member: "b")) }
        while let name = try reader.nextName() {
            switch name {
            case "s": status = try reader.string()
            case "d": data = try reader.skip()
            default: _ = try reader.skip()
            }
        }
        guard let status else { throw .envelope(.missing(member: "s")) }
        return ReceivedReply(status: status, message: text, data: data)
    }

    // MARK: Pushes

    private func readPush(
        _ reader: inout MemberReader,
        _ action: String,
    ) throws(ReadingStop) -> ReceivedMessage {
        switch action {
        case "d": return try readPut(&reader)
        case "m": return try readMerge(&reader)
        case "rm": return try readRangeMerge(&reader)
        case "c": return try readCancel(&reader)
        case "ac": return try readAuthRevoked(&reader)
        case "sd": return try readSecurityDebug(&reader)
        default:
            _ = try reader.skip()
            return .unknown
        }
    }

    private func readPut(_ reader: inout MemberReader) throws(ReadingStop) -> ReceivedMessage {
        var address = PushAddress()
        var node: Node?
        guard try reader.enterObject() else { throw .envelope(.wrongType(member: "b")) }
        while let name = try reader.nextName() {
            if name == "d" {
                node = try reader.receivedNode()
            } else if try !address.read(&reader, name) {
                _ = try reader.skip()
            }
        }
        guard let node else { throw .envelope(.missing(member: "d")) }
        let target = try address.target()
        try PushAddress.check(node, for: target)
        return .put(target, node, tag: address.tag)
    }

    private func readMerge(_ reader: inout MemberReader) throws(ReadingStop) -> ReceivedMessage {
        var address = PushAddress()
        var members: [(path: WriteTarget, node: Node)]?
        guard try reader.enterObject() else { throw .envelope(.wrongType(member: "b")) }
        while let name = try reader.nextName() {
            if name == "d" {
                members = try readMergeMembers(&reader)
            } else if try !address.read(&reader, name) {
                _ = try reader.skip()
            }
        }
        guard let members else { throw .envelope(.missing(member: "d")) }
        let base = try address.path()
        let entries = members.map { path, node in
            let whole = WriteTarget(path: base.appending(path.path), isPriority: path.isPriority)
            return (target: whole, node: node)
        }
        return .merge(base, entries, tag: address.tag)
    }

    private func readMergeMembers(
        _ reader: inout MemberReader
    ) throws(ReadingStop) -> [(path: WriteTarget, node: Node)] {
        var members: [(path: WriteTarget, node: Node)] = []
        if try reader.enterArray() {
            // Integer keys, as some servers shorten them; null elements are not members.
            var index = 0
            while try reader.nextElement() {
                let node = try reader.receivedNode()
                if !node.isAbsent {
                    members.append((try PushAddress.target(String(index), "d"), node))
                }
                index += 1
            }
            return members
        }
        guard try reader.enterObject() else { throw .envelope(.wrongType(member: "d")) }
        while let path = try reader.nextMember() {
            let target = try PushAddress.target(path, "d")
            let node = try reader.receivedNode()
            try PushAddress.check(node, for: target)
            members.append((target, node))
        }
        return members
    }

    private func readRangeMerge(
        _ reader: inout MemberReader
    ) throws(ReadingStop) -> ReceivedMessage {
        var address = PushAddress()
        var ranges: [RangeMerge]?
        guard try reader.enterObject() else { throw .envelope(.wrongType(member: "b")) }
        while let name = try reader.nextName() {
            if name == "d" {
                guard try reader.enterArray() else { throw .envelope(.wrongType(member: "d")) }
                var all: [RangeMerge] = []
                while try reader.nextElement() { all.append(try readRange(&reader)) }
                ranges = all
            } else if try !address.read(&reader, name) {
                _ = try reader.skip()
            }
        }
        guard let ranges else { throw .envelope(.missing(member: "d")) }
        return .rangeMerge(try address.path(), ranges, tag: address.tag)
    }

    private func readRange(_ reader: inout MemberReader) throws(ReadingStop) -> RangeMerge {
        var start: WriteTarget?
        var end: WriteTarget?
        var node: Node?
        guard try reader.enterObject() else { throw .envelope(.wrongType(member: "d")) }
        while let name = try reader.nextName() {
            switch name {
            case "s": start = try PushAddress.target(reader.string(), "s")
            case "e": end = try PushAddress.target(reader.string(), "e")
            case "m": node = try reader.receivedNode()
            default: _ = try reader.skip()
            }
        }
        guard let node else { throw .envelope(.missing(member: "m")) }
        return RangeMerge(interval: LeafInterval(after: start, through: end), node: node)
    }

    private func readCancel(_ reader: inout MemberReader) throws(ReadingStop) -> ReceivedMessage {
        var address = PushAddress()
        var queries: [QueryObject]?
        guard try reader.enterObject() else { throw .envelope(.wrongType(member: "b")) }
        while let name = try reader.nextName() {
            if name == "q" {
                queries = try readQueries(&reader)
            } else if try !address.read(&reader, name) {
                _ = try reader.skip()
            }
        }
        let path = try address.path()
        guard let queries else { return .cancel([ListenTarget(path: path)]) }
        let targets = queries.map { query in
            ListenTarget(path: path, query: query.spec, queryText: query.text)
        }
        return .cancel(targets)
    }

    private func readQueries(_ reader: inout MemberReader) throws(ReadingStop) -> [QueryObject] {
        guard try reader.enterArray() else { return [try QueryObject(&reader, message)] }
        var queries: [QueryObject] = []
        while try reader.nextElement() { queries.append(try QueryObject(&reader, message)) }
        return queries
    }

    private func readAuthRevoked(
        _ reader: inout MemberReader
    ) throws(ReadingStop) -> ReceivedMessage {
        let reply = try readReply(&reader)
        return .authRevoked(status: reply.status, reason: reply.text)
    }

    private func readSecurityDebug(
        _ reader: inout MemberReader
    ) throws(ReadingStop) -> ReceivedMessage {
        var words: String?
        guard try reader.enterObject() else { throw .envelope(.wrongType(member: "b")) }
        while let name = try reader.nextName() {
            if name == "msg" {
                words = try reader.string()
                if words == nil { throw .envelope(.wrongType(member: "msg")) }
            } else {
                _ = try reader.skip()
            }
        }
        return .securityDebug(words ?? "")
    }
}

/// The members that address a push.
private struct PushAddress {
    private var text: String?
    private(set) var tag: Int64?

    /// Reads a member if it is one of them.
    mutating func read(
        _ reader: inout MemberReader,
        _ name: MemberName,
    ) throws(ReadingStop) -> Bool {
        switch name {
        case "p":
            text = try reader.string()
            if text == nil { throw .envelope(.wrongType(member: "p")) }
        case "t":
            if try reader.null() { break }
            tag = try reader.integer()
            if tag == nil { throw .envelope(.wrongType(member: "t")) }
        default: return false
        }
        return true
    }

    func target() throws(ReadingStop) -> WriteTarget {
        guard let text else { throw .envelope(.missing(member: "p")) }
        return try Self.target(text, "p")
    }

    /// The path of a push for a whole node.
    func path() throws(ReadingStop) -> Path {
        let target = try target()
        if target.isPriority { throw .envelope(.wrongType(member: "p")) }
        return target.path
    }

    /// Checks that a node may be at a location: a priority is absent, a number or a text, without a priority of its
    /// own.
    static func check(_ node: Node, for target: WriteTarget) throws(ReadingStop) {
        guard target.isPriority, !node.isAbsent else { return }
        guard node.number != nil || node.string != nil, node.priority.isAbsent else {
            throw .envelope(.wrongType(member: "d"))
        }
    }

    static func target(_ text: String?, _ member: String) throws(ReadingStop) -> WriteTarget {
        guard let text else { throw .envelope(.wrongType(member: member)) }
        do throws(PathError) { return try WriteTarget(text) } catch {
            throw .envelope(.wrongType(member: member))
        }
    }
}
