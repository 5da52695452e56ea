import Foundation
import HearthCore
import Testing

@testable import HearthStorage

@Suite("paths of files")
struct PathTests {
    @Test(
        "have no empty segments",
        arguments: [
            ("", ""), ("/", ""), ("a", "a"), ("/a/", "a"), ("a//b", "a/b"),
            ("//a///b//c//", "a/b/c"),
            (" ", " "), ("a/../b", "a/../b"), ("ä/日本/🙂", "ä/日本/🙂"), ("a%2Fb", "a%2Fb"),
        ]
    )
    func normal(text: String, object: String) {
        #expect(StoragePath(bucket: "B", object: text).object == object)
    }

    @Test("lead down and up")
    func relatives() {
        let root = StoragePath(bucket: "B")
        let file = root.child("/photos//2026/").child("a.png")
        #expect(file.object == "photos/2026/a.png")
        #expect(file.name == "a.png")
        #expect(file.parent?.object == "photos/2026")
        #expect(file.parent?.parent?.parent == root)
        #expect(root.parent == nil)
        #expect(root.name == "")
        #expect(root.child("") == root)
        #expect(file.root == root)
        #expect(file.description == "gs://B/photos/2026/a.png")
    }

    @Test(
        "are read from addresses",
        arguments: [
            ("gs://B", "B", ""), ("gs://B/", "B", ""), ("gs://B/a//b/", "B", "a/b"),
            ("gs://B/a%2Fb", "B", "a%2Fb"), ("http://h:1/v0/b/B/o/a%2Fb%20c", "B", "a/b c"),
            ("https://h/v0/b/B/o/a/b?alt=media&token=T", "B", "a/b"), ("https://h/v0/b/B", "B", ""),
            ("https://h/v0/b/B/o", "B", ""), ("http://h/v0/b/B/o/%252F", "B", "%2F"),
            ("http://h/v0/b/B/o/%E6%97%A5+", "B", "日+"),
        ]
    )
    func addresses(url: String, bucket: String, object: String) throws {
        let path = try StoragePath(url: url)
        #expect(path.bucket == bucket)
        #expect(path.object == object)
    }

    @Test(
        "are refused where an address names none",
        arguments: [
            "", "B/a", "gs://", "gs:///a", "ftp://h/v0/b/B/o/a", "http://h/", "http://h/v1/b/B/o/a",
            "http://h/v0/b", "http://h/v0/b//o/a", "http://h/v0/b/B/x/a", "http://h/v0/b/B/o/%FF",
        ]
    )
    func faults(url: String) throws {
        let error = #expect(throws: StorageError.self) { try StoragePath(url: url) }
        #expect(error?.code == .pathError)
    }

    @Test("show no token of an address that is none")
    func secrets() throws {
        let error = #expect(throws: StorageError.self) {
            try StoragePath(url: "http://h/x?token=SECRET")
        }
        #expect(error?.errorDescription?.contains("SECRET") == false)
    }

    @Test(
        "stand in requests as one segment",
        arguments: [
            ("a/b", "a%2Fb"), ("a b", "a%20b"), ("100%", "100%25"), ("a+b", "a%2Bb"),
            ("?#&=", "%3F%23%26%3D"), ("(it's)*!~_-.", "(it's)*!~_-."), ("é", "%C3%A9"),
            ("e\u{301}", "e%CC%81"), ("🙂", "%F0%9F%99%82"), ("\r\n", "%0D%0A"),
        ]
    )
    func escapes(object: String, text: String) {
        #expect(StoragePath(bucket: "B", object: object).objectTarget == "/v0/b/B/o/\(text)")
    }

    @Test(
        "and servers are read from what an app gives",
        arguments: [
            (nil, "http://localhost:9000", "mine"),
            ("gs://other", "http://localhost:9000", "other"),
            ("gs://other/", "http://localhost:9000", "other"),
            ("https://files.example.com", "https://files.example.com", "mine"),
            (
                "https://files.example.com:8443/v0/b/other", "https://files.example.com:8443",
                "other"
            ),
            ("HTTPS://h/", "https://h", "mine"),
        ] as [(String?, String, String)]
    )
    func locations(url: String?, origin: String, bucket: String) throws {
        let location = try StorageLocation(url, try settings())
        #expect(location.origin == origin)
        #expect(location.bucket == bucket)
    }

    @Test(
        "and servers are refused where the text is none",
        arguments: [
            "gs://", "gs://b/object", "files.example.com", "ftp://h", "https://ann:secret@h",
            "https://h:0", "https://h/some/path",
        ]
    )
    func badLocations(url: String) throws {
        let settings = try settings()
        let error = #expect(throws: StorageError.self) { try StorageLocation(url, settings) }
        #expect(error?.errorDescription?.contains("secret") == false)
    }

    private func settings() throws -> AppSettings {
        var options = HearthOptions(databaseURL: "http://localhost:9000?ns=chat")
        options.storageBucket = "mine"
        return try AppSettings(options, appName: "x", environment: ["HOME": "/h/ann"])
    }

    @Test("the default bucket is that of the project, and the server that of the database")
    func defaults() throws {
        var options = HearthOptions(databaseURL: "https://db.example.com/x?ns=chat")
        var settings = try AppSettings(options, appName: "x", environment: ["HOME": "/h/ann"])
        #expect(settings.storageBucket == "hearth.appspot.com")
        #expect(settings.storageURL == "https://db.example.com")
        options.projectID = "my-app"
        options.storageURL = "http://files.example.com:81/base/"
        settings = try AppSettings(options, appName: "x", environment: ["HOME": "/h/ann"])
        #expect(settings.storageBucket == "my-app.appspot.com")
        #expect(settings.storageURL == "http://files.example.com:81/base")
        options.storageURL = "no address"
        let bad = options
        #expect(throws: HearthAppError.self) {
            try AppSettings(bad, appName: "x", environment: ["HOME": "/h/ann"])
        }
    }
}
