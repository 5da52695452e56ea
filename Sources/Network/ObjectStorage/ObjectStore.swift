import FileProtocol
package import HTTPClient

/// A client of a bucket: stores, reads, lists and deletes objects on a server that speaks S3's protocol.
///
/// Blocks, holds at most a few hundred KiB of an object, and belongs to the thread that made it. A request that failed
/// for a passing reason is sent again as `RetryPolicy` says; one that was refused is not. Redirects are not followed, so
/// that signatures and tokens reach no other host.
///
///     ObjectStore ── perform ── retry ── send ── RequestSigner ── HTTPClient
package final class ObjectStore {
    package let configuration: ObjectStoreConfiguration
    private let client: HTTPClient
    private let signer: RequestSigner
    private let clock: ObjectStoreClock

    /// Makes a client; it connects with its first request.
    ///
    /// - Throws: `HTTPError` when libcurl cannot be started.
    package init(
        _ configuration: ObjectStoreConfiguration,
        clock: ObjectStoreClock = .system
    ) throws(HTTPError) {
        self.configuration = configuration
        self.clock = clock
        client = try HTTPClient(configuration.http)
        signer = RequestSigner(credentials: configuration.credentials, region: configuration.region)
    }

    /// One request, before it is signed.
    struct Call {
        var operation: StoreOperation
        var method: HTTPRequest.Method
        var key: ObjectKey?
        var query: [(name: String, value: String)] = []
        var headers: [(name: String, value: String)] = []
        var body: ObjectSource?
        /// The SHA-256 of the body, or that it is not signed.
        var payload = Call.emptyPayload
        var answerByteLimit = ObjectStoreLimits.answerByteCount

        /// The SHA-256 of no bytes.
        static let emptyPayload = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    }

    /// Makes, sends and reads a request until it succeeds, is refused, or was tried often enough.
    ///
    /// `attempt` is called for each try, and calls `send`.
    func perform<Value>(
        _ operation: StoreOperation,
        _ key: ObjectKey?,
        _ attempt: () throws(StoreFault) -> Value
    ) throws(ObjectStoreError) -> Value {
        var tryCount = 1
        while true {
            do throws(StoreFault) { return try attempt() } catch {
                guard error.isPassing,
                    let wait = configuration.retries.wait(afterTries: tryCount)
                else { throw self.error(operation, key, error.reason, tryCount: tryCount) }
                clock.wait(wait)
                tryCount += 1
            }
        }
    }

    func error(
        _ operation: StoreOperation,
        _ key: ObjectKey?,
        _ reason: ObjectStoreError.Reason,
        tryCount: Int = 1
    ) -> ObjectStoreError {
        ObjectStoreError(
            operation: operation,
            reason: reason,
            origin: configuration.address.origin,
            bucket: configuration.address.bucket,
            key: key?.text,
            region: configuration.region,
            tryCount: tryCount
        )
    }

    /// Signs a request with the time of now, sends it once, and gives its answer if that is a success.
    ///
    /// `accept` and `receive` may throw `StoreFault`.
    func send(
        _ call: Call,
        accept: HTTPClient.HeadReceiver? = nil,
        receive: HTTPClient.Receiver? = nil
    ) throws(StoreFault) -> HTTPResponse {
        var request = signed(call)
        // An error is read whole or not at all; a success that is too long is cut, which its reader notices.
        request.keptByteLimit = call.answerByteLimit
        let response: HTTPResponse
        do {
            response = try client.perform(request, receive: receive, accept: accept)
        } catch let fault as StoreFault {
            throw fault
        } catch let error as HTTPError {
            throw StoreFault(.noAnswer(error))
        } catch {
            throw StoreFault(.unexpected("\(error)"))
        }
        guard response.isSuccess else {
            throw StoreFault(.refused(StoreRefusal(status: response.status, body: response.body)))
        }
        return response
    }

    private func signed(_ call: Call) -> HTTPRequest {
        let address = configuration.address
        let canonical = CanonicalRequest(
            method: call.method.rawValue,
            path: address.path(call.key),
            query: call.query,
            headers: [("Host", address.host)] + call.headers,
            signedNames: [],
            payload: call.payload
        )
        let query = call.query.isEmpty ? "" : "?\(CanonicalRequest.text(call.query))"
        return HTTPRequest(
            call.method,
            "\(address.origin)\(canonical.path)\(query)",
            headers: signer.signed(canonical, now: clock.now()).map { "\($0.name): \($0.value)" },
            body: call.body.map {
                .stream(byteCount: Int($0.byteCount), read: $0.stream())
            } ?? .none
        )
    }

    /// The element that an answer must have.
    func element(_ name: String, in response: HTTPResponse) throws(StoreFault) -> XMLElement {
        let root: XMLElement
        do throws(XMLFault) { root = try XMLReader.read(response.body) } catch {
            throw StoreFault(.unexpected("its XML \(error.reason) at byte \(error.offset)"))
        }
        // The end of an upload may fail behind a head that says it did not.
        if root.name == "Error" {
            throw StoreFault(.refused(StoreRefusal(status: response.status, root)))
        }
        guard root.name == name else {
            throw StoreFault(
                .unexpected("it has '\(root.name.prefix(40))' in the place of '\(name)'")
            )
        }
        return root
    }
}
