/// A seeded 64-bit hash that is the same in every process, so that a run replays, and quick on tokens of 150 bytes.
///
/// Multiply-and-fold of eight bytes at a time, as in wyhash. Not for anything that must resist an attacker.
enum Hash64 {
    /// - Returns: never 0, which tables keep for "empty".
    static func hash(_ bytes: [UInt8], _ range: Range<Int>, seed: UInt64) -> UInt64 {
        var state = seed ^ (UInt64(truncatingIfNeeded: range.count) &* 0x9E37_79B9_7F4A_7C15)
        var index = range.lowerBound
        while index + 8 <= range.upperBound {
            var word: UInt64 = 0
            for offset in 0..<8 { word |= UInt64(bytes[index + offset]) << UInt64(offset * 8) }
            state = fold(state ^ word)
            index += 8
        }
        var rest: UInt64 = 1
        while index < range.upperBound {
            rest = rest << 8 | UInt64(bytes[index])
            index += 1
        }
        return max(1, mixed(fold(state ^ rest)))
    }

    static func hash(_ bytes: [UInt8], seed: UInt64) -> UInt64 {
        hash(bytes, bytes.indices, seed: seed)
    }

    static func hash(_ bytes: ArraySlice<UInt8>, seed: UInt64) -> UInt64 {
        hash(Array(bytes), seed: seed)
    }

    /// One well-mixed number from two, for draws that must not depend on the order of requests.
    static func combine(_ first: UInt64, _ second: UInt64) -> UInt64 {
        mixed(fold(first ^ (second &* 0x9E37_79B9_7F4A_7C15)) &+ second)
    }

    private static func fold(_ value: UInt64) -> UInt64 {
        let product = (value ^ 0xA076_1D64_78BD_642F).multipliedFullWidth(by: 0xE703_7ED1_A0B4_28DB)
        return product.high ^ product.low
    }

    /// The last step of SplitMix64: every bit of the input moves half of the output's.
    private static func mixed(_ value: UInt64) -> UInt64 {
        var mixed = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
