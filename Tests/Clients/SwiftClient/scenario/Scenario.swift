import Foundation
import HearthDatabase

/// `scenario PATH=URL...`: one client for each address, all at once. Prints a line of JSON as each of them ends.
@main
@MainActor
struct Scenario {
    static func main() async {
        let runs = CommandLine.arguments.dropFirst().map { argument in
            Task { @MainActor in await run(argument) }
        }
        for run in runs { await run.value }
    }

    private static func run(_ argument: String) async {
        let parts = argument.split(separator: "=", maxSplits: 1).map { String($0) }
        do {
            let result = try await Run(url: parts[1], path: parts[0]).result()
            let line = try JSONSerialization.data(withJSONObject: result, options: .sortedKeys)
            print(String(decoding: line, as: UTF8.self))
            fflush(nil)
        } catch {
            print("scenario: \(argument): \(error)")
            exit(1)
        }
    }
}
