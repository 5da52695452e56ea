import Foundation
import HearthDatabase
import Social

/// The data of a photo besides its bytes, read without them.
struct PhotoFacts: Equatable {
    let owner: String
    /// Who gives the party that it is for.
    let host: String
    let party: String

    /// The facts of a photo; nil when there is none that this user sees.
    static func read(_ photo: String, _ tree: PartyTree) async throws(ServiceError) -> PhotoFacts? {
        async let owner = tree.photoText("owner", of: photo)
        async let host = tree.photoText("host", of: photo)
        async let party = tree.photoText("party", of: photo)
        do {
            guard let owner = try await owner, let host = try await host,
                let party = try await party
            else { return nil }
            return PhotoFacts(owner: owner, host: host, party: party)
        } catch {
            throw ServiceError(error, purpose: "see the photo \(photo)")
        }
    }
}

extension PartyTree {
    /// A field of a photo; nil when there is no photo that this user sees.
    func photoText(_ field: String, of photo: String) async throws(ServiceError) -> String? {
        try await photoValue(field, of: photo) as? String
    }

    /// A field of a photo of any kind; nil as above.
    func photoValue(_ field: String, of photo: String) async throws(ServiceError) -> Any? {
        do throws(ServiceError) {
            let snapshot = try await read("photos/\(photo)/\(field)", to: "see a photo")
            return snapshot.exists() ? snapshot.value : nil
        } catch .refused {
            return nil
        }
    }

    func write(_ update: PartyUpdate, deleting photo: String) async throws(ServiceError) {
        try await write(update, to: "delete the photo \(photo)") {
            try await PhotoFacts.read(photo, self) == nil
        }
    }
}
