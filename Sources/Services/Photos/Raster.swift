/// Points of a picture, row by row, as PNG has them: sRGB of 8 bits, alpha last and not multiplied in.
struct Raster {
    let width: Int
    let height: Int
    /// 1 gray, 2 gray and alpha, 3 colors, 4 colors and alpha.
    let channelCount: Int
    /// `width * height * channelCount` of them.
    var samples: [UInt8]

    var hasAlpha: Bool { channelCount % 2 == 0 }

    /// The same picture, this wide: each point is the average of the area that it covers. Averages light, without
    /// invisible points. `newWidth` is at most `width`. Exact except for rounding to 8 bits. O(points).
    func shrunk(to newWidth: Int) -> Raster {
        precondition(newWidth > 0 && newWidth <= width, "it only becomes smaller")
        let newHeight = max(1, (height * newWidth + width / 2) / width)
        var shrunk: [UInt8] = []
        shrunk.reserveCapacity(newWidth * newHeight * channelCount)
        var sums = [UInt64](repeating: 0, count: newWidth * channelCount)
        // Lengths are counted in units: an old row has `newHeight` of them, a new one `height`.
        var missing = height
        for y in 0..<height {
            let row = shrunkRow(y, to: newWidth)
            var left = newHeight
            while left > 0 {
                let part = min(left, missing)
                for index in sums.indices { sums[index] += row[index] * UInt64(part) }
                left -= part
                missing -= part
                guard missing == 0 else { continue }
                append(averagesOf: sums, to: &shrunk)
                for index in sums.indices { sums[index] = 0 }
                missing = height
            }
        }
        return Raster(
            width: newWidth,
            height: newHeight,
            channelCount: channelCount,
            samples: shrunk
        )
    }

    /// One row: sums over `width` units for each new point, light times alpha, and alpha.
    private func shrunkRow(_ y: Int, to newWidth: Int) -> [UInt64] {
        var row = [UInt64](repeating: 0, count: newWidth * channelCount)
        let colorCount = hasAlpha ? channelCount - 1 : channelCount
        samples.withUnsafeBufferPointer { samples in
            row.withUnsafeMutableBufferPointer { row in
                Light.ofSample.withUnsafeBufferPointer { light in
                    var missing = width
                    var new = 0
                    var old = y * width * channelCount
                    for _ in 0..<width {
                        let alpha = hasAlpha ? UInt64(samples[old + colorCount]) : 255
                        var left = newWidth
                        while left > 0 {
                            let part = min(left, missing)
                            let weight = alpha * UInt64(part)
                            for color in 0..<colorCount {
                                row[new + color] +=
                                    UInt64(light[Int(samples[old + color])]) * weight
                            }
                            if hasAlpha { row[new + colorCount] += weight }
                            left -= part
                            missing -= part
                            guard missing == 0 else { continue }
                            new += channelCount
                            missing = width
                        }
                        old += channelCount
                    }
                }
            }
        }
        return row
    }

    private func append(averagesOf sums: [UInt64], to samples: inout [UInt8]) {
        // At most 2^16 of light, 2^8 of alpha, and 2^28 points: it fits.
        let area = UInt64(width) * UInt64(height)
        let colorCount = hasAlpha ? channelCount - 1 : channelCount
        for start in stride(from: 0, to: sums.count, by: channelCount) {
            let weight = hasAlpha ? sums[start + colorCount] : area * 255
            for sum in sums[start..<start + colorCount] {
                let average = weight == 0 ? 0 : (sum + weight / 2) / weight
                samples.append(Light.sample(of: UInt16(average)))
            }
            if hasAlpha { samples.append(UInt8((weight + area / 2) / area)) }
        }
    }
}
