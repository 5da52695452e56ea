// swift-format-ignore-file
import Foundation
import HearthDatabase

/// Where every one of these apps begins.
final class AppDelegate {
    var isConfigured = false

    func applicationDidFinishLaunching(emulatorPort: Int?) {
        FirebaseApp.configure()
        isConfigured = true

        // During development the app talks to the server on this Mac.
        if let emulatorPort = emulatorPort {
            Database.database().useEmulator(withHost: "127.0.0.1", port: emulatorPort)
        }
    }
}
