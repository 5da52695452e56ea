import JSONTree

/// Why a well-formed request that is allowed is not done.
package enum RequestRefusal: Error, Sendable, Equatable {
    /// The disk is below its reserve.
    case noSpace
    /// Too many commits wait for the disk.
    case logBehind
    /// Too much long work waits already.
    case busy
    /// There is no room for another listen.
    case tooManyListens
    /// The value would reach below the greatest depth.
    case tooDeep
    case tooManyEntries
    /// The log has no room for so large a commit, or the write touches more than it may.
    case tooLarge
    /// A large node changes faster than it can be compared.
    case changing
    /// A label names a ruleset that is not stored.
    case unknownRuleset
    /// A label names a stored ruleset that does not load any more.
    case unusableRuleset

    /// For the person who reads the answer.
    package var text: String {
        switch self {
        case .noSpace:
            "The server's disk is nearly full: writes are refused until there is room again."
        case .tooDeep:
            "The data would be deeper than \(JSONTree.Limits.depth) keys."
        case .tooManyEntries:
            "One update can change at most \(Limits.mergeEntries) paths."
        case .tooLarge:
            "Data to write exceeds the maximum size that can be modified with a single request."
        case .logBehind:
            "The server's disk cannot keep up: try again in a moment."
        case .tooManyListens:
            "The server has too many listens at the moment: try again later."
        case .busy:
            "The server has too much to work out at the moment: try again soon."
        case .changing:
            "The data changes faster than it can be compared."
        case .unknownRuleset:
            "There is no stored ruleset with this identifier."
        case .unusableRuleset:
            "The stored ruleset does not load in this version of the server: store it anew."
        }
    }

    /// Whether the same write may be taken later.
    package var isPassing: Bool {
        switch self {
        case .noSpace, .logBehind, .busy, .changing, .tooManyListens: true
        case .tooDeep, .tooManyEntries, .tooLarge, .unknownRuleset, .unusableRuleset: false
        }
    }
}
