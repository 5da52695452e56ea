import DatabaseCore
import JSONTree
import Queries
import WireProtocol

extension Request.Operation {
    /// What a method and body ask for at a place in the tree.
    ///
    /// Pure: any thread may do it. `key` is the push id for a POST. Throws the text of a 400 answer, in the words that clients of
    /// this API know.
    init(
        _ method: String,
        _ target: WriteTarget,
        _ query: QuerySpec,
        _ conditions: RESTConditions,
        body: [UInt8],
        key: Key?
    ) throws(BadRequest) {
        let tagUse: Request.TagUse = conditions.wantsTag ? .wanted : .none
        switch method {
        case "GET", "HEAD":
            self = .get(target, query, tagUse)
        case "PUT", "POST":
            if method == "POST", target.isPriority { throw .path }
            let draft = try Draft(requestBody: body)
            try self.init(method, target, conditions, draft: draft, key: key)
        case "PATCH":
            if target.isPriority { throw .path }
            self = try Request.Operation.merge(at: target.path, body, tagUse)
        case "DELETE":
            self = .put(target, Draft(.absent), condition: conditions.match, tagUse)
        default:
            preconditionFailure("other methods are answered before")
        }
    }

    /// What a PUT or POST of a value asks for.
    init(
        _ method: String,
        _ target: WriteTarget,
        _ conditions: RESTConditions,
        draft: Draft,
        key: Key?
    ) throws(BadRequest) {
        let tagUse: Request.TagUse = conditions.wantsTag ? .wanted : .none
        if method == "POST" {
            if target.isPriority { throw .path }
            guard let key else { preconditionFailure("a POST is given its key") }
            self = .push(target.path, key: key, draft, tagUse)
            return
        }
        do throws(WriteFault) { try draft.check(at: target) } catch {
            throw BadRequest("\(error)")
        }
        self = .put(target, draft, condition: conditions.match, tagUse)
    }

    /// What a PATCH of these members asks for.
    init(
        mergeAt target: WriteTarget,
        _ members: [(path: String, draft: Draft)],
        _ conditions: RESTConditions
    ) throws(BadRequest) {
        if target.isPriority { throw .path }
        let tagUse: Request.TagUse = conditions.wantsTag ? .wanted : .none
        do throws(WriteFault) {
            self = .merge(
                target.path,
                try MergeEntry.checked(members, base: target.path),
                tagUse
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
        let object = BadRequest.notAnObject
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
            throw object
        }
        do throws(MergeError) {
            return .merge(base, try MergeEntry.parse(body, base: base), tagUse)
        } catch {
            switch error {
            case .notAnObject: throw object
            case .value(let fault): throw BadRequest(fault, in: body)
            case .place(.path): throw object
            case .place(let fault): throw BadRequest("\(fault)")
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
        let place = body.withBytes { error.lineAndColumn(in: $0) }
        self.init(error.reason, at: place)
    }

    /// The same for a body that is no longer there as a whole.
    init(_ reason: JSONError.Reason, at place: (line: Int, column: Int)?) {
        let (line, column) = place ?? (1, 1)
        switch reason {
        case .badKey:
            self.init(
                "Invalid data; couldn't parse key beginning at \(line):\(column). "
                    + "Key value can't be empty or contain $ # [ ] / or ."
            )
        default:
            self.init(
                "Invalid data; couldn't parse JSON object, array, or value. "
                    + "\(FaultText.of(reason)) at \(line):\(column)."
            )
        }
    }
}
