import JSONTree
import SecurityRules

/// Reads the content of a checkpoint, and commits, as a start does, and keeps only their heads: to check that they can
/// be read.
///
/// Memory: the largest head of a database (rules, settings and on-disconnect writes), or the operations of one commit.
package struct StateCheck {
    /// The databases that were read whole, in their order, with their last commits.
    package private(set) var heads: [(database: DatabaseID, number: CommitNumber)] = []
    private var decoder = CheckpointDecoder(.checking)

    /// Begins at the start of a checkpoint.
    package init() {}

    /// Takes the next bytes of the checkpoint.
    package mutating func feed(_ bytes: [UInt8]) throws(CommitDecodingError) {
        // The decoder is not part of what the closure changes.
        var found: [(database: DatabaseID, number: CommitNumber)] = []
        try decoder.feed(bytes) { snapshot throws(CommitDecodingError) in
            if let text = snapshot.rules { _ = try Database.load(text) }
            found.append((snapshot.database, snapshot.number))
        }
        heads += found
    }

    /// Says that the checkpoint has no more bytes.
    package func finish() throws(CommitDecodingError) { try decoder.finish() }

    /// Decodes the operations of a commit.
    package static func check(payload: [UInt8]) throws(CommitDecodingError) {
        for operation in try CommitDecoder.decode(payload) {
            switch operation {
            case .setRules(let text): _ = try Database.load(text)
            case .setting(let name, let text):
                var settings = DatabaseSettings()
                guard settings.take((name, text)) else { throw .badSetting(name: name) }
            case .write, .detachRules, .identify, .onDisconnect, .cancelOnDisconnect, .endSession:
                break
            }
        }
    }
}
