import Domain

extension Worker {
    /// How long a batch waits as a whole, because everybody in it who can be sent to does: one row moves, not hundreds.
    /// - Returns: nil if somebody need not wait, or nobody does.
    static func deferral(of jobs: [PushJob], _ withheld: [Int16: Withheld]) -> Duration? {
        var shortest: Duration?
        for job in jobs {
            guard let recipient = job.recipient else { continue }
            switch recipient.state {
            case .active, .suspect: break
            case .unregistered, .wrongProject, .quarantined: continue
            }
            guard let wait = withheld[job.ordinal]?.wait else { return nil }
            shortest = min(shortest ?? wait, wait)
        }
        return shortest
    }

    /// Quiet hours that only some of a batch are in: they leave for the retry table, uncharged, until these end.
    func withhold(_ item: Flush.Item, until wait: Duration?) -> Flush.Item {
        guard let wait else { return item }
        var item = item
        item.outcome = nil
        item.wait = wait
        item.free = true
        return item
    }
}
