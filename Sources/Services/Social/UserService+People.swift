import Foundation
import HearthDatabase

extension UserService {
    /// Changes the user's name, picture and status text, in all their copies, in one update.
    ///
    /// `profile` is the user's own, as it is to be; `changeUsername` alone changes its username.
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
        let user = "users/\(uid)"
        var update: [String: Any] = [
            "\(user)/name": profile.name ?? NSNull(),
            "\(user)/picture": profile.picture ?? NSNull(),
            "\(user)/bio": profile.bio ?? NSNull(),
        ]
        switch records {
        case .graph: break
        case .messagingKit:
            let kit = "profiles/\(uid)"
            update["\(kit)/username"] = profile.username
            update["\(kit)/name"] = profile.name ?? profile.username
            update["\(kit)/picture"] = profile.picture ?? NSNull()
            update.merge(
                PersonTree.index(of: uid, in: .name, from: old.names, to: profile.names)
            ) { $1 }
        }
        try await database.update(update, to: "save your profile")
    }

    /// The profiles of the people whom a person follows, read in parallel, in the order of their accounts.
    ///
    /// The follower is the acting user by default. Accounts without a profile are left out.
    public func following(for uid: String? = nil) async throws -> Listing<UserProfile> {
        let uids = try await keys(under: "following", of: uid, purpose: "see whom they follow")
        return try await profiles(of: uids)
    }

    /// The accounts that follow a person, by default the acting user, in order.
    public func followers(for uid: String? = nil) async throws -> [String] {
        try await keys(under: "followers", of: uid, purpose: "see who follows them")
    }

    /// The profiles of these accounts, read side by side and in their order; those without one are left out.
    public func profiles(of uids: [String]) async throws -> Listing<UserProfile> {
        let keys = try uids.map { try $0.key("uid") }
        return try await ServiceError.naming("look at profiles") {
            let snapshots = try await keys.mapInParallel {
                try await database.reference(withPath: "users/\($0)").getData()
            }
            var listing = Listing<UserProfile>()
            for snapshot in snapshots {
                listing.append { () throws(RecordFault) in
                    try snapshot.recordIfPresent(as: UserProfile.self)
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
        return try await database.read("\(list)/\(uid)", to: purpose).keys
    }
}
