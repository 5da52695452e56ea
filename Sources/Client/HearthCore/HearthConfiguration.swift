import Foundation

/// How much the SDK logs.
public enum HearthLoggerLevel: Int, Sendable, Comparable {
    /// Errors that stop the app from working.
    case error = 3
    /// Likely mistakes and losses.
    case warning = 4
    /// Facts worth knowing once.
    case notice = 5
    /// Normal activity.
    case info = 6
    /// All steps.
    case debug = 7

    /// The least verbose level.
    public static var min: Self { .error }
    /// The most verbose level.
    public static var max: Self { .debug }

    /// Whether `lhs` is the graver one.
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// Settings of the whole SDK.
public final class HearthConfiguration: Sendable {
    /// The only one of the process.
    public static let shared = HearthConfiguration()

    private struct State {
        var level = HearthLoggerLevel.notice
        var write: @Sendable (HearthLoggerLevel, String) -> Void = HearthConfiguration.print
    }

    private let state = Mutex(State())

    private init() {}

    /// Sets the most verbose level that is logged; `notice` by default.
    public func setLoggerLevel(_ level: HearthLoggerLevel) { state.withLock { $0.level = level } }

    /// Gives the lines to `write`, which is called on any thread, instead of standard error; nil: there again.
    public func setLogger(_ write: (@Sendable (HearthLoggerLevel, String) -> Void)?) {
        state.withLock { $0.write = write ?? Self.print }
    }

    /// Writes a line; `text` never has passwords, tokens or data.
    package func log(_ level: HearthLoggerLevel, _ text: @autoclosure () -> String) {
        let (limit, write) = state.withLock { ($0.level, $0.write) }
        if level <= limit { write(level, Self.line(text())) }
    }

    /// Unicode scalars of a line; some have words of a server in them, and these have no end of their own.
    static let lineLength = 1_024

    /// Texts may be a server's own: they are cut, and no control in them reaches a terminal.
    static func line(_ text: String) -> String {
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(lineLength) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: line.append("\u{FFFD}")
            case _: line.append(scalar)
            }
        }
        let isWhole = text.unicodeScalars.dropFirst(lineLength).isEmpty
        return String(line) + (isWhole ? "" : "...")
    }

    private static func print(_ level: HearthLoggerLevel, _ text: String) {
        FileHandle.standardError.write(Data("[Hearth] \(level): \(text)\n".utf8))
    }
}

/// The name that the type has in the hosted service's SDK.
public typealias FirebaseConfiguration = HearthConfiguration

/// The name that the type has in the hosted service's SDK.
public typealias FirebaseLoggerLevel = HearthLoggerLevel
