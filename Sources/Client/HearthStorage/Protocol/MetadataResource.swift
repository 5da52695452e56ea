import Foundation

/// The metadata of an object as the server sends it. All numbers are texts.
struct MetadataResource: Hashable, Sendable, Decodable {
    /// The members that an app may set.
    struct Settable: Hashable, Sendable {
        var cacheControl: String?
        var contentDisposition: String?
        var contentEncoding: String?
        var contentLanguage: String?
        var contentType: String?
        var metadata: [String: String]?
    }

    var name: String?
    var bucket: String?
    var size: String?
    var generation: String?
    var metageneration: String?
    var md5Hash: String?
    var timeCreated: String?
    var updated: String?
    /// With commas between them.
    var downloadTokens: String?

    private var cacheControl: String?
    private var contentDisposition: String?
    private var contentEncoding: String?
    private var contentLanguage: String?
    private var contentType: String?
    private var metadata: [String: String]?

    init() {}

    /// Reads what the server has answered.
    ///
    /// - Throws: `StorageError.unknown` when it is no metadata.
    init(_ answer: StorageAnswer) throws(StorageError) {
        do {
            self = try JSONDecoder().decode(MetadataResource.self, from: answer.body)
        } catch {
            throw .unknown(message: "The server sent no metadata of an object.", serverError: [:])
        }
    }

    /// Reads a dictionary of an app; members of other types are passed over.
    init(_ dictionary: [String: AnyHashable]) {
        func text(_ key: String) -> String? {
            switch dictionary[key]?.base {
            case let text as String: text
            case let number as Int: "\(number)"
            case let number as Int64: "\(number)"
            case _: nil
            }
        }
        name = text("name")
        bucket = text("bucket")
        size = text("size")
        generation = text("generation")
        metageneration = text("metageneration")
        md5Hash = text("md5Hash")
        timeCreated = text("timeCreated")
        updated = text("updated")
        settable = Settable(
            cacheControl: text("cacheControl"),
            contentDisposition: text("contentDisposition"),
            contentEncoding: text("contentEncoding"),
            contentLanguage: text("contentLanguage"),
            contentType: text("contentType"),
            metadata: dictionary["metadata"]?.base as? [String: String]
        )
    }

    var settable: Settable {
        get {
            Settable(
                cacheControl: cacheControl,
                contentDisposition: contentDisposition,
                contentEncoding: contentEncoding,
                contentLanguage: contentLanguage,
                contentType: contentType,
                metadata: metadata
            )
        }
        set {
            cacheControl = newValue.cacheControl
            contentDisposition = newValue.contentDisposition
            contentEncoding = newValue.contentEncoding
            contentLanguage = newValue.contentLanguage
            contentType = newValue.contentType
            metadata = newValue.metadata
        }
    }

    var dictionary: [String: AnyHashable] {
        var members: [String: AnyHashable] = [:]
        members["name"] = name
        members["bucket"] = bucket
        members["size"] = size
        members["generation"] = generation
        members["metageneration"] = metageneration
        members["md5Hash"] = md5Hash
        members["timeCreated"] = timeCreated
        members["updated"] = updated
        members["metadata"] = metadata
        for (key, value) in settable.texts { members[key] = value }
        return members
    }

    /// `2026-09-30T12:00:00.123Z`; nil for what is no time.
    static func date(_ text: String) -> Date? {
        try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text)
    }
}

extension MetadataResource.Settable {
    /// A member of a request.
    private enum Member: Encodable {
        case text(String)
        /// Takes the member away.
        case null
        case texts([String: String?])

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .null: try container.encodeNil()
            case .texts(let texts): try container.encode(texts)
            }
        }
    }

    /// All members but the custom ones; nil: not there.
    var texts: [String: String?] {
        [
            "cacheControl": cacheControl, "contentDisposition": contentDisposition,
            "contentEncoding": contentEncoding, "contentLanguage": contentLanguage,
            "contentType": contentType,
        ]
    }

    /// What goes along with an upload.
    func json(named name: String) -> Data {
        var members: [String: Member] = ["name": .text(name)]
        for (key, text) in texts { members[key] = text.map { .text($0) } }
        members["metadata"] = metadata.map { .texts($0) }
        return Self.encode(members)
    }

    /// What changes metadata that was `earlier`: only what differs, and null for what is gone.
    func changes(from earlier: Self) -> Data {
        var members: [String: Member] = [:]
        let earlierTexts = earlier.texts
        for (key, text) in texts where earlierTexts[key] != text {
            members[key] = text.map { .text($0) } ?? .null
        }
        let (custom, earlierCustom) = (metadata ?? [:], earlier.metadata ?? [:])
        var entries: [String: String?] = [:]
        for (key, text) in custom where earlierCustom[key] != text { entries[key] = text }
        for key in earlierCustom.keys where custom[key] == nil {
            entries.updateValue(nil, forKey: key)
        }
        if metadata == nil, earlier.metadata != nil {
            members["metadata"] = .null
        } else if !entries.isEmpty {
            members["metadata"] = .texts(entries)
        }
        return Self.encode(members)
    }

    private static func encode(_ members: [String: Member]) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return try encoder.encode(members)
        } catch {
            preconditionFailure("texts and nulls are JSON: \(error)")
        }
    }
}
