import Foundation
import Testing

@Suite("code of tutorials")
struct UnchangedCodeTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Apps")

    static func files() throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "swift" }
            .sorted { $0.path < $1.path }
    }

    @Test("has one changed line in each file, its import")
    func oneLine() throws {
        let files = try Self.files()
        #expect(files.count >= 10)
        for file in files {
            let lines = try String(contentsOf: file, encoding: .utf8)
                .split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count { $0 == "import HearthDatabase" } == 1, "\(file)")
            let original = lines.map {
                $0 == "import HearthDatabase" ? "import FirebaseDatabase" : $0
            }
            for (number, line) in original.enumerated() {
                #expect(
                    !line.lowercased().contains("hearth"),
                    "\(file.lastPathComponent):\(number + 1)"
                )
            }
            let imports = original.filter { $0.hasPrefix("import ") }
            #expect(imports.last == "import FirebaseDatabase", "\(file)")
            #expect(imports.dropLast().allSatisfy { $0 == "import Foundation" }, "\(file)")
        }
    }
}
