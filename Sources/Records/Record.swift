import Foundation
package import HearthDatabase

/// A model that is stored as one node, under a key of its own.
///
/// `Stored` is the node as it is in the tree, field by field; the model is what makes sense of it. A node that
/// `Stored` cannot be decoded from, or that the model's initialiser refuses, is a `RecordFault`.
package protocol Record: Sendable {
    /// The fields of the node.
    associatedtype Stored: Decodable

    /// - Throws: `Nonsense` when each field is well and they make no sense together.
    init(key: String, stored: Stored) throws
}

/// Why fields that are well one by one are no record, as part of a sentence: `a message has no text`.
package struct Nonsense: Error {
    let reason: String

    package init(_ reason: String) { self.reason = reason }
}

extension DataSnapshot {
    /// The record that this snapshot is of.
    ///
    /// - Throws: `RecordFault` when it is none, and when nothing is there.
    package func record<Model: Record>(as _: Model.Type) throws(RecordFault) -> Model {
        do {
            return try Model(key: key, stored: data(as: Model.Stored.self))
        } catch {
            throw RecordFault(path: ref.placeName, reason: Self.reason(error))
        }
    }

    /// Each child as a record, in the order of the query that the snapshot comes from.
    package func records<Model: Record>(as _: Model.Type) -> Listing<Model> {
        var listing = Listing<Model>()
        for case let child as DataSnapshot in children {
            do throws(RecordFault) {
                listing.records.append(try child.record(as: Model.self))
            } catch {
                listing.faults.append(error)
            }
        }
        return listing
    }

    /// The keys of the children, in the order of the query that the snapshot comes from.
    package var keys: [String] {
        children.compactMap { ($0 as? DataSnapshot)?.key }
    }

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
        let place = (context.codingPath.map(\.stringValue) + (missing.map { [$0] } ?? []))
            .joined(separator: ".")
        return place.isEmpty ? context.debugDescription : "\(place): \(context.debugDescription)"
    }
}

extension DatabaseQuery {
    /// The path from the root, without a slash in front: `messages/c1`; empty at the root.
    package var placeName: String {
        var keys: [String] = []
        var place: DatabaseReference? = ref
        while let here = place, let key = here.key {
            keys.append(key)
            place = here.parent
        }
        return keys.reversed().joined(separator: "/")
    }
}
