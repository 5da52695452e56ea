import DatabaseCore
import FileRecords
import FileProtocol
import JSONTree
import Tokens

extension DatabaseID {
    /// Where the records of files are kept: no name that a client can say has a colon in it.
    static let files = DatabaseID(":files")
}

/// Records in the tree of the reserved database:
///
///     buckets/B/SHA256(NAME)     a record (`FileRecord.json`)     dots of B are written as colons
///     made/B                     when a bucket was made, milliseconds since 1970
///     finals/UPLOAD              the generation that a resumable upload has made, until its own file says that it is over
///     rules/NUMBER               a version of the rules that were published: time, author, and text unless they were taken away
///     rulesets/ID                rules that are stored and need not be in force: time and text
///     labels/canary              the ID of those that are tried beside the rules in force
///
/// A snapshot: looking something up costs O(log n) and copies nothing. What refers to a blob is counted from the records, so
/// that a deletion writes nothing but its absence, and nothing can disagree.
struct FileTree: Sendable {
    let root: Node

    // MARK: - Where things are

    static func key(_ bucket: BucketName) -> Key {
        // The characters of a bucket name are those of a key but for the dot.
        Key(unchecked: bucket.text.utf8.map { $0 == UInt8(ascii: ".") ? UInt8(ascii: ":") : $0 })
    }

    /// Where everything is but rules.
    static let roots = ["buckets", "made", "finals"].map { Path([key($0)]) }

    static func path(_ address: ObjectAddress) -> Path {
        Path([key("buckets"), key(address.bucket), key(address.name)])
    }

    static func path(madeBucket bucket: BucketName) -> Path {
        Path([key("made"), key(bucket)])
    }

    /// `id` is 32 hexadecimal digits.
    static func path(final id: String) -> Path {
        Path([key("finals"), Key(unchecked: Array(id.utf8))])
    }

    private static func key(_ name: ObjectName) -> Key {
        Key(unchecked: Array(Hexadecimal.encode(SHA256Digest.of(name.utf8)).utf8))
    }

    private static func key(_ word: String) -> Key { Key(unchecked: Array(word.utf8)) }

    private static func bucket(_ key: Bytes) -> BucketName? {
        let text = String(
            decoding: Key(key).utf8.map { $0 == UInt8(ascii: ":") ? UInt8(ascii: ".") : $0 },
            as: UTF8.self
        )
        do throws(NameFault) { return try BucketName(text) } catch { return nil }
    }

    private static func path(rules number: Int) -> Path { Path([key("rules"), key("\(number)")]) }

    /// What keeps a version of the rules, and lets the oldest ones go.
    func writes(adding version: RulesVersion) -> [(path: Path, node: Node)] {
        let versions = rulesVersions + [version]
        let removed = versions.prefix(RulesVersion.excessCount(versions))
        let path = Self.path(rules: version.number)
        var writes = removed.map { (path: Self.path(rules: $0.number), node: Node.absent) }
        func add(_ name: String, _ node: Node?) {
            if let node { writes.append((path.appending(Self.key(name)), node)) }
        }
        add("time", version.time.map { Node(integer: $0.milliseconds) })
        add("author", version.author.map { Node(string: $0) })
        add("text", version.text.map { Node(string: $0) })
        return writes
    }

    private static func path(ruleset id: String) -> Path { Path([key("rulesets"), key(id)]) }

    /// What stores a ruleset. Beyond `Limits.storedRulesets` the oldest ones without a label go.
    func writes(storing ruleset: StoredRuleset) -> [(path: Path, node: Node)] {
        let path = Self.path(ruleset: ruleset.id)
        let (stored, labelled) = (rulesets, labelledCanary)
        let excess = max(0, stored.count + 1 - Limits.storedRulesets)
        let removed = stored.filter { $0.id != labelled }.prefix(excess)
        return removed.map { (Self.path(ruleset: $0.id), .absent) } + [
            (path.appending(Self.key("time")), Node(integer: ruleset.time.milliseconds)),
            (path.appending(Self.key("text")), Node(string: ruleset.text)),
        ]
    }

    /// What labels a stored ruleset `canary`, or (nil) none.
    static func write(canary id: String?) -> (path: Path, node: Node) {
        (Path([key("labels"), key("canary")]), id.map { Node(string: $0) } ?? .absent)
    }

    // MARK: - Looking up

    /// The stored rulesets, the oldest first.
    var rulesets: [StoredRuleset] {
        var found: [StoredRuleset] = []
        root.member("rulesets").visitChildren { key, node in
            if let ruleset = Self.ruleset(Key(key).string, node) { found.append(ruleset) }
            return true
        }
        return found.sorted { ($0.time.milliseconds, $0.id) < ($1.time.milliseconds, $1.id) }
    }

    /// The stored ruleset of this identifier.
    func ruleset(_ id: String) -> StoredRuleset? {
        Self.ruleset(id, root.member("rulesets").member(id))
    }

    private static func ruleset(_ id: String, _ node: Node) -> StoredRuleset? {
        guard let time = node.member("time").integer, let text = node.member("text").string
        else { return nil }
        return StoredRuleset(id: id, time: Timestamp(milliseconds: time), text: text)
    }

    /// The identifier that is labelled `canary`.
    var labelledCanary: String? { root.member("labels").member("canary").string }

    /// The stored ruleset that is tried beside the rules in force.
    var canary: StoredRuleset? { labelledCanary.flatMap { ruleset($0) } }

    /// The versions of the rules that were published, the oldest first; the last one is in force.
    var rulesVersions: [RulesVersion] {
        var found: [RulesVersion] = []
        root.member("rules").visitChildren { key, version in
            guard let number = Int(Key(key).string) else { return true }
            let time = version.member("time").integer
            found.append(
                RulesVersion(
                    number: number,
                    time: time.map { Timestamp(milliseconds: $0) },
                    author: version.member("author").string,
                    text: version.member("text").string
                )
            )
            return true
        }
        return found.sorted { $0.number < $1.number }
    }

    /// The record of an object; nil when there is none, or when it is damaged, which the start has said.
    func record(_ address: ObjectAddress) -> FileRecord? {
        Self.record(root.descendant(at: Self.path(address)))
    }

    /// The record that is a node; nil for another node.
    static func record(_ node: Node) -> FileRecord? {
        guard let text = node.string else { return nil }
        do throws(RecordDamage) { return try FileRecord(json: Array(text.utf8)) } catch {
            return nil
        }
    }

    /// When a bucket was made; nil for one that was not, though it may have objects.
    func time(madeBucket bucket: BucketName) -> Timestamp? {
        root.descendant(at: Self.path(madeBucket: bucket)).integer
            .map { Timestamp(milliseconds: $0) }
    }

    /// Buckets that were made.
    var madeBuckets: [BucketName] {
        var found: [BucketName] = []
        root.member("made").visitChildren { key, _ in
            if let bucket = Self.bucket(key) { found.append(bucket) }
            return true
        }
        return found
    }

    /// The generation that an upload has made; nil while it goes on, and after its own file says so.
    func generation(final id: String) -> Int64? {
        root.descendant(at: Self.path(final: id)).string.flatMap { Int64($0) }
    }

    /// Uploads that have made an object, and whose own files may not say so.
    var finals: [String] {
        var found: [String] = []
        root.member("finals").visitChildren { key, _ in
            found.append(Key(key).string)
            return true
        }
        return found
    }

    /// Every record, and the path of each text that is none.
    func visit(_ body: (FileRecord) -> Void, damaged: (Path) -> Void) {
        root.member("buckets").visitChildren { bucket, records in
            let bucket = Key(bucket)
            records.visitChildren { name, node in
                if let record = Self.record(node) {
                    body(record)
                } else {
                    damaged(Path([Self.key("buckets"), bucket, Key(name)]))
                }
                return true
            }
            return true
        }
    }
}
