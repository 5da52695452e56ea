import JSONTree
import Queries

/// Reads the body of one request and checks that it can be carried out.
struct RequestBodyReader {
    /// The whole message.
    let message: Bytes

    private var path: String?
    private var hash: String?
    private var compound: CompoundHash?
    private var tag: Int64?
    private var query = QueryObject.none
    private var draft: Draft?
    private var merge: [(path: String, draft: Draft)]?
    private var text: [UInt8]?
    private var token: String?
    private var isNobody = false
    private var override: AuthOverride?

    init(message: Bytes) {
        self.message = message
    }

    /// Which members an action has.
    private enum Shape {
        case nothing, credential, listen, query, put, merge, echo

        init(_ action: String) {
            switch action {
            case "auth", "gauth": self = .credential
            case "q", "l": self = .listen
            case "n", "u", "g", "oc": self = .query
            case "p", "o": self = .put
            case "m", "om": self = .merge
            case "echo": self = .echo
            default: self = .nothing
            }
        }
    }

    /// Collects the members that `action` has.
    mutating func read(_ reader: inout MemberReader, _ action: String) throws(ReadingStop) {
        let shape = Shape(action)
        if case .nothing = shape {
            _ = try reader.skip()
            return
        }
        guard try reader.enterObject() else { throw .body("the body must be an object") }
        while let name = try reader.nextName() {
            let isTaken =
                switch shape {
                case .nothing: false
                case .credential: try readCredential(&reader, name)
                case .listen, .query, .put, .merge: try readMember(&reader, name, of: shape)
                case .echo: try readEcho(&reader, name)
                }
            if !isTaken { _ = try reader.skip() }
        }
    }

    /// The checked request made of the members read so far.
    func action(_ name: String) throws(ReadingStop) -> ClientRequest.Action {
        switch name {
        case "s": .stats
        case "auth": .auth(try credential())
        case "gauth": .gauth(try credential())
        case "unauth": .unauth
        case "appcheck": .appCheck
        case "unappeck", "unappcheck": .unAppCheck
        case "q", "l": .listen(try listenTarget(), tag: tag, hash: listenHash)
        case "n", "u": .unlisten(try listenTarget(), tag: tag)
        case "g": .get(try listenTarget())
        case "p": try put(isOnDisconnect: false)
        case "m": try merge(isOnDisconnect: false)
        case "o": try put(isOnDisconnect: true)
        case "om": try merge(isOnDisconnect: true)
        case "oc": .onDisconnectCancel(try writeTarget())
        case "echo": .echo(text ?? Array("null".utf8))
        default: .unknown(name.cutToQuote())
        }
    }
}

// MARK: Members

extension RequestBodyReader {
    private mutating func readCredential(
        _ reader: inout MemberReader,
        _ name: MemberName,
    ) throws(ReadingStop) -> Bool {
        switch name {
        case "cred":
            token = try reader.string()
            if token == nil { throw .body("`cred` must be a string") }
        case "noauth":
            guard let flag = try reader.boolean() else { throw .body("`noauth` must be a boolean") }
            isNobody = flag
        case "authvar":
            if try reader.null() {
                override = .nobody
            } else if let variable = try reader.freeObject() {
                override = .value(variable)
            } else {
                throw .body("`authvar` must be an object or null")
            }
        default: return false
        }
        return true
    }

    /// Reads a member of a request about a location.
    private mutating func readMember(
        _ reader: inout MemberReader,
        _ name: MemberName,
        of shape: Shape,
    ) throws(ReadingStop) -> Bool {
        let isQueried = shape == .listen || shape == .query
        switch name {
        case "p": try readPath(&reader)
        case "h": try readHash(&reader)
        case "ch" where shape == .listen: compound = try CompoundHashReader.read(&reader)
        case "t" where isQueried: try readTag(&reader)
        case "q" where isQueried: query = try QueryObject(&reader, message)
        case "d" where shape == .put: draft = try reader.draft()
        case "d" where shape == .merge:
            guard try reader.enterObject() else {
                throw .body("`d` of a merge must be an object of paths and values")
            }
            var entries: [(path: String, draft: Draft)] = []
            while let path = try reader.nextMember() {
                entries.append((path, try reader.draft()))
            }
            merge = entries
        default: return false
        }
        return true
    }

    private mutating func readEcho(
        _ reader: inout MemberReader,
        _ name: MemberName,
    ) throws(ReadingStop) -> Bool {
        guard name == "d" else { return false }
        text = Array(message.slice(try reader.skip()))
        return true
    }

    private mutating func readPath(_ reader: inout MemberReader) throws(ReadingStop) {
        path = try reader.string()
        if path == nil { throw .body("`p` must be a string") }
    }

    private mutating func readHash(_ reader: inout MemberReader) throws(ReadingStop) {
        hash = try reader.string()
        if hash == nil {
            let isNull = try reader.null()
            if !isNull { throw .body("`h` must be a string") }
        }
    }

    private mutating func readTag(_ reader: inout MemberReader) throws(ReadingStop) {
        if try reader.null() { return tag = nil }
        guard let number = try reader.integer(), number > 0 else {
            throw .body("`t` must be a positive whole number")
        }
        tag = number
    }
}

// MARK: Checks

extension RequestBodyReader {
    private func credential() throws(ReadingStop) -> Credential {
        guard let token else { throw .body("`cred` is missing") }
        return Credential(token: token, override: isNobody ? .nobody : override)
    }

    private func listenTarget() throws(ReadingStop) -> ListenTarget {
        ListenTarget(path: try nodePath(), query: query.spec, queryText: query.text)
    }

    private var listenHash: ListenHash? { hash.map { ListenHash($0, compound: compound) } }

    /// The path of a request that concerns a node as a whole.
    private func nodePath() throws(ReadingStop) -> Path {
        let target = try writeTarget()
        if target.isPriority { throw .body("`p` must not end in .priority here") }
        return target.path
    }

    private func writeTarget() throws(ReadingStop) -> WriteTarget {
        guard let path else { throw .body("`p` is missing") }
        return try checking { () throws(WriteFault) in try WriteTarget(requestPath: path) }
    }

    /// Does a check, whose fault is the answer.
    private func checking<T>(_ check: () throws(WriteFault) -> T) throws(ReadingStop) -> T {
        do throws(WriteFault) { return try check() } catch { throw .body("\(error)") }
    }

    private func put(isOnDisconnect: Bool) throws(ReadingStop) -> ClientRequest.Action {
        let target = try writeTarget()
        guard let draft else { throw .body("`d` is missing") }
        try checking { () throws(WriteFault) in try draft.check(at: target) }
        return isOnDisconnect ? .onDisconnectPut(target, draft) : .put(target, draft, hash: hash)
    }

    private func merge(isOnDisconnect: Bool) throws(ReadingStop) -> ClientRequest.Action {
        let base = try nodePath()
        guard let merge else { throw .body("`d` is missing") }
        let entries = try checking { () throws(WriteFault) in
            try MergeEntry.checked(merge, base: base)
        }
        return isOnDisconnect
            ? .onDisconnectMerge(base, entries) : .merge(base, entries, hash: hash)
    }
}
