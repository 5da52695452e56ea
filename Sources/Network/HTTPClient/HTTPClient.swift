import CCurl

/// A blocking HTTP client over libcurl: one request at a time, or several in flight.
///
/// Bodies stream in both directions, connections are used again, certificates are checked. Proxies are taken from
/// the environment (`https_proxy`, `no_proxy`), as by curl. Belongs to the thread that made it.
package final class HTTPClient {
    /// Receives a part of the body of an answer with status 200 to 299. An error that it throws ends the request.
    package typealias Receiver = (UnsafeRawBufferPointer) throws -> Void

    /// Sees status and headers of a success before the first byte of its body. An error that it throws ends the request.
    ///
    /// Names of headers are in lower case. Not called where the body is empty.
    package typealias HeadReceiver = (_ status: Int, _ headers: [String: String]) throws -> Void

    /// Names a request that was started.
    package struct RequestID: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// A started request that has ended.
    package struct Ended {
        package let id: RequestID
        /// The answer; or `HTTPError`, or an error that a receiver or body threw.
        package let result: Result<HTTPResponse, any Error>
    }

    private let multi: UnsafeMutableRawPointer
    private let options: HTTPOptions
    private var transfers: [UnsafeMutableRawPointer: (id: RequestID, transfer: Transfer)] = [:]
    private var lastNumber = 0

    /// Requests that were started and have not been returned by `next`.
    package var inFlightCount: Int { transfers.count }

    /// - Throws: `HTTPError` when libcurl cannot be started.
    package init(_ options: HTTPOptions) throws(HTTPError) {
        let detail = "libcurl cannot be started"
        guard hearth_curl_global_init() == CURLE_OK, let multi = curl_multi_init() else {
            throw HTTPError(.unusable, url: "HTTP", detail: detail)
        }
        self.multi = multi
        self.options = options
    }

    deinit {
        for easy in transfers.keys { curl_multi_remove_handle(multi, easy) }
        transfers = [:]
        curl_multi_cleanup(multi)
    }

    /// Sends a request and waits for the end of its answer.
    ///
    /// An answer with any status is a result; only the body of a success goes to `receive`, behind its head to `accept`.
    ///
    /// - Throws: `HTTPError`, or an error of `accept`, `receive` or the body.
    package func perform(
        _ request: HTTPRequest,
        receive: Receiver? = nil,
        accept: HeadReceiver? = nil,
    ) throws -> HTTPResponse {
        precondition(transfers.isEmpty, "a request is performed while others are in flight")
        try start(request, receive: receive, accept: accept)
        guard let ended = try next() else { preconditionFailure("a started request ends") }
        return try ended.result.get()
    }

    /// Starts a request; `next` drives it.
    ///
    /// - Throws: `HTTPError` when libcurl refuses the request.
    @discardableResult
    package func start(
        _ request: HTTPRequest,
        receive: Receiver? = nil,
        accept: HeadReceiver? = nil,
    ) throws(HTTPError) -> RequestID {
        let transfer = try Transfer(request, options, accept: accept, receive: receive)
        let result = curl_multi_add_handle(multi, transfer.easy)
        guard result == CURLM_OK else {
            throw HTTPError(.unusable, url: request.url, detail: Self.words(result))
        }
        lastNumber += 1
        let id = RequestID(number: lastNumber)
        transfers[transfer.easy] = (id, transfer)
        return id
    }

    /// Waits until a started request has ended, or for `milliseconds`; nil when none ended or none is in flight.
    package func next(milliseconds: Int? = nil) throws(HTTPError) -> Ended? {
        let clock = ContinuousClock()
        let deadline = milliseconds.map { clock.now.advanced(by: .milliseconds($0)) }
        while !transfers.isEmpty {
            var runningCount: Int32 = 0
            try check(curl_multi_perform(multi, &runningCount))
            if let ended = takeEnded() { return ended }
            let left = deadline.map { clock.now.duration(to: $0) / .milliseconds(1) } ?? 1000
            if left <= 0 { return nil }
            try check(curl_multi_poll(multi, nil, 0, Int32(min(left.rounded(.up), 1000)), nil))
        }
        return nil
    }

    private func takeEnded() -> Ended? {
        var easy: UnsafeMutableRawPointer?
        var result = CURLE_OK
        guard hearth_curl_take_ended(multi, &easy, &result), let easy,
            let (id, transfer) = transfers.removeValue(forKey: easy)
        else { return nil }
        curl_multi_remove_handle(multi, easy)
        return Ended(id: id, result: Result { try transfer.outcome(result) })
    }

    private func check(_ result: CURLMcode) throws(HTTPError) {
        guard result != CURLM_OK else { return }
        throw HTTPError(.unusable, url: "HTTP", detail: Self.words(result))
    }

    private static func words(_ code: CURLMcode) -> String {
        String(cString: curl_multi_strerror(code))
    }
}
