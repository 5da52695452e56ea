import Simulation
import TestSupport
import Testing

@Suite("Following under random histories")
struct FollowingWorldTests {
    @Test(
        "clients of every engine of a group see each commit once and in order, and their own writes"
    )
    func histories() throws {
        var counts: [FollowingWorld.Moment: Int] = [:]
        var worldCount = 0
        func missing() -> [FollowingWorld.Moment] {
            FollowingWorld.Moment.allCases.filter { counts[$0] == nil }
        }
        let least = TestSeed.rounds ?? 8
        for seed in TestSeed.seeds(max(least, 100)) where worldCount < least || !missing().isEmpty {
            let world = try FollowingWorld(seed: seed)
            do {
                try world.play()
            } catch {
                let journal = world.journal.joined(separator: "\n")
                Issue.record("seed \(seed): \(error)\n\(journal)")
                return
            }
            counts.merge(world.counts) { $0 + $1 }
            worldCount += 1
        }
        let worlds = "\(worldCount) worlds from seed \(TestSeed.first) on"
        #expect(missing().isEmpty, "\(worlds)")
        print("\(worlds) met \(counts)")
    }
}
