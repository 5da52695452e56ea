import Foundation
import HearthDatabase
import Records

/// What is known of a photo beside its bytes, read without them.
struct PhotoFacts: Equatable {
    /// Who uploaded it.
    let owner: String
    /// Who gives the party that it is for.
    let host: String
    /// That party.
    let party: String

    /// The facts of a photo; nil when there is none that this user sees.
    static func read(_ photo: String, _ tree: PartyTree) async throws(ServiceError) -> PhotoFacts? {
        async let owner = text("owner", photo, tree)
        async let host = text("host", photo, tree)
        async let party = text("party", photo, tree)
        do {
            guard let owner = try await owner, let host = try await host,
                let party = try await party
            else { return nil }
            return PhotoFacts(owner: owner, host: host, party: party)
        } catch {
            throw ServiceError(error, purpose: "see the photo \(photo)")
        }
    }

    private static func text(
        _ fact: String,
        _ photo: String,
        _ tree: PartyTree,
    ) async throws(ServiceError) -> String? {
        do {
            let snapshot = try await tree.read("photos/\(photo)/\(fact)", to: "see a photo")
            return snapshot.value as? String
        } catch .refused {
            return nil
        }
    }
}

extension PartyTree {
    /// Writes an update that deletes a photo which this user uploaded.
    func write(_ update: PartyUpdate, deleting photo: String) async throws(ServiceError) {
        try await write(update, to: "delete the photo \(photo)") {
            try await PhotoFacts.read(photo, self) == nil
        }
    }
}
