import WriteAheadLog

extension BlobFolder {
    /// Removes the folder with everything in it. Blocks; for one that only this user can write to, and that no server uses.
    ///
    /// - Throws: `disk`, also when there is something that the server does not make; `stopped`.
    package func removeAll() throws(BlobError) {
        try gate.run { () throws(LogError) in
            for folder in [UploadFolder.root, LocalBlobs.root, Self.root] {
                for name in try storage.list(folder) {
                    let path = "\(folder)/\(name)"
                    for inner in try storage.hasFolder(path) ? storage.list(path) : [] {
                        try storage.remove("\(path)/\(inner)")
                    }
                    try storage.remove(path)
                }
                try storage.remove(folder)
            }
        }
    }
}
