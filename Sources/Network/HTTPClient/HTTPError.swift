import CCurl

/// Why a request has no whole answer.
package struct HTTPError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Decides how to react.
    package enum Reason: Equatable, Sendable {
        /// libcurl cannot be used, or not for this address.
        case unusable
        /// No connection to the server was made.
        case notConnected
        /// The server's certificate is not trusted, or there is no TLS.
        case notTrusted
        /// `https` was tried with a port that speaks plain HTTP.
        case noTLS
        /// Nothing came or went for too long.
        case silent
        /// The connection was lost before the end of the answer.
        case cut
    }

    package let reason: Reason

    /// `http://127.0.0.1:9000`: whom it was about.
    package let origin: String

    /// libcurl's text for the error.
    package let detail: String

    /// Whether the same request may well succeed later.
    package var isPassing: Bool {
        switch reason {
        case .notConnected, .silent, .cut: true
        case .unusable, .notTrusted, .noTLS: false
        }
    }

    package var description: String {
        switch reason {
        case .unusable: "cannot use \(origin): \(detail)"
        case .notConnected: "cannot reach \(origin): \(detail); is the server running there?"
        case .notTrusted:
            "cannot trust \(origin): \(detail); name the certificate's authority with --ca-file"
        case .noTLS: "\(origin) speaks plain HTTP; use \(origin.replacing("https:", with: "http:"))"
        case .silent: "\(origin) does not answer: \(detail); --timeout sets how long to wait"
        case .cut: "the connection to \(origin) was lost: \(detail)"
        }
    }

    init(_ reason: Reason, url: String, detail: String) {
        self.reason = reason
        self.origin = Self.origin(of: url)
        self.detail = detail
    }

    init(_ code: CURLcode, url: String, detail: String) {
        let words = detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail
        // OpenSSL reads the text of a plain HTTP answer as a TLS version.
        let isPlain = code == CURLE_SSL_CONNECT_ERROR && words.contains("wrong version number")
        self.init(isPlain ? .noTLS : Self.reason(code), url: url, detail: words)
    }

    /// The part before the path. Path and query may hold secrets, so errors do not show them.
    private static func origin(of url: String) -> String {
        guard let start = url.firstRange(of: "://") else { return url }
        return String(url[..<(url[start.upperBound...].firstIndex(of: "/") ?? url.endIndex)])
    }

    private static func reason(_ code: CURLcode) -> Reason {
        switch code {
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT,
            CURLE_PROXY:
            .notConnected
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_CONNECT_ERROR:
            .notTrusted
        case CURLE_OPERATION_TIMEDOUT: .silent
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT, CURLE_OUT_OF_MEMORY,
            CURLE_TOO_MANY_REDIRECTS, CURLE_BAD_FUNCTION_ARGUMENT, CURLE_NOT_BUILT_IN:
            .unusable
        default: .cut
        }
    }
}
