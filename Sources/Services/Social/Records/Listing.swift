package import HearthDatabase

/// The content of a list in the database: the valid records, and the faults of the others.
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

    /// Adds the record that `read` gives, or its fault.
    package mutating func append(_ read: () throws(RecordFault) -> Model?) {
        do throws(RecordFault) {
            if let record = try read() { records.append(record) }
        } catch {
            faults.append(error)
        }
    }

    /// Whether nothing is behind a page that was asked for with this size: faults have filled it too.
    package func isLastPage(ofSize size: Int) -> Bool {
        records.isEmpty || records.count + faults.count < size
    }

    /// The list with converted records.
    public func map<Other>(_ transform: (Model) throws -> Other) rethrows -> Listing<Other> {
        Listing<Other>(records: try records.map(transform), faults: faults)
    }
}

extension Listing: Equatable where Model: Equatable {}

extension DatabaseQuery {
    /// The last `count` records before a position, of a list that is ordered by the child `field`; the purpose is part
    /// of a sentence. A page of nothing but faults gives the caller no position to continue from, so it reads on.
    package func page<Model: Record>(
        before end: (value: Double, key: String)?,
        by field: String,
        count: UInt,
        to purpose: String,
    ) async throws(ServiceError) -> Listing<Model> {
        var query = end.map { queryEnding(beforeValue: $0.value, childKey: $0.key) } ?? self
        var faults: [RecordFault] = []
        while true {
            let snapshot = try await query.queryLimited(toLast: count).read(to: purpose)
            let page = snapshot.records(as: Model.self)
            faults = page.faults + faults
            guard page.records.isEmpty,
                let first = snapshot.children.nextObject() as? DataSnapshot
            else { return Listing(records: page.records, faults: faults) }
            let value = first.childSnapshot(forPath: field)
            // A map bounds no query. It sorts after all numbers.
            query =
                value.hasChildren()
                ? queryEnding(beforeValue: Double.greatestFiniteMagnitude)
                : queryEnding(beforeValue: value.value, childKey: first.key)
        }
    }
}
