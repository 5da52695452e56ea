package import HTTPClient

extension RemoteDatabase {
    /// Asks the simulator.
    ///
    /// - Parameters:
    ///   - body: the request to be tried out, as JSON.
    ///   - type: the media type of the answer that is wanted.
    /// - Returns: a success, or the server's refusal of a body that makes no sense (400).
    /// - Throws: `CommandError` for any other refusal, or when there is no answer.
    package func simulate(_ body: [UInt8], accept type: String) throws(CommandError) -> HTTPResponse
    {
        let request = HTTPRequest(
            .post,
            address.url(resource: "/.simulate"),
            headers: address.headers + ["Accept: \(type)", "Content-Type: application/json"],
            body: .bytes(body)
        )
        let response: HTTPResponse
        do { response = try client.perform(request) } catch { throw .failed("\(error)") }
        if response.isSuccess, response.headers["hearth-verdict"] == nil {
            throw .failed(
                "\(address.origin) has no simulator: it is no Hearth server, or an old one"
            )
        }
        if response.isSuccess || response.status == 400 { return response }
        throw refusal(request, response)
    }
}

/// Files that are there under their name only when they are whole.
package enum WholeFile {
    /// Writes a file; devices and pipes are written to as they are.
    ///
    /// - Throws: `CommandError` when it cannot be written.
    package static func write(_ bytes: [UInt8], to path: String) throws(CommandError) {
        let file = try OutputFile(path)
        try file.write(bytes)
        try file.finish()
    }
}
