import JSONTree

extension ClientMessage {
    /// Reads one message, in one pass when it is well formed.
    ///
    /// Members may come in any order and unknown ones are passed over; of a member given twice the
    /// last counts, as in JavaScript.
    ///
    /// - Throws: `MessageError` for what must close the connection: text that is not JSON, or that
    ///   names no request to reply to.
    package static func parse(_ text: [UInt8]) throws(MessageError) -> ClientMessage {
        try text.withBytes { (bytes) throws(MessageError) in
            do throws(ReadingStop) {
                do throws(ReadingStop) {
                    return try EnvelopeReader(message: bytes, fault: nil).read()
                } catch {
                    // Finds out whom to answer when the body was bad, and whether it was JSON at all.
                    guard case .body(let fault) = error else { throw error }
                    return try EnvelopeReader(message: bytes, fault: fault).read()
                }
            } catch {
                switch error {
                case .body: preconditionFailure("a body that is passed over has no fault")
                case .json(let error): throw .notJSON(error)
                case .envelope(let error): throw error
                }
            }
        }
    }
}

/// Reads the layers around a request body:
///
///     {"t": layer, "d": payload}          payload of layer c: {"t": command, "d": argument}
///                                         payload of layer d: {"r": number, "a": action, "b": body}
private struct EnvelopeReader {
    let message: Bytes

    /// When set, bodies are only checked for being JSON, and the request is malformed for this reason.
    let fault: String?

    func read() throws(ReadingStop) -> ClientMessage {
        var reader = MemberReader(message, 0..<message.count)
        var layer: String?
        var payload: Range<Int>?
        var result: ClientMessage?
        guard try reader.enterObject() else { throw .envelope(.notAnObject) }
        while let name = try reader.nextName() {
            switch name {
            case "t":
                layer = try reader.string()
                if layer == nil { throw .envelope(.wrongType(member: "t")) }
            case "d":
                if let layer {
                    result = try readPayload(&reader, layer)
                } else {
                    payload = try reader.skip()
                }
            default:
                _ = try reader.skip()
            }
        }
        try reader.expectEnd()
        if let result { return result }
        guard let layer else { throw .envelope(.missing(member: "t")) }
        guard let payload else { throw .envelope(.missing(member: "d")) }
        var deferred = MemberReader(message, payload)
        return try readPayload(&deferred, layer)
    }

    private func readPayload(
        _ reader: inout MemberReader,
        _ layer: String,
    ) throws(ReadingStop) -> ClientMessage {
        switch layer {
        case "c": try readControl(&reader)
        case "d": .request(try readRequest(&reader))
        default: throw .envelope(.unknownLayer)
        }
    }

    private func readControl(_ reader: inout MemberReader) throws(ReadingStop) -> ClientMessage {
        guard try reader.enterObject() else { throw .envelope(.notAnObject) }
        var command: String?
        while let name = try reader.nextName() {
            if name == "t" {
                command = try reader.string()
                if command == nil { throw .envelope(.wrongType(member: "t")) }
            } else {
                _ = try reader.skip()
            }
        }
        switch command {
        case "p": return .ping
        case "a": return .upgradeAck
        case "n": return .endOfTransmission
        case .some: return .unknownControl
        case nil: throw .envelope(.missing(member: "t"))
        }
    }

    private func readRequest(_ reader: inout MemberReader) throws(ReadingStop) -> ClientRequest {
        guard try reader.enterObject() else { throw .envelope(.notAnObject) }
        var number: Int64?
        var name: String?
        var body: Range<Int>?
        var action: ClientRequest.Action?
        while let member = try reader.nextName() {
            switch member {
            case "r":
                number = try reader.integer()
                if number == nil { throw .envelope(.wrongType(member: "r")) }
            case "a" where fault == nil:
                name = try reader.string()
                if name == nil { throw .body("the action must be a string") }
            case "b" where fault == nil && name != nil:
                action = try readBody(&reader, name ?? "")
            case "b" where fault == nil:
                body = try reader.skip()
            default:
                _ = try reader.skip()
            }
        }
        guard let number else { throw .envelope(.missing(member: "r")) }
        if let fault { return ClientRequest(number: number, action: .malformed(fault)) }
        if let action { return ClientRequest(number: number, action: action) }
        guard let name else { throw .body("the action is missing") }
        return ClientRequest(number: number, action: try readDeferredBody(body, name))
    }

    /// Reads a body that came before its action, or that is missing, which is an empty one.
    private func readDeferredBody(
        _ body: Range<Int>?,
        _ name: String,
    ) throws(ReadingStop) -> ClientRequest.Action {
        if let body {
            var deferred = MemberReader(message, body)
            return try readBody(&deferred, name)
        }
        return try RequestBodyReader(message: message).action(name)
    }

    private func readBody(
        _ reader: inout MemberReader,
        _ name: String,
    ) throws(ReadingStop) -> ClientRequest.Action {
        var body = RequestBodyReader(message: message)
        do throws(ReadingStop) {
            try body.read(&reader, name)
        } catch {
            guard case .json(let error) = error else { throw error }
            // Either a value that cannot be stored or invalid JSON: the second reading decides.
            throw .body("\(FaultText.json(error.reason)) at byte \(error.offset)")
        }
        return try body.action(name)
    }
}
