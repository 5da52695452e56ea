import Glibc
import SimulatedStorage
import TestSupport
import Testing
import WriteAheadLog

@testable import BlobStore

/// All that a store does, in steps of which each can be given again.
private struct WholeLife {
    var twin: StoreTwin
    private var ids: [String: UploadID] = [:]

    enum Step {
        case create(String)
        case append(String, Int)
        case cut(String)
        case store(String)
        case adopt(String)
        case commit(String)
        case remove(String)
        case restart(afterPowerCut: Bool)
        case check
        /// The objects but one are deleted, and a day passes.
        case sweep
    }

    /// How the server goes on after a failure.
    enum Ending {
        /// It gives the step again; a store that has stopped begins anew before.
        case tryAgain
        case kill
        case powerCut
    }

    static let steps: [Step] = [
        .create("a"), .append("a", 5), .store("a"), .append("a", 262_200), .cut("a"),
        .append("a", 262_140), .cut("a"), .store("a"), .commit("a"),
        .create("b"), .append("b", 262_144), .commit("b"),
        .create("c"), .append("c", 100), .store("c"), .append("c", 7), .adopt("c"),
        .create("d"), .append("d", 300), .restart(afterPowerCut: false),
        .append("c", 50), .adopt("c"), .append("c", 1), .commit("c"),
        .create("e"), .append("e", 9), .store("e"), .append("e", 9), .remove("e"),
        .check, .sweep, .restart(afterPowerCut: true),
    ]

    init(seed: UInt64) throws(BlobError) {
        twin = try StoreTwin(seed: seed)
    }

    private mutating func take(_ step: Step) throws(BlobError) {
        switch step {
        case .create(let name): ids[name] = try twin.create(stream: 0)
        case .restart(let afterPowerCut): try twin.restart(afterPowerCut: afterPowerCut)
        case .check: try twin.check()
        case .sweep:
            for hash in twin.referenced.keys.sorted().dropFirst() { twin.forget(hash) }
            twin.pass(hours: 25)
            try twin.sweep()
        case .append(let name, _), .cut(let name), .store(let name), .adopt(let name),
            .commit(let name), .remove(let name):
            if let id = ids[name] { try take(step, id) }
        }
    }

    private mutating func take(_ step: Step, _ id: UploadID) throws(BlobError) {
        switch step {
        case .append(_, let byteCount): try twin.append(byteCount, to: id)
        case .cut: try twin.cut(id)
        case .store: try twin.storeSession(id)
        case .adopt: try twin.adopt(id)
        case .commit: try twin.commit(id)
        case .remove: try twin.remove(id)
        case .create, .restart, .check, .sweep: break
        }
    }

    mutating func run(_ ending: Ending) throws {
        for step in Self.steps {
            do throws(BlobError) { try take(step) } catch {
                twin.say(error)
                let hasStopped = twin.store.folder.failure != nil
                if ending != .tryAgain || hasStopped {
                    try twin.restart(afterPowerCut: ending == .powerCut)
                }
                if ending == .tryAgain { try take(step) }
            }
        }
    }
}

@Suite("every call of a store fails once")
struct StoreFaultTests {
    @Test(
        "which it says, with the call, the file and the reason, and nothing is lost or left",
        arguments: [WholeLife.Ending.tryAgain, .kill, .powerCut]
    )
    fileprivate func everyCall(ending: WholeLife.Ending) throws {
        var (sites, stopped): (Set<String>, Int) = ([], 0)
        var call = 0
        var isMet = true
        while isMet {
            call += 1
            isMet = false
            // A process that ends is indifferent to why a call failed.
            for kind in 0..<(ending == .tryAgain ? 3 : 1) {
                var life = try WholeLife(seed: TestSeed.first &+ UInt64(call))
                life.twin.disk.failCall(call) { operation in
                    let kinds = errorNumbers(operation)
                    return kind < kinds.count ? kinds[kind] : nil
                }
                let text = "call \(call), kind \(kind)"
                do { try life.run(ending) } catch { Issue.record("\(text): \(error)") }
                guard let met = life.twin.disk.metFailure else { continue }
                isMet = true
                #expect(life.twin.said.contains { $0.contains(met.description) }, "\(text): \(met)")
                sites.insert("\(met.operation)")
                stopped += life.twin.reached["stopped"] ?? 0
                life.twin.disk.cancelFailures()
                try life.twin.restart(afterPowerCut: ending == .powerCut)
                try life.twin.end()
                #expect(life.twin.faults == [], "\(text): \(met)")
            }
        }
        #expect(call > 150)
        let operations = [
            "create", "open", "read", "write", "sync", "truncate", "rename", "remove", "list",
            "link", "status", "protect", "createFolder",
        ]
        #expect(sites == Set(operations))
    }

    @Test("nothing half is seen wherever the power is cut")
    func powerCuts() throws {
        for round in 0..<UInt64(TestSeed.rounds ?? 1) {
            var call = 0
            var isMet = true
            while isMet {
                call += 1
                var life = try WholeLife(seed: TestSeed.first &+ UInt64(call) &+ round << 20)
                life.twin.disk.cutPower(afterCalls: call)
                do { try life.run(.powerCut) } catch { Issue.record("call \(call): \(error)") }
                isMet = life.twin.said != []
                try life.twin.restart(afterPowerCut: true)
                try life.twin.end()
                #expect(life.twin.faults == [], "call \(call)")
            }
            #expect(call > 150)
        }
    }
}
