public import Foundation

/// What is directly below a folder, or a page of it.
public final class StorageListResult: NSObject, Sendable {
    /// The folders.
    public let prefixes: [StorageReference]
    /// The objects.
    public let items: [StorageReference]
    /// Asks for the next page; nil on the last one.
    public let pageToken: String?

    init(prefixes: [StorageReference], items: [StorageReference], pageToken: String?) {
        self.prefixes = prefixes
        self.items = items
        self.pageToken = pageToken
        super.init()
    }
}
