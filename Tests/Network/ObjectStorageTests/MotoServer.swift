import Foundation
import Glibc
import TestSupport

@testable import ObjectStorage

/// The server of `Tests/Clients/s3_server.py`, one for all tests of the process: it checks signatures and ends with it.
final class MotoServer: Sendable {
    struct Facts: Decodable, Sendable {
        let url: String
        let bucket: String
        let region: String
        let accessKey: String
        let secret: String
    }

    private static let python = "\(Checkout.path)/.venv/bin/python"

    /// Whether the environment of the client tests is there, with the server: `make setup-test` makes it.
    static let isInstalled = access("\(Checkout.path)/.venv/bin/moto_server", X_OK) == 0

    static let facts: Result<Facts, any Error> = Result {
        let process = Process()
        process.executableURL = URL(filePath: python)
        process.arguments = ["\(Checkout.path)/Tests/Clients/s3_server.py"]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        var line: [UInt8] = []
        var byte: UInt8 = 0
        let descriptor = output.fileHandleForReading.fileDescriptor
        while read(descriptor, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
        // Both ends stay open as long as this process, whose end is that of the server's input.
        _ = Unmanaged.passRetained(input)
        _ = Unmanaged.passRetained(output)
        return try JSONDecoder().decode(Facts.self, from: Data(line))
    }

    static func configuration(
        bucket: String? = nil,
        style: BucketAddress.Style = .path,
        host: String? = nil,
        accessKey: String? = nil,
        secret: String? = nil
    ) throws -> ObjectStoreConfiguration {
        let facts = try facts.get()
        let url = host.map { facts.url.replacingOccurrences(of: "127.0.0.1", with: $0) }
        return try ObjectStoreConfiguration(
            BucketAddress(endpoint: url ?? facts.url, bucket: bucket ?? facts.bucket, style: style),
            region: facts.region,
            credentials: ObjectStoreCredentials(
                accessKeyID: accessKey ?? facts.accessKey,
                secretAccessKey: secret ?? facts.secret
            )
        )
    }

    static func store() throws -> ObjectStore { try ObjectStore(try configuration()) }
}
