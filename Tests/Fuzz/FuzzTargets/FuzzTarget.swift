/// A function over bytes that checks what must hold whatever they are, and its name.
///
/// The program `fuzz` gives it bytes that reach new code; a test gives it those in `Tests/Fuzz/Corpus`, in the folder
/// of that name.
package struct FuzzTarget: Sendable {
    /// The name, as `make fuzz TARGET=` takes it.
    package let name: String

    /// Throws `BrokenProperty` where something does not hold; traps where the product does.
    package let run: @Sendable ([UInt8]) throws -> Void

    /// All of them.
    package static let all: [FuzzTarget] = [
        .json, .jsonPieces, .wireFrames, .wireMessages, .eventRequests, .restQuery,
        .httpHeads, .httpBodies, .webSocketFrames,
        .rulesText, .rulesDecisions, .patterns, .tokens,
        .logRecords, .checkpoints, .backups,
    ]
}

/// What did not hold.
package struct BrokenProperty: Error, CustomStringConvertible {
    /// The property, and what was found instead.
    package let description: String
}

/// Throws unless `holds`; `what` names the property.
func check(_ holds: Bool, _ what: @autoclosure () -> String) throws(BrokenProperty) {
    if !holds { throw BrokenProperty(description: what()) }
}
