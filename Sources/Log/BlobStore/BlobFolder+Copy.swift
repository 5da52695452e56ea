extension BlobFolder {
    /// Copies a blob from elsewhere, unless one of its size is here. Blocks; afterwards it survives a power cut.
    ///
    /// The bytes are compared with the hash before the blob has its name.
    ///
    /// - Returns: Whether it was copied.
    /// - Throws: `damaged` for other bytes than those of the hash; as `BlobSource.open`, `BlobReader.read`,
    ///   `BlobDraft.append` and `Blobs.adopt`.
    package func copy(
        _ hash: BlobHash,
        byteCount: Int64,
        from source: any BlobSource
    ) throws(BlobError) -> Bool {
        if try has(hash, byteCount: byteCount) { return false }
        let reader = try source.open(hash)
        defer { reader.close() }
        let draft = try uploads.create(uploads.newID())
        do throws(BlobError) {
            while true {
                let piece = try reader.read(
                    at: draft.byteCount,
                    count: BlobLimits.pieceByteCount
                )
                guard !piece.isEmpty else { break }
                try draft.append(piece[...])
            }
            guard try draft.seal().hash == hash else {
                throw .damaged(path: source.path(of: hash))
            }
            _ = try blobs.adopt(draft)
        } catch {
            draft.rest()
            // What cannot be removed goes with the next `UploadFolder.load`.
            _ = Result { () throws(BlobError) in try uploads.removeBytes(of: draft.id) }
            throw error
        }
        draft.rest()
        try uploads.removeBytes(of: draft.id)
        return true
    }

    private func has(_ hash: BlobHash, byteCount: Int64) throws(BlobError) -> Bool {
        do throws(BlobError) {
            let reader = try blobs.open(hash)
            reader.close()
            return reader.byteCount == byteCount
        } catch .missing {
            return false
        }
    }
}
