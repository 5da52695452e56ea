/// What the JSON of an upload, a PATCH or a PUT says of an object.
///
/// Read-only members are passed over whatever they hold: SDKs send them back, also as null and as numbers. A member that is
/// absent leaves its field, null unsets it. What is not a text where a text belongs becomes the text of its JSON.
package struct FileMetadataBody: Sendable {
    /// The name of the object, which uploads may have here.
    package private(set) var name: String?
    /// What the sender says of the bytes: base64, not yet decoded.
    package private(set) var md5Hash: String?
    package private(set) var crc32c: String?

    private var texts: [(field: FileField, text: String?)] = []
    private var customTime: String??
    private var custom = Custom.absent

    private enum Custom {
        case absent, null
        case entries([(key: String, value: String?)])
    }

    /// The custom key by which the libraries of servers set download tokens, and by which they see them.
    package static let tokensKey = "firebaseStorageDownloadTokens"

    /// What becomes of that key.
    package enum TokenUse: Sendable {
        /// It is dropped: a client that sets it would choose its own secret.
        case ignore
        /// Its tokens are added: an administrator who uses the protocol of clients.
        case add
        /// Its tokens become those of the object: the protocol of servers.
        case set
    }

    /// A body that says nothing.
    package init() {}

    /// Reads a body; an empty one says nothing.
    package init(_ json: [UInt8]) throws(MetadataFault) {
        self.init()
        if json.isEmpty { return }
        do throws(JSONFieldsFault) {
            self = try FileMetadataBody(fields: JSONFields(json))
        } catch {
            throw .json(error)
        }
    }

    /// Reads the members of a body, or of an object within one.
    package init(fields: JSONFields) throws(JSONFieldsFault) {
        for (member, value) in fields.members {
            if let field = FileField(rawValue: member) {
                if case .nested = value { throw JSONFieldsFault("'\(member)' must be a text") }
                texts.append((field, value.asText))
            }
        }
        if let value = fields["customTime"] { customTime = .some(value.asText) }
        switch fields["metadata"] {
        case nil: custom = .absent
        case .null: custom = .null
        case .some:
            let entries = try fields.object("metadata")?.members ?? []
            custom = .entries(entries.map { (key: $0.name, value: $0.value.asText) })
        }
        name = fields.given("name")?.asText
        md5Hash = fields.given("md5Hash")?.asText
        crc32c = fields.given("crc32c")?.asText
    }

    /// Whether it has a member `metadata`.
    package var hasCustom: Bool {
        if case .absent = custom { false } else { true }
    }

    /// The fixed field that it sets; nil also when it unsets or leaves it.
    package func text(_ field: FileField) -> String? {
        texts.last { $0.field == field }?.text
    }

    /// Merges it into fields and tokens, as a PATCH does; an upload merges it into empty ones.
    ///
    /// - Throws: `MetadataFault` when the result cannot be stored.
    package func apply(
        to fields: inout FileFields,
        _ tokens: inout [String],
        _ use: TokenUse
    ) throws(MetadataFault) {
        for (field, text) in texts { fields[field] = text }
        if let time = customTime { try setTime(time, &fields) }
        switch custom {
        case .absent: break
        case .null:
            fields.removeCustom()
            if use == .set { tokens = [] }
        case .entries(let entries):
            // All old keys may go while as many new ones come, and tokens beside them.
            guard entries.count <= 2 * FileLimits.customCount + 1 else {
                throw .customCount(entries.count)
            }
            for (key, value) in entries {
                if key == Self.tokensKey {
                    try DownloadTokens.merge(value, into: &tokens, use)
                } else {
                    fields.setCustom(key, value)
                }
            }
        }
        if let fault = fields.fault { throw fault }
    }

    private func setTime(_ time: String?, _ fields: inout FileFields) throws(MetadataFault) {
        let old = fields.customTime.flatMap(FileTime.timestamp(rfc3339:))
        guard let time else {
            if old != nil { throw .customTimeBackwards }
            return
        }
        guard let new = FileTime.timestamp(rfc3339: time) else { throw .customTime }
        if let old, new < old { throw .customTimeBackwards }
        fields.customTime = time
    }
}
