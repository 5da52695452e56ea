import ArgumentParser
import Files
import Foundation
import HearthDatabase
import Photos
import ServiceCommand

/// The folder of pictures from files.
struct PhotoFolder: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "Folder for pictures (default: hearth/photos in $XDG_DATA_HOME or ~/.local/share).",
            valueName: "folder"
        ),
        completion: .directory
    )
    var photos: String?

    /// The prefix of a picture's address that consists only of its key in the folder.
    static let scheme = "photo:"

    /// How a picture's address is shown: as the file of this folder, if it names one that is there.
    func shown(_ address: String) -> String {
        guard address.hasPrefix(Self.scheme) else { return address }
        let key = String(address.dropFirst(Self.scheme.count))
        do {
            try PhotoStoreError.check(key: key)
        } catch {
            return address
        }
        let file = "\(path)/\(key).png"
        return FileManager.default.fileExists(atPath: file) ? file : address
    }

    var path: String {
        if let photos { return photos }
        let environment = ProcessInfo.processInfo.environment
        let data = environment["XDG_DATA_HOME"] ?? ""
        let home = environment["HOME"] ?? NSHomeDirectory()
        return (data.isEmpty ? home + "/.local/share" : data) + "/hearth/photos"
    }

    func open() throws -> FilePhotoStore {
        if photos == nil { try Folder.create((path as NSString).deletingLastPathComponent) }
        return try FilePhotoStore(folder: path)
    }
}

/// Where pictures from files are kept, and under which address others find them.
struct PhotoOptions: ParsableArguments, Sendable {
    @OptionGroup var folder: PhotoFolder

    @Option(
        name: .customLong("photo-url"),
        help: ArgumentHelp(
            "Address that the folder has for others (default: none; posts say photo:KEY, shown where the folder is).",
            valueName: "url"
        )
    )
    var address: String?

    /// Keeps the PNG of a file, durably.
    ///
    /// - Returns: The key that it has in the folder, and the photo.
    func store(_ file: String, _ database: Database) async throws -> (key: String, photo: Photo) {
        let photo: Photo
        do {
            photo = try Photo(png: InputFile.read(file, byteLimit: PhotoLimits.inputByteCount))
        } catch let error as PhotoError {
            throw ProgramFault("\(file): \(error)")
        }
        guard let key = database.reference().childByAutoId().key else {
            throw ProgramFault("the database cannot be used")
        }
        try await folder.open().store(photo, forKey: key)
        return (key, photo)
    }

    /// The address of a picture that is kept under a key.
    func url(_ key: String) -> String {
        // The path of the folder stays private.
        guard let address else { return PhotoFolder.scheme + key }
        let name = "\(key).png"
        return address.hasSuffix("/") ? address + name : "\(address)/\(name)"
    }

    /// The file of a picture that is kept under a key.
    func file(_ key: String) -> String { "\(folder.path)/\(key).png" }

    /// Removes the picture of an address, if it is one of this folder.
    func remove(_ url: String) async throws {
        let key: String
        if url.hasPrefix(PhotoFolder.scheme) {
            key = String(url.dropFirst(PhotoFolder.scheme.count))
        } else {
            guard let name = url.split(separator: "/").last, name.hasSuffix(".png") else { return }
            key = String(name.dropLast(4))
            guard self.url(key) == url else { return }
        }
        guard Folder.exists(folder.path) else { return }
        try await folder.open().delete(forKey: key)
    }
}
