extension CampaignFile {
    /// Where the hash of campaign and user, in 0..<1, falls: below the first bound it is held out, below the second it
    /// gets the first variant, and so on. nil = everybody gets the one message.
    package var variantBounds: [Double]? {
        guard !variants.isEmpty || holdout > 0 else { return nil }
        let total = variants.reduce(0) { $0 + $1.weight }
        var bounds = [holdout]
        var sum = 0.0
        for variant in variants.dropLast() {
            sum += variant.weight
            bounds.append(holdout + (1 - holdout) * sum / total)
        }
        return bounds
    }
}
