package import JSONTree
import SecurityRules
import WireProtocol

/// Everything durable of one database at one commit; O(1) to take, safe to read on any thread.
package struct DatabaseSnapshot: Sendable {
    package let database: DatabaseID
    package let number: CommitNumber
    package let time: Timestamp
    package internal(set) var root: Node
    /// The text of its own rules, if it has any.
    package let rules: String?
    package let settings: DatabaseSettings
    /// By session, in order of their identifiers.
    let disconnects: [(session: SessionID, state: Database.DisconnectState)]
}

extension Database {
    var snapshot: DatabaseSnapshot {
        let sessions = disconnects.keys.sorted()
        return DatabaseSnapshot(
            database: id,
            number: number,
            time: time,
            root: root,
            rules: ownRules?.text,
            settings: settings,
            disconnects: sessions.compactMap { id in disconnects[id].map { (id, $0) } },
        )
    }

    func restore(_ snapshot: DatabaseSnapshot) throws(CommitDecodingError) {
        number = snapshot.number
        time = snapshot.time
        root = snapshot.root
        ownRules = try snapshot.rules.map(Database.load)
        settings = snapshot.settings
        disconnects = Dictionary(
            uniqueKeysWithValues: snapshot.disconnects.map { ($0.session, $0.state) }
        )
    }

    /// Applies a commit from the log, without rules and without events.
    ///
    /// - Returns: what it did; nothing for a commit that is in the tree already.
    @discardableResult
    func apply(_ record: CommitRecord) throws(CommitDecodingError) -> [CommitOperation] {
        if record.number <= number { return [] }
        guard record.number == number.next else {
            throw .gap(expected: number.next, found: record.number)
        }
        let operations = try CommitDecoder.decode(record.payload)
        for operation in operations {
            switch operation {
            case .write(let target, let node):
                root.write(node, at: target)
            case .setRules(let text): ownRules = try Database.load(text)
            case .detachRules: ownRules = nil
            case .setting(let name, let text):
                guard settings.take((name, text)) else { throw .badSetting(name: name) }
            case .identify, .onDisconnect, .cancelOnDisconnect, .endSession:
                applyBookkeeping(operation)
            }
        }
        number = record.number
        time = record.time
        return operations
    }

    /// Continues as if the commits up to `later` had changed nothing.
    func skip(through later: CommitNumber) {
        number = max(number, later)
    }

    static func load(_ text: String) throws(CommitDecodingError) -> Ruleset {
        do throws(RulesError) { return try Ruleset.load(text) } catch { throw .badRules }
    }
}
