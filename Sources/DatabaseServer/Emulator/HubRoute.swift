/// The addresses of an emulator hub.
///
/// Source: firebase-tools, `emulator/hub.ts`.
enum HubRoute: Equatable {
    case emulators
    case export
    /// Functions that run on changes; there are none here, so both answers are the same.
    case backgroundTriggers(areEnabled: Bool)

    /// nil for any other address.
    init?(_ segments: [String]) {
        switch segments {
        case ["emulators"]: self = .emulators
        case ["_admin", "export"]: self = .export
        case ["functions", "disableBackgroundTriggers"]:
            self = .backgroundTriggers(areEnabled: false)
        case ["functions", "enableBackgroundTriggers"]:
            self = .backgroundTriggers(areEnabled: true)
        default: return nil
        }
    }

    /// The methods it answers, `OPTIONS` aside.
    var methods: [String] {
        switch self {
        case .emulators: ["GET", "HEAD"]
        case .export: ["POST"]
        case .backgroundTriggers: ["PUT"]
        }
    }
}
