import DatabaseCore
import JSONTree
import WireProtocol

/// What a write does with its body.
enum BodyUse: Sendable, Equatable {
    case put
    /// Makes a child of this name.
    case post(key: Key)
    case patch
}

extension Request.Operation {
    /// What the body of a write asks for at a location in the tree.
    ///
    /// Pure: any thread may do it. Throws the text of a 400 answer, in the words that clients of this API know.
    init(
        _ use: BodyUse,
        _ target: WriteTarget,
        _ conditions: RESTConditions,
        body: [UInt8]
    ) throws(BadRequest) {
        if use != .put, target.isPriority { throw .path }
        if use == .patch {
            self = try Request.Operation.merge(at: target.path, body, conditions.tagUse)
        } else {
            try self.init(use, target, conditions, draft: try Draft(requestBody: body))
        }
    }

    /// What the value in the body of a write asks for.
    init(
        _ use: BodyUse,
        _ target: WriteTarget,
        _ conditions: RESTConditions,
        draft: Draft
    ) throws(BadRequest) {
        if case .post(let key) = use {
            if target.isPriority { throw .path }
            self = .push(target.path, key: key, draft, conditions.tagUse)
            return
        }
        do throws(WriteFault) { try draft.check(at: target) } catch {
            throw BadRequest("\(error)")
        }
        self = .put(target, draft, condition: conditions.match, conditions.tagUse)
    }

    /// What a PATCH of these members asks for.
    init(
        mergeAt target: WriteTarget,
        _ members: [(path: String, draft: Draft)],
        _ conditions: RESTConditions
    ) throws(BadRequest) {
        if target.isPriority { throw .path }
        do throws(WriteFault) {
            self = .merge(
                target.path,
                try MergeEntry.ofMembers(members, base: target.path),
                conditions.tagUse
            )
        } catch {
            if case .path = error { throw .notAnObject }
            throw BadRequest("\(error)")
        }
    }

    /// A PATCH of null deletes, as `firebase database:remove` relies on.
    private static func merge(
        at base: Path,
        _ body: [UInt8],
        _ tagUse: Request.TagUse
    ) throws(BadRequest) -> Request.Operation {
        if body.isBlank { throw .noData }
        do throws(JSONError) {
            let isNull = try body.withBytes { bytes throws(JSONError) in
                var scanner = JSONScanner(bytes)
                return try scanner.peek() == UInt8(ascii: "n")
            }
            if isNull {
                let draft = try Draft(json: body)
                return .put(WriteTarget(path: base, isPriority: false), draft, tagUse)
            }
        } catch {
            throw .notAnObject
        }
        do throws(MergeError) {
            return .merge(base, try MergeEntry.parse(body, base: base), tagUse)
        } catch {
            switch error {
            case .notAnObject, .target(.path): throw .notAnObject
            case .value(let fault): throw BadRequest(fault, in: body)
            case .target(let fault): throw BadRequest("\(fault)")
            }
        }
    }
}

extension Draft {
    /// Reads the body of a write.
    fileprivate init(requestBody body: [UInt8]) throws(BadRequest) {
        if body.isBlank { throw .noData }
        do throws(JSONError) { self = try Draft(json: body) } catch {
            throw BadRequest(error, in: body)
        }
    }
}

extension [UInt8] {
    /// Whether it holds nothing but the white space of JSON.
    fileprivate var isBlank: Bool {
        allSatisfy { $0.isJSONSpace }
    }
}

extension UInt8 {
    /// Whether it is white space between the tokens of JSON.
    var isJSONSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}

extension BadRequest {
    static let noData = BadRequest("Error: No data supplied.")
    static let path = BadRequest("Invalid path: Invalid token in path")
    static let notAnObject = BadRequest(
        "Invalid data; couldn't parse JSON object. "
            + "Are you sending a JSON object with valid key names?"
    )

    /// Says in the known words what is wrong with a body, and where.
    init(_ error: JSONError, in body: [UInt8]) {
        let position = body.withBytes { error.lineAndColumn(in: $0) }
        self.init(error.reason, at: position)
    }

    /// The same for a body that is no longer there as a whole.
    init(_ reason: JSONError.Reason, at position: (line: Int, column: Int)?) {
        let (line, column) = position ?? (1, 1)
        switch reason {
        case .badKey:
            self.init(
                "Invalid data; couldn't parse key beginning at \(line):\(column). "
                    + "Key value can't be empty or contain $ # [ ] / or ."
            )
        default:
            self.init(
                "Invalid data; couldn't parse JSON object, array, or value. "
                    + "\(FaultText.json(reason)) at \(line):\(column)."
            )
        }
    }
}
