/// Why a node cannot follow its log any further.
package enum LogFault: Error, Sendable, Equatable {
    /// The copy of an entry that this node received is damaged, or from a newer server.
    case badEntry(sequence: UInt64, EntryFault)
    /// An entry that counts holds what no server writes.
    case badCommits(sequence: UInt64, CommitListFault)
    /// The parts of one commit are longer than a commit may be.
    case openTooLong(sequence: UInt64)
    /// Entries between are gone, by trimming or by damage.
    case gap(expected: UInt64, found: UInt64)
    /// This entry was written after a history that this node does not know, or instead of one that it knows.
    case otherLog(sequence: UInt64)
    /// The log ends before what was in it once.
    case wentBack(last: UInt64, known: LogProgress)
}

extension LogFault: CustomStringConvertible {
    /// What happened, where, and what to do.
    package var description: String {
        switch self {
        case .badEntry(let sequence, let fault) where fault.isOfAnotherVersion:
            """
            entry \(sequence) of the log is from a newer server: \(fault). Update this node.
            """
        case .badEntry(let sequence, let fault):
            """
            entry \(sequence) of the log is damaged: \(fault). Check the disk of the broker of this node and start \
            the node again.
            """
        case .badCommits(let sequence, let fault):
            """
            entry \(sequence) of the log holds no commits that can be read: \(fault). Update this node.
            """
        case .openTooLong(let sequence):
            """
            entry \(sequence) of the log goes on with a commit that is longer than a commit may be. Update this node.
            """
        case .gap(let expected, let found):
            """
            the log goes on at entry \(found), and this node has read it to the one before entry \(expected). \
            Make the data folder of this node anew with 'hearth cluster join'.
            """
        case .otherLog(let sequence):
            """
            entry \(sequence) does not follow what this node has: the group began with data that this node has no copy of, \
            or the log lost what it held, or it is the log of another group. For a new node make a data folder with \
            'hearth cluster join'. When it is the log of this node's group, found the group anew from the node that has most.
            """
        case .wentBack(let last, let known):
            """
            the log ends at entry \(last), before epoch \(known.epoch), commit \(known.commit), which was in it: the \
            brokers lost what they had acknowledged. Found the group anew from the node that has most.
            """
        }
    }
}
