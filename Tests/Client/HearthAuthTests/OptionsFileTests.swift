import Foundation
import Testing

@testable import HearthCore

@Suite("options in a property list")
struct OptionsFileTests {
    /// A folder of its own, which goes with the test.
    private static func inFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("options-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer {
            do {
                try FileManager.default.removeItem(at: folder)
            } catch {
                Issue.record(error)
            }
        }
        try body(folder)
    }

    private static let text = """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0"><dict>
          <key>API_KEY</key><string>a-key</string>
          <key>DATABASE_URL</key><string>https://db.example.com?ns=chat</string>
          <key>PROJECT_ID</key><string>my-app</string>
          <key>STORAGE_BUCKET</key><string>my-app.firebasestorage.app</string>
          <key>GOOGLE_APP_ID</key><string>1:2:ios:3</string>
          <key>IS_ADS_ENABLED</key><false/>
        </dict></plist>
        """

    @Test("are those of the file, by its path or in a bundle")
    func read() throws {
        try Self.inFolder { folder in
            let file = folder.appendingPathComponent("GoogleService-Info.plist")
            try Data(Self.text.utf8).write(to: file)
            let bundle = try #require(Bundle(path: folder.path))
            for options in [
                FirebaseOptions(contentsOfFile: file.path), FirebaseOptions.options(in: bundle),
            ] {
                let options = try #require(options)
                #expect(options.databaseURL == "https://db.example.com?ns=chat")
                #expect(options.apiKey == "a-key")
                #expect(options.projectID == "my-app")
                #expect(options.storageBucket == "my-app.firebasestorage.app")
                let settings = try AppSettings(options, appName: "listed", environment: [:])
                #expect(settings.databaseName == "chat")
                #expect(settings.accountsURL == "https://db.example.com")
            }
        }
    }

    @Test("are none where there is no file, or no dictionary in it")
    func unreadable() throws {
        #expect(FirebaseOptions.defaultOptions() == nil)
        #expect(FirebaseOptions(contentsOfFile: "/nowhere/at/all.plist") == nil)
        try Self.inFolder { folder in
            let file = folder.appendingPathComponent("a.plist")
            for text in ["", "{", "<plist version=\"1.0\"><array/></plist>"] {
                try Data(text.utf8).write(to: file)
                #expect(FirebaseOptions(contentsOfFile: file.path) == nil, "\(text)")
            }
        }
    }
}
