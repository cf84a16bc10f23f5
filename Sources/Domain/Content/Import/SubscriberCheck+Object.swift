extension SubscriberCheck {
    /// One subscriber as a JSON object of its own, over as many lines as it likes; members as in JSON Lines.
    package func object(_ json: [UInt8]) -> Result<ImportedSubscriber, RefusedLine> {
        switch JSONLinesImportReader().record(json) {
        case .failure(let refused): .failure(refused)
        case .success(let record): self(record)
        }
    }
}
