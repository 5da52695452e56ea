import Foundation
import JSONTree

extension Node {
    /// The value as apps see it: `NSNull`, `NSNumber`, `String`, `[String: Any]`, or `[Any]` for a map whose keys are
    /// those of an array, with `NSNull` in its gaps. Source: the wire protocol, section 8.3.
    var appValue: Any {
        guard isMap else { return appLeaf }
        if let last = ArrayRule.lastIndex(self) { return appArray(through: last) }
        var members: [String: Any] = [:]
        members.reserveCapacity(childCount)
        visitChildren { key, child in
            members[key.string] = child.appValue
            return true
        }
        return members
    }

    /// The same with priorities: maps with them hold `.priority`, leaves are `.value` beside it.
    var appExport: Any {
        guard isMap else {
            if priority.isAbsent { return appLeaf }
            return [".value": appLeaf, ".priority": priority.appLeaf]
        }
        var members: [String: Any] = [:]
        visitChildren { key, child in
            members[key.string] = child.appExport
            return true
        }
        if !priority.isAbsent { members[".priority"] = priority.appLeaf }
        return members
    }

    private func appArray(through last: Int) -> [Any] {
        var elements: [Any] = []
        elements.reserveCapacity(last + 1)
        visitChildren { key, child in
            let index = Key.integer(key) ?? elements.count
            while elements.count < index { elements.append(NSNull()) }
            elements.append(child.appValue)
            return true
        }
        return elements
    }

    private var appLeaf: Any {
        switch kind {
        case .absent, .map: NSNull()
        case .boolean: NSNumber(value: boolean ?? false)
        case .number:
            if let integer { NSNumber(value: integer) } else { NSNumber(value: number ?? 0) }
        case .string: string ?? ""
        }
    }
}
