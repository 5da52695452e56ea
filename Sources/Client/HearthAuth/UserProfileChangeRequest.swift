public import Foundation

/// Changes of a user's name and picture that are sent together.
public final class UserProfileChangeRequest {
    private let user: User
    private var isNameSet = false
    private var isPhotoSet = false

    /// The displayed name of the person; nil removes it.
    public var displayName: String? {
        didSet { isNameSet = true }
    }

    /// Address of a picture; nil takes it away.
    public var photoURL: URL? {
        didSet { isPhotoSet = true }
    }

    init(_ user: User) {
        self.user = user
        displayName = user.displayName
        photoURL = user.photoURL
    }

    /// Sends the changes.
    public func commitChanges(completion: (((any Error)?) -> Void)? = nil) {
        let (user, members) = (user, members)
        user.auth.run(completion) {
            if !members.isEmpty { try await user.update(members) }
        }
    }

    /// Sends the changes.
    ///
    /// - Throws: `networkError`, or why the sign-in has ended.
    public func commitChanges() async throws {
        let (user, members) = (user, members)
        try await user.auth.run {
            if !members.isEmpty { try await user.update(members) }
        }
    }

    private var members: [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        var removed: [JSONValue] = []
        if isNameSet {
            if let displayName, !displayName.isEmpty {
                members["displayName"] = .text(displayName)
            } else {
                removed.append(.text("DISPLAY_NAME"))
            }
        }
        if isPhotoSet {
            if let photoURL {
                members["photoUrl"] = .text(photoURL.absoluteString)
            } else {
                removed.append(.text("PHOTO_URL"))
            }
        }
        if !removed.isEmpty { members["deleteAttribute"] = .list(removed) }
        return members
    }
}
