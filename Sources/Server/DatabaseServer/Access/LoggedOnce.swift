/// Texts that get a line in the log, once each: so many, and none after that.
///
/// For what strangers choose freely and a developer gets wrong once: the first line says it.
struct LoggedOnce {
    /// Texts that are kept. Each is a few hundred bytes.
    static let limit = 100

    private var texts: Set<String> = []

    /// Whether this text gets its line now.
    mutating func admits(_ text: String) -> Bool {
        texts.count < Self.limit && texts.insert(text).inserted
    }
}
