import Foundation
import HearthAuth
import HearthCore
import TestSupport
import Testing

@Suite("a server with TLS", .serialized)
struct TrustTests {
    /// Of 127.0.0.1 and localhost, for a hundred years; good for nothing but this test.
    private static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBaDCCAQ2gAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
        c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
        CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABMdISC2Dl9Yi8vVA
        dc67MzyChrxM59VEG0p1GVbbsbC+Q+2DlMsRlCXz/CMIRHBnZumdGjUKzrQjbwT4
        8hxvP7WjTjBMMBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAPBgNVHRMBAf8E
        BTADAQH/MB0GA1UdDgQWBBRvuX3fcSa1kJnbHVTNCg8vl5MFcDAKBggqhkjOPQQD
        AgNJADBGAiEAwBeuAYrZjWtSZsK5Onj+5+eN74Grjj4m8Cwe0mXk1XYCIQC7At5b
        PBXuJfF8YehJMemQg405QviH0CZyqkOA+D5fHA==
        -----END CERTIFICATE-----
        """

    private static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgCPJ7yHVq/vk74423
        jXsX3NrY8jhOxkWDWH2PDB8Ds4ehRANCAATHSEgtg5fWIvL1QHXOuzM8goa8TOfV
        RBtKdRlW27GwvkPtg5TLEZQl8/wjCERwZ2bpnRo1Cs60I28E+PIcbz+1
        -----END PRIVATE KEY-----
        """

    @Test("is trusted by its own authority alone")
    func authority() async throws {
        let folder = try TemporaryFolder()
        let certificate = try folder.file("cert.pem", Self.certificate + "\n")
        let key = try folder.file("key.pem", Self.key + "\n")
        let server = try RunningServer(
            arguments: ["--dev", "--memory", "--tls-cert", certificate, "--tls-key", key]
        )
        var options = HearthOptions(databaseURL: "wss://127.0.0.1:\(server.port)")
        options.persistsUser = false
        let strange = try HearthApp.make(name: "strange", options: options)
        do {
            try await Auth.auth(app: strange).signInAnonymously()
            Issue.record("signed in")
        } catch let error as AuthError {
            #expect(error.errorCode == .networkError)
            #expect(error.localizedDescription.contains("set HearthOptions.authorityFile"))
        }
        options.authorityFile = certificate
        let known = try HearthApp.make(name: "known", options: options)
        #expect(try await Auth.auth(app: known).signInAnonymously().user.isAnonymous)
        await strange.delete()
        await known.delete()
    }
}
