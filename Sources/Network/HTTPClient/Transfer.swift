import CCurl

/// One request under way, which libcurl calls back.
///
/// Belongs to the thread of its `HTTPClient`, which keeps it until libcurl has finished. Until then libcurl holds an
/// unretained pointer to it.
final class Transfer {
    let request: HTTPRequest
    let easy: UnsafeMutableRawPointer

    /// Sees the head of a success; nil when that is done.
    private var accept: HTTPClient.HeadReceiver?

    /// Takes the body of a success, part by part.
    private let receive: HTTPClient.Receiver?

    /// The error of a receiver or a body that ended the transfer.
    private(set) var failure: (any Error)?

    private var headerLines: UnsafeMutablePointer<curl_slist>?
    private let reason: UnsafeMutablePointer<CChar>
    private var headers: [String: String] = [:]
    private var kept: [UInt8] = []
    private var sentByteCount = 0

    /// - Throws: `HTTPError` when libcurl refuses the request.
    init(
        _ request: HTTPRequest,
        _ options: HTTPOptions,
        accept: HTTPClient.HeadReceiver? = nil,
        receive: HTTPClient.Receiver?,
    ) throws(HTTPError) {
        guard let easy = curl_easy_init() else {
            throw HTTPError(.unusable, url: request.url, detail: "libcurl has no memory left")
        }
        self.request = request
        self.easy = easy
        self.accept = accept
        self.receive = receive
        self.reason = .allocate(capacity: Int(CURL_ERROR_SIZE))
        reason.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        let result = prepare(options)
        guard result == CURLE_OK else { throw error(result) }
    }

    deinit {
        curl_easy_cleanup(easy)
        curl_slist_free_all(headerLines)
        reason.deallocate()
    }

    /// The outcome of a transfer that libcurl ended with `result`.
    func outcome(_ result: CURLcode) throws -> HTTPResponse {
        if let failure { throw failure }
        let response = HTTPResponse(status: hearth_curl_status(easy), headers: headers, body: kept)
        // A server that refuses a body before its end may close the connection: its answer counts.
        if result == CURLE_SEND_ERROR, response.status >= 400 { return response }
        guard result == CURLE_OK else { throw error(result) }
        return response
    }

    private func error(_ code: CURLcode) -> HTTPError {
        HTTPError(code, url: request.url, detail: String(cString: reason))
    }

    // MARK: - Options

    private func prepare(_ options: HTTPOptions) -> CURLcode {
        let owner = Unmanaged.passUnretained(self).toOpaque()
        for line in request.headers { headerLines = curl_slist_append(headerLines, line) }
        // A body of unknown length needs no permission first: that would cost a second with servers that give none.
        headerLines = curl_slist_append(headerLines, "Expect:")
        let results = [
            setText(CURLOPT_URL, request.url),
            setText(CURLOPT_PROTOCOLS_STR, "http,https"),
            setText(CURLOPT_REDIR_PROTOCOLS_STR, "http,https"),
            setText(CURLOPT_USERAGENT, options.agent),
            setNumber(CURLOPT_PATH_AS_IS, 1),
            setNumber(CURLOPT_NOSIGNAL, 1),
            setNumber(CURLOPT_TCP_KEEPALIVE, 1),
            setNumber(CURLOPT_BUFFERSIZE, 128 * 1024),
            setNumber(CURLOPT_UPLOAD_BUFFERSIZE, 256 * 1024),
            setNumber(CURLOPT_CONNECTTIMEOUT, options.connectSeconds),
            setNumber(CURLOPT_TIMEOUT, options.totalSeconds),
            setNumber(CURLOPT_LOW_SPEED_LIMIT, 1),
            setNumber(CURLOPT_LOW_SPEED_TIME, options.silenceSeconds),
            hearth_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, reason),
            hearth_curl_set_pointer(easy, CURLOPT_HTTPHEADER, headerLines),
            hearth_curl_set_pointer(easy, CURLOPT_PRIVATE, owner),
            hearth_curl_set_pointer(easy, CURLOPT_WRITEDATA, owner),
            hearth_curl_set_bytes(easy, CURLOPT_WRITEFUNCTION, bodyArrived),
            hearth_curl_set_pointer(easy, CURLOPT_HEADERDATA, owner),
            hearth_curl_set_bytes(easy, CURLOPT_HEADERFUNCTION, headerArrived),
            options.authorityFile.map { setText(CURLOPT_CAINFO, $0) } ?? CURLE_OK,
            options.acceptsCompressed ? setText(CURLOPT_ACCEPT_ENCODING, "gzip") : CURLE_OK,
            prepareBody(owner, options),
        ]
        return results.first { $0 != CURLE_OK } ?? CURLE_OK
    }

    private func prepareBody(
        _ owner: UnsafeMutableRawPointer,
        _ options: HTTPOptions,
    ) -> CURLcode {
        let byteCount: Int
        switch request.body {
        case .none:
            // A stream may follow a redirect; a write must never silently go to another server.
            let isRead = request.method == .get || request.method == .head
            let follows = isRead && options.followsRedirects ? 1 : 0
            let results = [
                setNumber(CURLOPT_NOBODY, request.method == .head ? 1 : 0),
                setText(CURLOPT_CUSTOMREQUEST, request.method.rawValue),
                setNumber(CURLOPT_FOLLOWLOCATION, follows),
                setNumber(CURLOPT_MAXREDIRS, 5),
            ]
            return results.first { $0 != CURLE_OK } ?? CURLE_OK
        case .bytes(let bytes): byteCount = bytes.count
        case .stream(let count, _): byteCount = count ?? -1
        }
        let results = [
            setNumber(CURLOPT_UPLOAD, 1),
            setText(CURLOPT_CUSTOMREQUEST, request.method.rawValue),
            hearth_curl_set_size(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(byteCount)),
            hearth_curl_set_pointer(easy, CURLOPT_READDATA, owner),
            hearth_curl_set_bytes(easy, CURLOPT_READFUNCTION, bodyWanted),
        ]
        return results.first { $0 != CURLE_OK } ?? CURLE_OK
    }

    private func setNumber(_ option: CURLoption, _ value: Int) -> CURLcode {
        hearth_curl_set_long(easy, option, value)
    }

    private func setText(_ option: CURLoption, _ value: String) -> CURLcode {
        hearth_curl_set_text(easy, option, value)
    }

    // MARK: - Callbacks of libcurl

    /// Whether the bytes were taken.
    fileprivate func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let status = hearth_curl_status(easy)
        guard let receive, (200..<300).contains(status) else {
            kept += bytes.prefix(request.keptByteLimit - kept.count)
            return true
        }
        do {
            if let accept {
                self.accept = nil
                try accept(status, headers)
            }
            try receive(bytes)
            return true
        } catch {
            failure = error
            return false
        }
    }

    fileprivate func receiveHeader(_ line: Substring) {
        // A new status line, after a redirect or an interim answer, starts the headers again.
        if line.hasPrefix("HTTP/") { headers = [:] }
        guard let colon = line.firstIndex(of: ":") else { return }
        let value = line[line.index(after: colon)...].drop { $0 == " " }
        headers[line[..<colon].lowercased()] = String(value)
    }

    /// The number of bytes put into `buffer`; nil when the body failed.
    fileprivate func send(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        switch request.body {
        case .none: return 0
        case .bytes(let bytes):
            let count = min(buffer.count, bytes.count - sentByteCount)
            buffer.copyBytes(from: bytes[sentByteCount..<sentByteCount + count])
            sentByteCount += count
            return count
        case .stream(_, let read):
            do {
                return try read(buffer)
            } catch {
                failure = error
                return nil
            }
        }
    }
}

private func transfer(_ owner: UnsafeMutableRawPointer) -> Transfer {
    Unmanaged<Transfer>.fromOpaque(owner).takeUnretainedValue()
}

private let bodyArrived: hearth_curl_bytes = { bytes, size, count, owner in
    guard let owner, let bytes else { return 0 }
    let isTaken = transfer(owner).receive(UnsafeRawBufferPointer(start: bytes, count: size * count))
    return isTaken ? size * count : Int(HEARTH_CURL_WRITE_ERROR)
}

private let headerArrived: hearth_curl_bytes = { bytes, size, count, owner in
    guard let owner, let bytes else { return 0 }
    let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
    transfer(owner).receiveHeader(String(decoding: line, as: UTF8.self).prefix { !$0.isNewline })
    return size * count
}

private let bodyWanted: hearth_curl_bytes = { bytes, size, count, owner in
    guard let owner, let bytes else { return Int(HEARTH_CURL_READ_ABORT) }
    let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
    return transfer(owner).send(into: buffer) ?? Int(HEARTH_CURL_READ_ABORT)
}
