import JSONTree
import Queries
import WireProtocol

extension RequestMembers {
    /// The checked action. The observer of an `observe` gets the request's id.
    func action(_ id: Int64, _ makeKey: () -> Key) throws(EventError) -> EventAction {
        let name = try action()
        switch name {
        case "auth":
            try expect(only: .token, in: name)
            return .auth(token: try string(.token))
        case "unauth":
            try expect(in: name)
            return .unauth
        case "ping":
            try expect(in: name)
            return .ping
        case "observe":
            try expect(only: .path, .events, .query, .export, .outline, in: name)
            return .observe(try observation(id))
        case "unobserve":
            try expect(only: .observer, in: name)
            return .unobserve(observer: try observer())
        case "get":
            try expect(only: .path, .query, .export, .outline, in: name)
            return .get(try path(), try query(), try form())
        case "keyAt":
            try expect(only: .path, .index, in: name)
            return .keyAt(try path(), try index())
        case "set":
            try expect(only: .path, .value, .ifMatch, in: name)
            let target = try target()
            return .set(target, try draft(at: target), ifMatch: try ifMatch())
        case "remove":
            try expect(only: .path, .ifMatch, in: name)
            return .remove(try target(), ifMatch: try ifMatch())
        case "update":
            try expect(only: .path, .value, in: name)
            let base = try path()
            return .update(base, try entries(.value, base))
        case "push":
            try expect(only: .path, .value, in: name)
            return try push(makeKey)
        case "onDisconnect":
            try expect(only: .path, .value, .update, .cancel, in: name)
            return try onDisconnect()
        default:
            throw EventError(.unknownRequest, "There is no request \(FaultText.quoted(name)).")
        }
    }

    private func observation(_ id: Int64) throws(EventError) -> Observation {
        Observation(
            id: id,
            path: try path(),
            query: try query(),
            events: try events(),
            form: try form(),
        )
    }

    /// What of values is asked for.
    private func form() throws(EventError) -> Node.JSONForm {
        guard try flag(.outline) else { return try flag(.export) ? .export : .value }
        guard try !flag(.export) else {
            throw EventError(.badRequest, #"Only one of "export" and "outline" can be true."#)
        }
        return .outline
    }

    private func events() throws(EventError) -> EventSet {
        let (bytes, _) = try text(.events)
        var names: [String] = []
        var isListOfStrings = bytes[0] == UInt8(ascii: "[")
        if isListOfStrings {
            do throws(JSONError) {
                var scanner = JSONScanner(bytes)
                try scanner.enterArray()
                while isListOfStrings {
                    if try !scanner.nextElement() { break }
                    isListOfStrings = try scanner.peek() == UInt8(ascii: "\"")
                    if isListOfStrings { names.append(try scanner.readString()) }
                    // More than there are events to name, so something is named twice.
                    if names.count > EventSet.names.count { isListOfStrings = false }
                }
            } catch {
                isListOfStrings = false
            }
        }
        guard isListOfStrings, !names.isEmpty else {
            throw EventError(.badRequest, #""events" must be a list of one to five event names."#)
        }
        var events: EventSet = []
        for name in names {
            guard let event = EventSet.names.first(where: { $0.name == name })?.event else {
                throw EventError(.badRequest, "There is no event \(FaultText.quoted(name)).")
            }
            events.insert(event)
        }
        return events
    }

    private func observer() throws(EventError) -> Int64 {
        if let id = integer(.observer) { return id }
        _ = try text(.observer)
        throw EventError(.badRequest, #""observer" must be a whole number of 64 bits."#)
    }

    private func index() throws(EventError) -> Int {
        if let index = integer(.index), index >= 0 { return Int(index) }
        _ = try text(.index)
        throw EventError(.badRequest, #""index" must be a whole number from 0."#)
    }

    private func query() throws(EventError) -> QuerySpec {
        guard has(.query) else { return .everything }
        let (bytes, _) = try text(.query)
        do throws(EventQueryError) {
            return try QuerySpec(eventQuery: bytes)
        } catch {
            throw EventError(.badQuery, error.description)
        }
    }

    // MARK: Locations

    private func target() throws(EventError) -> WriteTarget {
        let text = try string(.path)
        do throws(WriteFault) { return try WriteTarget(requestPath: text) } catch {
            throw EventError(error)
        }
    }

    /// The path of a request that concerns a node as a whole.
    private func path() throws(EventError) -> Path {
        let target = try target()
        if target.isPriority {
            throw EventError(.badPath, "The path must not end in /.priority here.")
        }
        return target.path
    }

    // MARK: Values

    private func draft(at target: WriteTarget) throws(EventError) -> Draft {
        let (bytes, offset) = try text(.value)
        let draft: Draft
        do throws(JSONError) {
            var scanner = JSONScanner(bytes)
            draft = try scanner.readDraft()
        } catch {
            throw EventError(value: JSONError(error.reason, offset: offset + error.offset))
        }
        do throws(WriteFault) { try draft.check(at: target) } catch { throw EventError(error) }
        return draft
    }

    private func entries(_ name: Name, _ base: Path) throws(EventError) -> [MergeEntry] {
        let (bytes, offset) = try text(name)
        do throws(MergeError) {
            return try MergeEntry.parseBorrowed(bytes, base: base)
        } catch {
            switch error {
            case .notAnObject:
                throw EventError(
                    .badRequest,
                    "\(FaultText.quoted(name.rawValue)) must be an object of paths and values here."
                )
            case .value(let fault):
                throw EventError(value: JSONError(fault.reason, offset: offset + fault.offset))
            case .target(let fault): throw EventError(fault)
            }
        }
    }

    private func push(_ makeKey: () -> Key) throws(EventError) -> EventAction {
        let path = try path()
        let key = makeKey()
        let child = WriteTarget(path: path.appending(key))
        guard child.path.keyCount <= Limits.depth else {
            throw EventError(WriteFault.tooDeep(keyCount: child.path.keyCount))
        }
        return .push(path, key: key, try draft(at: child))
    }

    private func ifMatch() throws(EventError) -> EntityTag? {
        has(.ifMatch) ? EntityTag(received: try string(.ifMatch)) : nil
    }

    private func onDisconnect() throws(EventError) -> EventAction {
        switch (has(.value), has(.update), has(.cancel)) {
        case (true, false, false):
            let target = try target()
            return .onDisconnectSet(target, try draft(at: target))
        case (false, true, false):
            let base = try path()
            return .onDisconnectUpdate(base, try entries(.update, base))
        case (false, false, true):
            guard try flag(.cancel) else {
                throw EventError(.badRequest, #""cancel" must be true."#)
            }
            return .onDisconnectCancel(try target())
        default:
            throw EventError(
                .badRequest,
                #""onDisconnect" takes one of "value", "update" and "cancel"."#
            )
        }
    }
}
