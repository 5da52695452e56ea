/// What a list in the database holds: the records that make sense, and what is wrong with the others.
public struct Listing<Model: Sendable>: Sendable {
    /// The records, in the list's order.
    public var records: [Model]
    /// The ones that were left out.
    public var faults: [RecordFault]

    /// A list of these.
    public init(records: [Model] = [], faults: [RecordFault] = []) {
        self.records = records
        self.faults = faults
    }

    /// Whether nothing is behind a page that was asked for with this size: faults have filled it too.
    package func isLastPage(ofSize size: Int) -> Bool {
        records.isEmpty || records.count + faults.count < size
    }

    /// The list with other models in the place of its own.
    public func map<Other>(_ transform: (Model) throws -> Other) rethrows -> Listing<Other> {
        Listing<Other>(records: try records.map(transform), faults: faults)
    }
}

extension Listing: Equatable where Model: Equatable {}
