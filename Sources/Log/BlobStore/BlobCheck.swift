import COpenSSL

/// Reads all blobs again and compares them with their hashes, and with what refers to them.
package enum BlobCheck {
    /// A blob that is not as it should be.
    package struct Finding: Sendable, Equatable, CustomStringConvertible {
        package enum Fault: Sendable, Equatable {
            /// A record refers to it, and it is not there.
            case missing
            /// Its bytes have another hash.
            case damaged
            /// It has this many bytes, and a record says another count.
            case byteCount(Int64, expected: Int64)
            case unreadable(BlobError)
        }

        package let hash: BlobHash
        package let path: String
        package let fault: Fault

        /// The sentence for people.
        package var description: String {
            switch fault {
            case .missing: "\(path) is missing"
            case .damaged: "\(path) is damaged: its bytes are not those that were stored"
            case .byteCount(let found, let expected):
                "\(path) has \(found) bytes where \(expected) belong"
            case .unreadable(let error): "\(error)"
            }
        }
    }

    /// What was looked at.
    package struct Counts: Sendable, Equatable {
        package var blobCount = 0
        package var byteCount: Int64 = 0
        /// Blobs to which nothing refers: such of uploads that were not finished, and replaced ones.
        package var orphanCount = 0
    }

    /// Checks every blob, and reports each fault as it is found. Changes nothing; blocks for as long as it takes to read
    /// everything. `references` has the byte count of each blob that a record refers to.
    ///
    /// - Throws: As `BlobSource.list`; `remote`.
    package static func run(
        _ blobs: any BlobSource,
        references: [BlobHash: Int64],
        progress: (Counts) -> Void = { _ in },
        report: (Finding) -> Void
    ) throws(BlobError) -> Counts {
        var counts = Counts()
        var missing = references
        var last: BlobHash?
        while true {
            let page = try blobs.list(after: last, limit: BlobLimits.sliceCount)
            for entry in page.entries {
                counts.blobCount += 1
                counts.byteCount += entry.byteCount
                let expected = missing.removeValue(forKey: entry.hash)
                if expected == nil { counts.orphanCount += 1 }
                progress(counts)
                guard let fault = try check(entry, in: blobs, byteCount: expected) else { continue }
                report(Finding(hash: entry.hash, path: blobs.path(of: entry.hash), fault: fault))
            }
            last = page.entries.last?.hash ?? last
            if page.isLast { break }
        }
        for hash in missing.keys.sorted() {
            report(Finding(hash: hash, path: blobs.path(of: hash), fault: .missing))
        }
        return counts
    }

    private static func check(
        _ entry: BlobPage.Entry,
        in blobs: any BlobSource,
        byteCount: Int64?
    ) throws(BlobError) -> Finding.Fault? {
        do throws(BlobError) {
            guard try hash(of: entry.hash, in: blobs) == entry.hash else { return .damaged }
        } catch {
            // Then nothing can be read.
            if case .remote = error { throw error }
            return .unreadable(error)
        }
        guard let byteCount, byteCount != entry.byteCount else { return nil }
        return .byteCount(entry.byteCount, expected: byteCount)
    }

    /// The hash that the bytes of a blob have. Blocks.
    ///
    /// - Throws: As `BlobSource.open` and `BlobReader.read`.
    package static func hash(of hash: BlobHash, in blobs: any BlobSource) throws(BlobError)
        -> BlobHash
    {
        let reader = try blobs.open(hash)
        defer { reader.close() }
        let digest = DigestContext(EVP_sha256())
        var offset: Int64 = 0
        while true {
            let piece = try reader.read(at: offset, count: BlobLimits.pieceByteCount)
            guard !piece.isEmpty else { break }
            piece.withUnsafeBytes { digest.append($0) }
            offset += Int64(piece.count)
        }
        return BlobHash(digest.digest(byteCount: 32))
    }
}
