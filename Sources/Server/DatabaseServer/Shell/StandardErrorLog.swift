import Files
import JSONTree
import Logging

/// Writes log events to standard error, one `write` each, so that lines of several threads never mix.
struct StandardErrorLog: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level
    var metadataProvider: Logger.MetadataProvider?

    private let line: LogLine

    /// The logger of a server with this configuration.
    static func logger(_ configuration: Configuration) -> Logger {
        let line = LogLine(configuration.logFormat)
        let handler = StandardErrorLog(logLevel: configuration.logLevel, line: line)
        return Logger(label: "hearth") { _ in handler }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = metadata
        fields.merge(metadataProvider?.get() ?? [:]) { $1 }
        fields.merge(event.metadata ?? [:]) { $1 }
        if let error = event.error { fields["error"] = "\(error)" }
        let text = line.text(
            time: Clock.now().milliseconds,
            level: event.level,
            message: event.message.description,
            metadata: fields,
        )
        StandardError.write(Array(text.utf8))
    }
}
