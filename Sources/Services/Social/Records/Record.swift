import Foundation
package import HearthDatabase

/// A model that is stored as one node, under a key of its own. `Stored` is the node in the tree, mostly `Fields`; the
/// model is its meaning. A node that cannot be decoded as `Stored`, or that the model's initialiser refuses, is a
/// `RecordFault`.
package protocol Record: Sendable {
    /// The fields of the node.
    associatedtype Stored: Decodable

    /// - Throws: `Nonsense` when each field is well and they make no sense together.
    init(key: String, stored: Stored) throws
}

/// Why valid fields together are not a record, as part of a sentence: `a message has no text`.
package struct Nonsense: Error {
    let reason: String

    package init(_ reason: String) { self.reason = reason }
}

/// The fields of a stored node, for records that read them one by one: into the model, without a copy of its form.
///
/// Each function throws `DecodingError` for a field of another kind, or that is missing and may not be, and `Nonsense`
/// for a value that cannot be.
package struct Fields: Decodable {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }
    }

    private let container: KeyedDecodingContainer<Name>

    package init(from decoder: any Decoder) throws {
        container = try decoder.container(keyedBy: Name.self)
    }

    /// A field that has to be there.
    package func value<Value: Decodable>(_ name: String) throws -> Value {
        try container.decode(Value.self, forKey: Name(stringValue: name))
    }

    /// A field that may be missing.
    package func optional<Value: Decodable>(_ name: String) throws -> Value? {
        try container.decodeIfPresent(Value.self, forKey: Name(stringValue: name))
    }

    /// A text that is not empty.
    package func text(_ name: String) throws -> String {
        let text: String = try value(name)
        guard !text.isEmpty else { throw Nonsense("\(name): it is empty") }
        return text
    }

    /// A time, in the unit of the field: a finite number, of this range if there is one.
    package func time(_ name: String, in range: ClosedRange<Double>? = nil) throws -> Double {
        let time: Double = try value(name)
        guard time.isFinite, range?.contains(time) ?? true else {
            throw Nonsense("\(name): it is no time")
        }
        return time
    }

    /// A number of things, which has to be there unless there is a number for its absence.
    package func count(_ name: String, ifMissing missing: Int? = nil) throws -> Int {
        let count = try optional(name) ?? missing ?? value(name)
        guard count >= 0 else { throw Nonsense("\(name): it is below 0") }
        return count
    }

    /// The keys that are there with `true`, sorted; none when the field is missing.
    package func set(_ name: String) throws -> [String] {
        let members: [String: Bool]? = try optional(name)
        return members?.filter(\.value).keys.sorted() ?? []
    }
}

extension DataSnapshot {
    /// The record that this snapshot is of.
    ///
    /// - Throws: `RecordFault` when it is none, and when nothing is there.
    package func record<Model: Record>(as _: Model.Type) throws(RecordFault) -> Model {
        do {
            return try Model(key: key, stored: data(as: Model.Stored.self))
        } catch {
            throw RecordFault(path: ref.pathText, reason: Self.reason(error))
        }
    }

    /// The record that this snapshot is of; nil when nothing is there.
    ///
    /// - Throws: `RecordFault` when something else is there.
    package func recordIfPresent<Model: Record>(as _: Model.Type) throws(RecordFault) -> Model? {
        exists() ? try record(as: Model.self) : nil
    }

    /// Each child as a record, in the order of the query that the snapshot comes from.
    package func records<Model: Record>(as _: Model.Type) -> Listing<Model> {
        var listing = Listing<Model>()
        for case let child as DataSnapshot in children {
            listing.append { () throws(RecordFault) in try child.record(as: Model.self) }
        }
        return listing
    }

    /// The keys of the children, in the order of the query that the snapshot comes from.
    package var keys: [String] { children.compactMap { ($0 as? DataSnapshot)?.key } }

    private static func reason(_ error: any Error) -> String {
        if let nonsense = error as? Nonsense { return nonsense.reason }
        guard let error = error as? DecodingError else { return "\(error)" }
        let (context, missing): (DecodingError.Context, String?) =
            switch error {
            case .keyNotFound(let key, let context): (context, key.stringValue)
            case .typeMismatch(_, let context), .valueNotFound(_, let context),
                .dataCorrupted(let context):
                (context, nil)
            @unknown default:
                (DecodingError.Context(codingPath: [], debugDescription: "\(error)"), nil)
            }
        let location = (context.codingPath.map(\.stringValue) + (missing.map { [$0] } ?? []))
            .joined(separator: ".")
        return location.isEmpty
            ? context.debugDescription : "\(location): \(context.debugDescription)"
    }
}

extension DatabaseQuery {
    /// The path from the root, without a slash in front: `messages/c1`; empty at the root.
    package var pathText: String {
        var keys: [String] = []
        var location: DatabaseReference? = ref
        while let here = location, let key = here.key {
            keys.append(key)
            location = here.parent
        }
        return keys.reversed().joined(separator: "/")
    }
}
