/// The parameters of one statement as libpq wants them: parallel C arrays. Kept and reused, since every statement needs
/// them.
struct ParameterBuffers {
    /// What is kept beyond one statement, in bytes.
    private static let keptCapacity = 1 << 20

    private var bytes: [UInt8] = []
    private var values: [UnsafePointer<CChar>?] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    /// Lends `paramValues`, `paramLengths` and `paramFormats` of `PQsendQueryParams`.
    mutating func withPointers(
        to parameters: [PostgresParameter],
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<Int32>, UnsafePointer<Int32>) -> Int32
    ) -> Int32 {
        fill(parameters)
        defer { if bytes.capacity > Self.keptCapacity { bytes = [] } }
        return bytes.withUnsafeBytes { memory in
            let base = memory.baseAddress?.assumingMemoryBound(to: CChar.self)
            values.removeAll(keepingCapacity: true)
            var offset = 0
            for parameter in parameters {
                guard let count = parameter.bytes?.count else {
                    values.append(nil)
                    continue
                }
                // NULL is what a null pointer means, so that an empty value must have another.
                values.append(base.map { $0 + offset })
                offset += count
            }
            return body(values, lengths, formats)
        }
    }

    private mutating func fill(_ parameters: [PostgresParameter]) {
        bytes.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
        for parameter in parameters {
            lengths.append(Int32(parameter.bytes?.count ?? 0))
            if let value = parameter.bytes { bytes.append(contentsOf: value) }
        }
        bytes.append(0)
        while formats.count < parameters.count { formats.append(1) }
    }
}
