import Files
/// Notices that a small file (rules, keys, certificates) was replaced or rewritten.
///
/// Pure: the caller looks at the file from time to time, once a second say, and passes on what it saw. A change counts
/// only when two looks in a row saw the same, so that a file is not read while an editor writes it.
struct FileWatch: Sendable {
    enum Look: Equatable, Sendable {
        /// Nothing to do: as it was, or still changing.
        case quiet
        /// Read it again, then call `loaded`.
        case changed
        /// It is gone; returned once. What was read last stays in force.
        case missing
    }

    let path: String
    /// What the bytes in force had; nil when the file was not there.
    private var inForce: FileStamp?
    /// What the last look saw.
    private var lastSeen: FileStamp?

    /// A watch over `path`, whose bytes were last read with the stamp `inForce`.
    init(path: String, inForce: FileStamp?) {
        self.path = path
        self.inForce = inForce
        self.lastSeen = inForce
    }

    /// Takes in one look; nil when the file is not there.
    mutating func look(_ stamp: FileStamp?) -> Look {
        defer { lastSeen = stamp }
        guard stamp == lastSeen, stamp != inForce else { return .quiet }
        inForce = stamp
        return stamp == nil ? .missing : .changed
    }

    /// Takes in what was really read, which may be newer than the look that led to it.
    ///
    /// A file whose bytes are refused is in force too: it is not tried again until it changes.
    mutating func loaded(_ stamp: FileStamp) {
        inForce = stamp
    }
}
