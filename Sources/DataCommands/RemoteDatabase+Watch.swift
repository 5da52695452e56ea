import Files
import Glibc
import HTTPClient
import JSONTree

extension RemoteDatabase {
    /// Prints what happens at `path` as one line of JSON for each event, until told to stop:
    /// `{"event":"put","path":"/","data":...}`.
    ///
    /// A connection that is lost is made again; the first event is then a `put` of the whole value once more.
    ///
    /// - Parameters:
    ///   - path: The place.
    ///   - query: Which part of it.
    ///   - count: Events after which it ends.
    /// - Throws: `CommandError` when the server refuses, or ends the right to read.
    package func watch(
        _ path: DatabasePath,
        _ query: QueryChoice,
        count: Int?,
    ) throws(CommandError) {
        Interruption.end(exitCode: 0)
        var request = request(.get, path, query.parameters)
        request.headers += ["Accept: text/event-stream", "Cache-Control: no-cache"]
        var left = count
        var backoff = Backoff()
        var wasConnected = false
        while left != 0 {
            do {
                try watchOnce(request, &left) {
                    wasConnected = true
                    backoff = Backoff()
                }
                console.say("the server ended the stream")
            } catch let error as WatchEnd {
                switch error {
                case .counted: return
                case .failed(let error): throw error
                case .passing(let words):
                    guard wasConnected else { throw .failed(words) }
                    console.say(words)
                }
            } catch {
                throw .failed("\(error)")
            }
            let pause = backoff.next()
            console.say("trying again in \(Amounts.time(pause))")
            Backoff.sleep(pause)
        }
    }

    /// Why one connection's events ended.
    private enum WatchEnd: Error {
        case counted
        /// For good.
        case failed(CommandError)
        /// Perhaps not for long.
        case passing(String)
    }

    /// Prints the events of one connection; returns when the server ends it.
    private func watchOnce(
        _ request: HTTPRequest,
        _ left: inout Int?,
        connected: () -> Void,
    ) throws {
        let output = Descriptor.standardOutput
        let isShown = output.isTerminal
        var reader = ServerEventReader(byteLimit: DataLimits.eventByteCount)
        var count = left
        defer { left = count }
        let response: HTTPResponse
        do {
            response = try withoutActuallyEscaping(connected) { connected in
                try client.perform(request) { bytes in
                    connected()
                    try reader.read(bytes) { event in
                        guard let line = Self.line(event) else { return }
                        guard JSONValidator.accepts(line) else {
                            throw WatchEnd.failed(
                                .failed("what \(self.address.origin) sends is no JSON")
                            )
                        }
                        try output.write(isShown ? TerminalText.shown(line) : line)
                        try Self.checkEnd(event)
                        count = count.map { $0 - 1 }
                        if count == 0 { throw WatchEnd.counted }
                    }
                }
            }
        } catch let error as CommandError {
            throw WatchEnd.failed(error)
        } catch is ServerEventReader.TooLong {
            let limit = Amounts.bytes(DataLimits.eventByteCount)
            throw WatchEnd.failed(.failed("an event has more than \(limit)"))
        } catch let error as HTTPError {
            throw error.isPassing
                ? WatchEnd.passing("\(error)") : WatchEnd.failed(.failed("\(error)"))
        }
        guard response.isSuccess else {
            let refusal = refusal(request, response)
            throw response.status >= 500
                ? WatchEnd.passing(refusal.description) : WatchEnd.failed(refusal)
        }
        let type = response.headers["content-type"] ?? "nothing"
        guard type.hasPrefix("text/event-stream") else {
            throw WatchEnd.failed(
                .failed("\(address.origin) sends \(type) and no event stream")
            )
        }
    }

    /// `cancel` and `auth_revoked` end the right to read.
    private static func checkEnd(_ event: ServerEvent) throws {
        switch event.name {
        case "cancel":
            throw WatchEnd.failed(.failed("the rules no longer allow to read this"))
        case "auth_revoked":
            throw WatchEnd.failed(.failed("the token is no longer valid"))
        default: break
        }
    }

    /// The line of an event; nil for one that says nothing.
    static func line(_ event: ServerEvent) -> [UInt8]? {
        guard event.name != "keep-alive" else { return nil }
        var line = Array("{\"event\":".utf8)
        appendJSONString(event.name, to: &line)
        line += Array(",".utf8)
        if ["put", "patch"].contains(event.name), event.data.first == UInt8(ascii: "{") {
            // {"path":P,"data":D}, whose members become members of the line.
            line += event.data.dropFirst()
        } else {
            line += Array("\"data\":".utf8)
            if event.name == "auth_revoked" {
                appendJSONString(String(decoding: event.data, as: UTF8.self), to: &line)
            } else {
                line += event.data
            }
            line += Array("}".utf8)
        }
        return line + [UInt8(ascii: "\n")]
    }
}
