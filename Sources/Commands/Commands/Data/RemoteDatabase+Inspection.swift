import Files
import HTTPClient

/// The format of the server's reports on rule decisions, as its media type.
enum InspectionForm: String {
    case json = "application/json"
    /// Lines for a terminal.
    case text = "text/plain"
}

extension RemoteDatabase {
    /// Writes the server's report under `/.inspect` to standard output.
    func copyInspection(
        _ path: DatabasePath,
        _ parameters: Parameters = [],
        as form: InspectionForm,
    ) throws(CommandError) {
        let resource = form == .json ? path.resource : path.pageResource
        let request = HTTPRequest(
            .get,
            address.url(resource: resource, parameters),
            headers: address.headers + ["Accept: \(form.rawValue)"]
        )
        try write(perform(request).body, to: nil)
    }

    /// Clears the server's report.
    func clearInspection(
        _ path: DatabasePath,
        _ parameters: Parameters = []
    ) throws(CommandError) {
        let response = try perform(request(.delete, path, parameters))
        guard response.body.starts(with: "{\"status\":\"ok\"".utf8) else {
            throw .failed("\(location) says nothing of its rules: is it an older server?")
        }
    }

    /// Asks once a second, and prints new entries, until a signal stops it: then the process ends with exit code 0.
    ///
    /// A lost connection is made again, after `lost` is called. `take` returns the text to print, and whether to ask
    /// again at once.
    ///
    /// - Throws: `CommandError` when the server refuses, cannot be reached at first, or the output is closed.
    func follow(
        _ path: DatabasePath,
        parameters: () -> Parameters,
        lost: () -> Void,
        take: (_ body: [UInt8]) throws(CommandError) -> (text: String, isUrgent: Bool)
    ) throws(CommandError) {
        Interruption.end(exitCode: 0)
        let output = Descriptor.standardOutput
        let isShown = output.isTerminal
        var connection = Reconnection(console)
        while true {
            let body: [UInt8]
            do {
                body = try attempt(request(.get, path, parameters())).body
            } catch let passing as Passing {
                guard connection.hasSucceeded else { throw .failed(passing.reason) }
                lost()
                connection.wait(passing.reason)
                continue
            } catch {
                throw error as? CommandError ?? .failed("\(error)")
            }
            connection.succeed()
            let (text, isUrgent) = try take(body)
            let bytes = Array(text.utf8)
            try output.write(isShown ? TerminalText.shown(bytes) : bytes)
            if !isUrgent { Backoff.sleep(.seconds(1)) }
        }
    }

    /// Why there is no answer now; there may be one soon.
    struct Passing: Error {
        let reason: String
    }

    /// Sends a request and returns a success.
    ///
    /// - Throws: `Passing` where it may help to ask again, `CommandError` for other refusals; errors of `receive`.
    func attempt(
        _ request: HTTPRequest,
        receive: HTTPClient.Receiver? = nil,
    ) throws -> HTTPResponse {
        let response: HTTPResponse
        do {
            response = try client.perform(request, receive: receive)
        } catch let error as HTTPError where error.isPassing {
            throw Passing(reason: "\(error)")
        }
        if response.isSuccess { return response }
        let refusal = refusal(request, response)
        guard response.status >= 500 else { throw refusal }
        throw Passing(reason: refusal.description)
    }
}
