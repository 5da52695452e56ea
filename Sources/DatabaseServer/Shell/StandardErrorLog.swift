import Files
import Glibc
import JSONTree
package import Logging

/// Writes log events to standard error, one `write` each, so that lines of several threads never mix.
package struct StandardErrorLog: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var logLevel: Logger.Level
    package var metadataProvider: Logger.MetadataProvider?

    private let line: LogLine

    package init(_ format: Configuration.LogFormat, level: Logger.Level) {
        self.line = LogLine(format)
        self.logLevel = level
    }

    /// The logger of a server with this configuration.
    package static func logger(_ configuration: Configuration) -> Logger {
        let handler = StandardErrorLog(configuration.logFormat, level: configuration.logLevel)
        return Logger(label: "hearth") { _ in handler }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
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
