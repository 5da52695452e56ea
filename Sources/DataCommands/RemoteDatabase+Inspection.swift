import Files
import HTTPClient

/// How a server shall write what it tells of the decisions of its rules.
package enum InspectionForm: Sendable {
    case json
    /// Lines for a terminal.
    case text
    /// A page that needs no other file.
    case page
}

extension RemoteDatabase {
    /// Writes what the server tells under `/.inspect` to a file or standard output.
    ///
    /// - Parameters:
    ///   - path: The address, without `.json`.
    ///   - parameters: What is asked for.
    ///   - form: How it is written.
    ///   - output: A file, which is there under its name when it is whole; nil for standard output.
    /// - Throws: `CommandError` when the server refuses, or the file cannot be written.
    package func copyInspection(
        _ path: DatabasePath,
        _ parameters: [(name: String, value: String)] = [],
        as form: InspectionForm,
        to output: String? = nil,
    ) throws(CommandError) {
        let request = HTTPRequest(
            .get,
            address.url(
                resource: form == .json ? path.resource : path.pageResource,
                parameters
            ),
            headers: address.headers + ["Accept: \(form.mediaType)"]
        )
        let response = form == .page ? try performPage(request) : try perform(request)
        try write(response.body, to: output)
    }

    /// Has the server forget what it tells there.
    ///
    /// - Throws: `CommandError` when the server refuses.
    package func clearInspection(_ path: DatabasePath) throws(CommandError) {
        let response = try perform(request(.delete, path))
        guard response.body.starts(with: "{\"status\":\"ok\"".utf8) else {
            throw .failed("\(place) tells nothing of its rules: is it an older server?")
        }
    }

    /// Asks once a second, and prints what is new, until told to stop: then the process ends with exit code 0.
    ///
    /// A connection that is lost is made again.
    ///
    /// - Parameters:
    ///   - path: The address, without `.json`.
    ///   - parameters: What is asked for next.
    ///   - lost: A connection was lost.
    ///   - take: What is to be printed of an answer, and whether the next question must not wait.
    /// - Throws: `CommandError` when the server refuses, cannot be reached at first, or nobody takes the output.
    package func follow(
        _ path: DatabasePath,
        parameters: () -> [(name: String, value: String)],
        lost: () -> Void,
        take: (_ body: [UInt8]) throws(CommandError) -> (text: String, isUrgent: Bool)
    ) throws(CommandError) {
        Interruption.end(exitCode: 0)
        let output = Descriptor.standardOutput
        let isShown = output.isTerminal
        var backoff = Backoff()
        var wasConnected = false
        while true {
            let words: String
            switch try answer(to: request(.get, path, parameters())) {
            case .whole(let body):
                (wasConnected, backoff) = (true, Backoff())
                let (text, isUrgent) = try take(body)
                let bytes = Array(text.utf8)
                try output.write(isShown ? TerminalText.shown(bytes) : bytes)
                if !isUrgent { Backoff.sleep(.seconds(1)) }
                continue
            case .passing(let reason):
                guard wasConnected else { throw .failed(reason) }
                words = reason
            }
            lost()
            let pause = backoff.next()
            console.say("\(words)\ntrying again in \(Amounts.time(pause))")
            Backoff.sleep(pause)
        }
    }

    private enum Answer {
        case whole([UInt8])
        /// Why there is none now, and may be one soon.
        case passing(String)
    }

    private func answer(to request: HTTPRequest) throws(CommandError) -> Answer {
        let response: HTTPResponse
        do {
            response = try client.perform(request)
        } catch let error as HTTPError where error.isPassing {
            return .passing("\(error)")
        } catch {
            throw .failed("\(error)")
        }
        if response.isSuccess { return .whole(response.body) }
        let refusal = refusal(request, response)
        guard response.status >= 500 else { throw refusal }
        return .passing(refusal.description)
    }

    /// Says something that is no result, on standard error.
    package func say(_ words: String) { console.say(words) }

    /// Sends a request whose answer may be a page.
    private func performPage(_ request: HTTPRequest) throws(CommandError) -> HTTPResponse {
        let response: HTTPResponse
        do {
            response = try client.perform(request)
        } catch let error as CommandError {
            throw error
        } catch {
            throw .failed("\(error)")
        }
        guard response.isSuccess else { throw refusal(request, response) }
        return response
    }
}

extension InspectionForm {
    fileprivate var mediaType: String {
        switch self {
        case .json: "application/json"
        case .text: "text/plain"
        case .page: "text/html"
        }
    }
}
