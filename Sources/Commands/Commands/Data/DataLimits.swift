/// Hard limits of the commands that work on data.
enum DataLimits {
    /// Bytes of a refusal's text that are shown.
    static let refusalByteCount = 4096

    /// Bytes of a file with a credential: tokens of thousands of bytes exist, headers end at 8 KiB or so.
    static let credentialByteCount = 8192

    /// Objects and arrays within each other in an answer; servers have 32, and priorities.
    static let answerDepth = 256

    /// Bytes of one event of a stream: the largest answer that servers give, with some room for its frame.
    static let eventByteCount = 257 * 1024 * 1024

    /// Objects in objects that an import goes into; servers have 32.
    static let cutDepth = 64

    /// Bytes of parts of an import that are on their way; a single part may be longer.
    static let inFlightByteCount = 24 * 1024 * 1024

    /// Values in one part of an import.
    static let pathsPerPart = 10_000

    /// Times that one part of an import is sent, and seconds between them: 0.5, 1, 2, 4, 8, 16, 30, 30...
    static let attempts = 10

    /// The longest pause before something is tried again, seconds.
    static let longestPause = 30.0
}
