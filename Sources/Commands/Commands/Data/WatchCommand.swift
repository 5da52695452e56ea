import ArgumentParser
import Files
import Glibc
import HTTPClient
import JSONTree

/// `hearth watch`: prints one line of JSON for each event, until a signal stops it:
/// `{"event":"put","path":"/","data":...}`.
///
/// A lost connection is made again; the first event is then a `put` of the whole value once more.
struct WatchCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print the value at a path and each change of it, a line of JSON for each.",
        discussion: """
            The first line is the whole value: {"event":"put","path":"/","data":...}. A lost connection is made \
            again, and the whole value comes once more. Ctrl-C ends it with exit code 0.

            Examples:
              hearth watch /messages
              hearth watch /scores --order-by points --limit-to-last 10
              hearth watch /status --count 1
            """,
    )

    @Argument(help: "The path, like /messages.")
    var path: String

    @Option(help: .value("number", "End after this many events."))
    var count: Int?

    @OptionGroup(title: "Query")
    var query: QueryOptions

    @OptionGroup(title: "Server")
    var server: ServerOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count: \(count) is less than 1") }
    }

    func outcome() throws(CommandError) -> CommandOutcome {
        let database = try server.database()
        Interruption.end(exitCode: 0)
        var request = database.request(.get, DatabasePath(path), query.parameters)
        request.headers += ["Accept: text/event-stream", "Cache-Control: no-cache"]
        var left = count
        var connection = Reconnection(database.console)
        while left != 0 {
            do {
                try watchOnce(database, request, &left) { connection.succeed() }
                connection.wait("the server ended the stream")
            } catch is Counted {
                break
            } catch let passing as RemoteDatabase.Passing {
                guard connection.hasSucceeded else { throw .failed(passing.reason) }
                connection.wait(passing.reason)
            } catch {
                throw error as? CommandError ?? .failed("\(error)")
            }
        }
        return .silent
    }

    /// All events that were asked for have come.
    private struct Counted: Error {}

    /// Prints the events of one connection; returns when the server ends it.
    private func watchOnce(
        _ database: RemoteDatabase,
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
                try database.attempt(request) { bytes in
                    connected()
                    try reader.read(bytes) { event in
                        guard let line = Self.line(event) else { return }
                        guard JSONValidator.accepts(line) else {
                            throw CommandError.failed(
                                "\(database.origin) sends something else than JSON"
                            )
                        }
                        try output.write(isShown ? TerminalText.shown(line) : line)
                        try Self.checkEnd(event)
                        count = count.map { $0 - 1 }
                        if count == 0 { throw Counted() }
                    }
                }
            }
        } catch is ServerEventReader.TooLong {
            let limit = Amounts.bytes(DataLimits.eventByteCount)
            throw CommandError.failed("an event has more than \(limit)")
        }
        let type = response.headers["content-type"] ?? "nothing"
        guard type.hasPrefix("text/event-stream") else {
            throw CommandError.failed("\(database.origin) sends \(type) and no event stream")
        }
    }

    /// `cancel` and `auth_revoked` end the right to read.
    private static func checkEnd(_ event: ServerEvent) throws(CommandError) {
        switch event.name {
        case "cancel":
            throw CommandError.failed("the rules no longer allow to read this")
        case "auth_revoked":
            throw CommandError.failed("the token is no longer valid")
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
