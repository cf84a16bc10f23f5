/// The instant at which the current turn of the loop began: read once for all that happens within it.
final class TurnClock {
    private(set) var now = ContinuousClock.now

    func tick() { now = .now }
}
