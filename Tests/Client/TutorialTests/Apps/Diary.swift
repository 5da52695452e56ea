// swift-format-ignore-file
import HearthDatabase

/// A diary that keeps its place from before the app is configured, and takes all it needs from one import.
final class DiaryViewController {
    var ref = DatabaseReference()
    var latest = DataSnapshot()
    var entryHeight: CGFloat = 0
    var message = ""
    var reloadData: () -> Void = {}

    func viewDidLoad() {
        ref = Database.database().reference(withPath: "diary")
        ref.queryOrdered(byChild: "date").queryLimited(toLast: 1).observe(.childAdded) { snapshot in
            DispatchQueue.main.async {
                self.latest = snapshot
                let entry = snapshot.value as? [String: Any]
                self.entryHeight = entry?["height"] as? CGFloat ?? 44
                self.reloadData()
            }
        }
    }

    func write(_ text: String, at date: Date, height: CGFloat) {
        let entry: [String: Any] = ["text": text, "date": date.timeIntervalSince1970, "height": height]
        ref.childByAutoId().setValue(entry)
    }

    func write(toPage page: String) async {
        do {
            try await ref.child(page).setValue("text")
        } catch let error as NSError {
            message = "\(error.domain) \(error.code): \(error.localizedDescription)"
        }
    }

    var title: String { "Diary at " + ref.description() }
}
