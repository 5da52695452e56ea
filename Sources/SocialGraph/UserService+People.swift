import Foundation
import HearthDatabase
public import Records

extension UserService {
    /// Changes the user's name, picture and words of their own, wherever they stand, in one update.
    ///
    /// - Parameter profile: The user's own, as it is to be; its username is changed by `changeUsername` alone.
    /// - Throws: `ServiceError`.
    public func save(_ profile: UserProfile) async throws {
        let old = try await me()
        guard profile.uid == uid, profile.username == old.username else {
            throw ServiceError.invalid(field: "username", why: "it is not yours")
        }
        if let name = profile.name { try ServiceError.checkLength(of: name, "name", 1...100) }
        for (field, text, longest) in [
            ("picture", profile.picture, 2000), ("bio", profile.bio, 1000),
        ] {
            guard let text else { continue }
            try ServiceError.checkLength(of: text, field, 0...longest)
        }
        let user = PersonTree.user(uid)
        var update: [String: Any] = [
            "\(user)/name": profile.name ?? NSNull(),
            "\(user)/picture": profile.picture ?? NSNull(),
            "\(user)/bio": profile.bio ?? NSNull(),
        ]
        switch records {
        case .graph: break
        case .messagingKit:
            let kit = PersonTree.profile(uid)
            update["\(kit)/username"] = profile.username
            update["\(kit)/name"] = profile.name ?? profile.username
            update["\(kit)/picture"] = profile.picture ?? NSNull()
            update.merge(
                PersonTree.index(of: uid, in: .name, from: old.names, to: profile.names)
            ) { $1 }
        }
        try await database.update(update, to: "save your profile")
    }

    /// The profiles of those whom somebody follows, read side by side and in the order of their accounts.
    ///
    /// Accounts without a profile are left out.
    /// - Parameter uid: Who follows them; the user who acts if nobody is named.
    /// - Returns: The profiles, and those that are none.
    /// - Throws: `ServiceError`.
    public func following(for uid: String? = nil) async throws -> Listing<UserProfile> {
        let uids = try await keys(under: "following", of: uid, purpose: "see whom they follow")
        return try await profiles(of: uids)
    }

    /// The accounts that follow somebody, in order.
    ///
    /// - Parameter uid: Whom they follow; the user who acts if nobody is named.
    /// - Returns: The accounts.
    /// - Throws: `ServiceError`.
    public func followers(for uid: String? = nil) async throws -> [String] {
        try await keys(under: "followers", of: uid, purpose: "see who follows them")
    }

    /// The profiles of these accounts, read side by side and in their order; those without one are left out.
    ///
    /// - Throws: `ServiceError`.
    public func profiles(of uids: [String]) async throws -> Listing<UserProfile> {
        let keys = try uids.map { try $0.key("uid") }
        return try await ServiceError.naming("look at profiles") {
            let snapshots = try await keys.mapInParallel {
                try await place(PersonTree.user($0)).getData()
            }
            var listing = Listing<UserProfile>()
            for snapshot in snapshots where snapshot.exists() {
                do throws(RecordFault) {
                    listing.records.append(try snapshot.record(as: UserProfile.self))
                } catch {
                    listing.faults.append(error)
                }
            }
            return listing
        }
    }

    private func keys(
        under list: String,
        of uid: String?,
        purpose: String,
    ) async throws -> [String] {
        let uid = try (uid ?? self.uid).key("uid")
        return try await ServiceError.naming(purpose) {
            try await place("\(list)/\(uid)").getData().keys
        }
    }
}
