extension SubscriberCheck {
    /// One subscriber as a JSON object of its own, over as many lines as it likes; members as in JSON Lines.
    /// - Returns: when it is refused, everything that is wrong: what has the wrong type and what breaks a rule.
    package func object(_ json: [UInt8]) -> Result<ImportedSubscriber, RefusedLine> {
        let (record, faults) = JSONLinesImportReader().read(json)
        guard let record else { return .failure(RefusedLine(line: 1, reasons: faults)) }
        switch self(record) {
        case .success(let subscriber):
            return faults.isEmpty ? .success(subscriber) : .failure(RefusedLine(line: 1, reasons: faults))
        case .failure(let refused):
            // What could not be read is not empty too.
            let unread = faults.compactMap(\.column)
            let others = refused.reasons.filter { reason in !unread.contains { $0 == reason.column } }
            return .failure(RefusedLine(line: 1, reasons: faults + others))
        }
    }
}
