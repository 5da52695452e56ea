import Foundation

/// Reads a table of cases, `Specs/NAME.json` in the folder of the file that asks.
package func spec<Case: Decodable>(
    _ name: String,
    of type: Case.Type = Case.self,
    beside file: String = #filePath
) -> [Case] {
    let folder = URL(filePath: file).deletingLastPathComponent()
    do {
        let data = try Data(contentsOf: folder.appending(path: "Specs/\(name).json"))
        return try JSONDecoder().decode([Case].self, from: data)
    } catch {
        preconditionFailure("Specs/\(name).json is a table of cases: \(error)")
    }
}
