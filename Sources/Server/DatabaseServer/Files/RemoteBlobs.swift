import Files
import HTTPClient
import ObjectStorage

/// Why the store that the settings name for files cannot be used, a sentence.
struct RemoteBlobsFault: Error, CustomStringConvertible {
    let description: String
}

extension FileSettings.S3 {
    /// Bytes of a file with a key.
    private static let keyByteLimit = 16 << 10

    /// The store, with the key as its file has it now. Connects with its first call.
    ///
    /// - Throws: `RemoteBlobsFault` for a file that holds no key, and a region that none has.
    func blobs() throws(RemoteBlobsFault) -> S3Blobs {
        let (name, secret) = try key()
        do throws(ObjectStoreSettingError) {
            let credentials = try ObjectStoreCredentials(
                accessKeyID: name,
                secretAccessKey: secret
            )
            var http = HTTPOptions()
            http.authorityFile = caFile
            return try S3Blobs(
                ObjectStoreConfiguration(
                    address,
                    region: region,
                    credentials: credentials,
                    http: http
                )
            )
        } catch {
            throw RemoteBlobsFault(description: "the store of --files-s3 cannot be used: \(error)")
        }
    }

    /// The access key and its secret: the first two lines that are not empty.
    private func key() throws(RemoteBlobsFault) -> (name: String, secret: String) {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try SmallFile.readSecret(keyFile, byteLimit: Self.keyByteLimit)
        } catch {
            throw RemoteBlobsFault(description: "\(error)")
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
        guard lines.count == 2 else {
            throw RemoteBlobsFault(
                description: "\(keyFile) must have two lines: the access key and its secret"
            )
        }
        return (String(lines[0]), String(lines[1]))
    }
}
