package import HTTPClient
import JSONTree

/// Requests for what a server serves beside the data.
extension RemoteDatabase {
    /// A request for an address that is taken as it is, such as `/.accounts/keys.json`, as whoever the address says.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - resource: The path, percent-encoded.
    ///   - parameters: The query, encoded here. No database is named in it.
    ///   - json: The body; nil for none.
    /// - Returns: The request, not sent yet.
    package func request(
        _ method: HTTPRequest.Method,
        resource: String,
        _ parameters: [(name: String, value: String)] = [],
        json: [UInt8]? = nil,
    ) -> HTTPRequest {
        let query = parameters.map { "\($0.name)=\(PercentCoding.encode($0.value))" }
        let tail = query.isEmpty ? "" : "?" + query.joined(separator: "&")
        return HTTPRequest(
            method,
            address.origin + resource + tail,
            headers: address.headers + (json == nil ? [] : ["Content-Type: application/json"]),
            body: json.map { .bytes($0) } ?? .none
        )
    }

    /// The server, for people and for addresses below it: `https://db.example.com`.
    package var origin: String { address.origin }

    /// Text as one segment of a path, percent-encoded.
    package static func segment(_ text: String) -> String { PercentCoding.encode(text) }
}
