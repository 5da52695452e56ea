/// What must hold of an object for a request to be done, checked where the change is made.
///
/// Source: Cloud Storage, "Request preconditions".
package struct Preconditions: Sendable, Equatable {
    /// 0 means that there must be no object.
    package var ifGenerationMatch: Int64?
    package var ifGenerationNotMatch: Int64?
    package var ifMetagenerationMatch: Int64?
    package var ifMetagenerationNotMatch: Int64?
    /// The generation that the request names; another one counts as no object.
    package var generation: Int64?

    /// Nothing is asked for.
    package init() {}

    /// What they say.
    package enum Outcome: Equatable, Sendable {
        case met
        /// The first that does not hold, by its name in the query of a request.
        case failed(String)

        /// Whether a read is answered that the client has it already (304), not that it asks in vain (412).
        package var isNotModified: Bool {
            self == .failed("ifGenerationNotMatch") || self == .failed("ifMetagenerationNotMatch")
        }
    }

    /// Whether each holds of the object; nil is none.
    package func check(_ record: FileRecord?) -> Outcome {
        let record = named(record)
        let generation = record?.generation ?? 0
        if let wanted = ifGenerationMatch, wanted != generation {
            return .failed("ifGenerationMatch")
        }
        if let unwanted = ifGenerationNotMatch, unwanted == generation {
            return .failed("ifGenerationNotMatch")
        }
        if let wanted = ifMetagenerationMatch, wanted != record?.metageneration {
            return .failed("ifMetagenerationMatch")
        }
        if let unwanted = ifMetagenerationNotMatch, unwanted == record?.metageneration {
            return .failed("ifMetagenerationNotMatch")
        }
        return .met
    }

    /// The object, when it is of the generation that the request names or the request names none.
    package func named(_ record: FileRecord?) -> FileRecord? {
        if let generation, generation != record?.generation { return nil }
        return record
    }
}
