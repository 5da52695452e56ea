/// What checkpoints and commits say of a database's own rules, read without its data.
package struct OwnRules: Sendable {
    private var text: String?
    private var settings = DatabaseSettings()

    /// Of a database without a commit.
    package init() {}

    /// As a checkpoint has them.
    package init(_ snapshot: DatabaseSnapshot) {
        text = snapshot.rules
        settings = snapshot.settings
    }

    /// The version that is in force; nil when the database has no rules of its own.
    package var inForce: RulesVersion? { text == nil ? nil : settings.versions(of: text).last }

    /// Takes what a commit of the database changes of them.
    package mutating func apply(payload: [UInt8]) throws(CommitDecodingError) {
        for operation in try CommitDecoder.decode(payload, passesOverNodes: true) {
            switch operation {
            case .setRules(let text): self.text = text
            case .detachRules: text = nil
            case .setting(let name, let text):
                guard settings.take((name, text)) else { throw .badSetting(name: name) }
            case .write, .identify, .onDisconnect, .cancelOnDisconnect, .endSession: break
            }
        }
    }
}
