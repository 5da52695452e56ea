import Files
import JSONTree
import Logging

/// Writes log events to standard error, one `write` each, so that lines of several threads never mix, and keeps the newest.
struct StandardErrorLog: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level
    var metadataProvider: Logger.MetadataProvider?

    private let line: LogLine
    private let ring: LogRing

    /// The logger of a server with this configuration, whose newest lines `ring` keeps.
    static func logger(_ configuration: Configuration, keeping ring: LogRing) -> Logger {
        let line = LogLine(configuration.logFormat)
        let handler = StandardErrorLog(logLevel: configuration.logLevel, line: line, ring: ring)
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
        let time = Clock.now().milliseconds
        ring.add(at: time, event.level, event.message.description, fields)
        let text = line.text(
            time: time,
            level: event.level,
            message: event.message.description,
            metadata: fields,
        )
        StandardError.write(Array(text.utf8))
    }
}
