package import JSONTree

/// Changes of a record. Each that changes anything is one more metageneration, at `now`.
extension FileRecord {
    /// Merges what a PATCH says.
    package mutating func patch(
        _ body: FileMetadataBody,
        _ use: FileMetadataBody.TokenUse,
        now: Timestamp
    ) throws(MetadataFault) {
        var (fields, tokens) = (self.fields, self.tokens)
        try body.apply(to: &fields, &tokens, use)
        (self.fields, self.tokens) = (fields, tokens)
        touch(now)
    }

    /// Replaces everything that a PATCH can set, as the PUT of the protocol of servers does. `customTime` stays.
    package mutating func replace(_ body: FileMetadataBody, now: Timestamp) throws(MetadataFault) {
        var fields = FileFields()
        fields.customTime = self.fields.customTime
        var tokens: [String] = []
        try body.apply(to: &fields, &tokens, .set)
        (self.fields, self.tokens) = (fields, tokens)
        touch(now)
    }

    /// Gives an object without a download token one; false when it has one.
    ///
    /// The first read of its metadata by a client does so.
    package mutating func ensureToken(_ fresh: String, now: Timestamp) -> Bool {
        guard tokens.isEmpty else { return false }
        tokens = [fresh]
        touch(now)
        return true
    }

    /// Adds a download token.
    package mutating func addToken(_ fresh: String, now: Timestamp) throws(MetadataFault) {
        guard tokens.count < FileLimits.tokenCount else { throw .tokenCount }
        tokens.append(fresh)
        touch(now)
    }

    /// Removes a download token; `fresh` takes the place of the last one. False when there is no such token.
    package mutating func removeToken(_ token: String, fresh: String, now: Timestamp) -> Bool {
        guard DownloadTokens.contains(token, in: tokens) else { return false }
        tokens.removeAll { $0 == token }
        if tokens.isEmpty { tokens = [fresh] }
        touch(now)
        return true
    }

    /// Puts one new token in the place of all.
    package mutating func revokeTokens(fresh: String, now: Timestamp) {
        tokens = [fresh]
        touch(now)
    }

    /// Opens the bytes to everyone at their plain address, or closes them.
    package mutating func setPublic(_ isPublic: Bool, now: Timestamp) {
        self.isPublic = isPublic
        touch(now)
    }

    /// The record of a copy at another name. It keeps fields and tokens, unless `body` has a `metadata` of its own: that
    /// replaces custom metadata and tokens.
    package func copied(
        to bucket: BucketName,
        _ name: ObjectName,
        _ body: FileMetadataBody,
        generation: Int64,
        now: Timestamp
    ) throws(MetadataFault) -> FileRecord {
        var (fields, tokens) = (self.fields, self.tokens)
        if body.hasCustom {
            fields.removeCustom()
            tokens = []
        }
        try body.apply(to: &fields, &tokens, .set)
        return FileRecord(
            bucket: bucket,
            name: name,
            content: content,
            generation: generation,
            now: now,
            fields: fields,
            tokens: tokens,
            uid: uid
        )
    }

    /// How many objects a compose of `sources` joins: a composed one counts as those that it was made of.
    package static func componentCount(of sources: [FileRecord]) -> Int {
        sources.reduce(0) { $0 + ($1.content.componentCount ?? 1) }
    }

    private mutating func touch(_ now: Timestamp) {
        metageneration += 1
        updated = max(now, updated)
    }
}
