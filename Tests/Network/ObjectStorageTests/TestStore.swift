import Foundation
import Glibc
import TestSupport

@testable import ObjectStorage

/// A server that other people wrote, one for all tests of the process; it ends with the process.
enum TestStore: String, CaseIterable, Sendable {
    /// moto, which keeps all in memory and checks signatures by botocore's code.
    case moto = "s3_server.py"
    /// OpenStack Swift, a real store, which checks signatures, hashes of bodies and dates by its own code.
    case swift = "s3_store.py"

    struct Facts: Decodable, Sendable {
        let url: String
        let bucket: String
        let region: String
        let accessKey: String
        let secret: String
    }

    private static let python = "\(Checkout.path)/.venv/bin/python"

    /// Whether the environment of the client tests is there, with the servers: `make setup-test` makes it.
    static let areInstalled = ["moto_server", "swift-proxy-server"].allSatisfy { name in
        access("\(Checkout.path)/.venv/bin/\(name)", X_OK) == 0
    }

    private static let motoFacts = Result { try TestStore.moto.started() }
    private static let swiftFacts = Result { try TestStore.swift.started() }

    func facts() throws -> Facts {
        switch self {
        case .moto: try Self.motoFacts.get()
        case .swift: try Self.swiftFacts.get()
        }
    }

    /// Starts the server, and waits until it is ready.
    private func started() throws -> Facts {
        let process = Process()
        process.executableURL = URL(filePath: Self.python)
        process.arguments = ["\(Checkout.path)/Tests/Clients/\(rawValue)"]
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

    func configuration(
        bucket: String? = nil,
        style: BucketAddress.Style = .path,
        host: String? = nil,
        accessKey: String? = nil,
        secret: String? = nil
    ) throws -> ObjectStoreConfiguration {
        let facts = try facts()
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

    func store() throws -> ObjectStore { try ObjectStore(try configuration()) }
}
