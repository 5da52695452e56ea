import DatabaseCore
import JSONTree
import Queries
import Transport
import WireProtocol

extension Request.Operation {
    /// What a method and body ask for at a place in the tree.
    ///
    /// Pure: any thread may do it. `key` is the push id for a POST. Throws the text of a 400 answer, in the words that clients of
    /// this API know.
    init(
        _ method: String,
        _ head: RequestHead,
        _ target: WriteTarget,
        body: [UInt8],
        key: Key?
    ) throws(BadRequest) {
        switch method {
        case "GET", "HEAD":
            self = .get(target, try Request.Operation.query(head))
        case "PUT":
            self = .put(target, try Draft(requestBody: body))
        case "POST":
            if target.isPriority { throw .path }
            guard let key else { preconditionFailure("a POST is given its key") }
            self = .push(target.path, key: key, try Draft(requestBody: body))
        case "PATCH":
            if target.isPriority { throw .path }
            self = try Request.Operation.merge(at: target.path, body)
        case "DELETE":
            self = .put(target, Draft(.absent))
        default:
            preconditionFailure("other methods are answered before")
        }
    }

    private static func query(_ head: RequestHead) throws(BadRequest) -> QuerySpec {
        do throws(RESTQueryError) {
            return try RESTQuery.parse(head.query).spec ?? .everything
        } catch {
            throw BadRequest("\(error)")
        }
    }

    /// A PATCH of null deletes, as `firebase database:remove` relies on.
    private static func merge(
        at base: Path,
        _ body: [UInt8]
    ) throws(BadRequest) -> Request.Operation {
        let object = BadRequest(
            "Invalid data; couldn't parse JSON object. "
                + "Are you sending a JSON object with valid key names?"
        )
        if body.allSatisfy({ $0 <= 0x20 }) { throw .noData }
        do throws(JSONError) {
            let isNull = try body.withBytes { bytes throws(JSONError) in
                var scanner = JSONScanner(bytes)
                return try scanner.peek() == UInt8(ascii: "n")
            }
            if isNull {
                let draft = try Draft(json: body)
                return .put(WriteTarget(path: base, isPriority: false), draft)
            }
        } catch {
            throw object
        }
        do throws(MergeError) {
            return .merge(base, try MergeEntry.parse(body, base: base))
        } catch {
            switch error {
            case .notAnObject: throw object
            case .value(let fault): throw BadRequest(fault, in: body)
            case .place(let fault): throw BadRequest("\(fault)")
            }
        }
    }
}

extension Draft {
    /// Reads the body of a write.
    fileprivate init(requestBody body: [UInt8]) throws(BadRequest) {
        if body.allSatisfy({ $0 <= 0x20 }) { throw .noData }
        do throws(JSONError) { self = try Draft(json: body) } catch {
            throw BadRequest(error, in: body)
        }
    }
}

extension BadRequest {
    static let noData = BadRequest("Error: No data supplied.")
    static let path = BadRequest("Invalid path: Invalid token in path")

    /// Says in the known words what is wrong with a body, and where.
    init(_ error: JSONError, in body: [UInt8]) {
        let (line, column) = body.withBytes { error.lineAndColumn(in: $0) }
        switch error.reason {
        case .badKey:
            self.init(
                "Invalid data; couldn't parse key beginning at \(line):\(column). "
                    + "Key value can't be empty or contain $ # [ ] / or ."
            )
        default:
            self.init(
                "Invalid data; couldn't parse JSON object, array, or value. "
                    + "\(FaultText.of(error.reason)) at \(line):\(column)."
            )
        }
    }
}
