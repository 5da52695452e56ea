package import HTTPClient

/// Which bucket objects are kept in, and how a client speaks to its server.
package struct ObjectStoreConfiguration: Sendable {
    package let address: BucketAddress
    /// The word that signatures name as region. Servers of one's own often take any, or `us-east-1`.
    package let region: String
    package let credentials: ObjectStoreCredentials
    /// Times, and the file of authorities that the server's certificate is checked against.
    package var http: HTTPOptions
    /// Whether signatures cover the bytes of objects over TLS too, so that the server notices a changed byte. Costs a second
    /// reading of what is stored. Without TLS they always do.
    package var signsPayloads = true
    package var retries = RetryPolicy()
    /// Objects up to this size are stored by one request, larger ones in parts of this size.
    var partByteCount = ObjectStoreLimits.partByteCount

    /// - Throws: `ObjectStoreSettingError` for a region that no signature can name.
    package init(
        _ address: BucketAddress,
        region: String = "us-east-1",
        credentials: ObjectStoreCredentials,
        http: HTTPOptions = HTTPOptions()
    ) throws(ObjectStoreSettingError) {
        guard ObjectStoreCredentials.isWord(region) else { throw .region(region) }
        self.address = address
        self.region = region
        self.credentials = credentials
        self.http = http
        // A signed request is for one host. What another answers is no business of the store's.
        self.http.followsRedirects = false
        self.http.acceptsCompressed = false
    }
}

/// What a user of a store signs requests with. The secret and the token are never written into logs or errors.
package struct ObjectStoreCredentials: Sendable, CustomStringConvertible {
    /// Names the secret; is sent in the open.
    package let accessKeyID: String
    let secretAccessKey: String
    /// Sent along with temporary credentials.
    let sessionToken: String?

    /// - Throws: `ObjectStoreSettingError` for a text that no header can carry, such as one with the end of its line.
    package init(
        accessKeyID: String,
        secretAccessKey: String,
        sessionToken: String? = nil
    ) throws(ObjectStoreSettingError) {
        guard Self.isWord(accessKeyID) else { throw .accessKeyID }
        guard Self.isPrintable(secretAccessKey) else { throw .secretAccessKey }
        guard sessionToken.map(Self.isPrintable) ?? true else { throw .sessionToken }
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
    }

    package var description: String { "access key \(accessKeyID)" }

    private static func isPrintable(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// Whether a text can be a part of a signature's scope.
    static func isWord(_ text: String) -> Bool {
        isPrintable(text) && !text.contains(where: { "/,=;".contains($0) })
    }
}

/// Sizes and counts of requests to a store.
package enum ObjectStoreLimits {
    /// Bytes of one request that stores an object, and of a part of a larger one; ours. S3 has 5 GiB for both.
    package static let partByteCount: Int64 = 64 << 20
    /// Parts of an object. Source: Amazon S3, "Multipart upload limits".
    package static let partCount: Int64 = 10_000
    /// Bytes of an object: 5 TiB. Source: the same.
    package static let objectByteCount: Int64 = 5 << 40
    /// Objects on a page of a list. Source: Amazon S3 API reference, ListObjectsV2.
    package static let listCount = 1000
    /// Bytes of an answer that holds such a page: 1,000 names of 1,024 bytes, each escaped, fit.
    static let listByteCount = 8 << 20
    /// Bytes of any other answer that are read.
    static let answerByteCount = 64 << 10
    /// Bytes that are read from a file at a time.
    static let pieceByteCount = 256 << 10
}

/// Why a store cannot be used as its settings say.
package enum ObjectStoreSettingError: Error, Equatable, Sendable, CustomStringConvertible {
    case scheme(String)
    case host(String)
    case port(String)
    case path(String)
    case bucket(String)
    case bucketIsNoLabel(String)
    case numericHost(String)
    case region(String)
    case prefix(String)
    case accessKeyID
    case secretAccessKey
    case sessionToken

    package var description: String {
        switch self {
        case .scheme(let url): "'\(url)' must begin with https:// or http://"
        case .host(let url): "'\(url)' must name a host, without a user"
        case .port(let url): "'\(url)': the port must be a number from 1 to 65535"
        case .path(let url): "'\(url)': the path must be plain ASCII, without ?, #, % and //"
        case .bucket(let name):
            "the bucket '\(name)' must have \(BucketAddress.nameLength.lowerBound) to "
                + "\(BucketAddress.nameLength.upperBound) ASCII letters, digits and single . - _"
        case .bucketIsNoLabel(let name):
            "the bucket '\(name)' cannot be part of a host's name; address it by path"
        case .numericHost(let host):
            "'\(host)' is a number, which no bucket's name can stand before; address it by path"
        case .region(let region):
            "the region '\(region)' must be one word of ASCII characters without / , = ;"
        case .prefix(let prefix):
            "the prefix '\(prefix)' must end in a slash, begin with none, and have neither . nor .. as a part"
        case .accessKeyID: "the access key must be one word of ASCII characters without / , = ;"
        case .secretAccessKey:
            "the secret access key must be printable ASCII characters, without white space"
        case .sessionToken:
            "the session token must be printable ASCII characters, without white space"
        }
    }
}
