import Domain
import Testing

@Suite struct RetryRuleTests {
    private static let start = Instant(microseconds: 1_900_000_000_000_000)

    @Test(
        arguments: [
            // base, attempts, draw, seconds
            (10, 1, 0.0, 5.0), (10, 1, 0.999_999, 10.0), (10, 2, 0.5, 15.0), (10, 4, 0.0, 40.0), (10, 7, 0.0, 320.0),
            (10, 8, 0.0, 450.0), (10, 8, 0.999_999, 900.0), (10, 60, 0.0, 450.0), (2, 1, 0.0, 1.0), (2, 1, 0.5, 1.5),
            (2, 3, 0.0, 4.0), (2, 9, 0.0, 256.0), (2, 10, 0.999_999, 900.0), (2, 0, 0.0, 1.0),
        ] as [(Int, Int, Double, Double)])
    func `the wait doubles from its base to a quarter of an hour, and half of it is chance`(
        base: Int, attempts: Int, draw: Double, seconds: Double
    ) {
        let wait = RetryRule(base: .seconds(base)).backoff(attempts: attempts, draw: draw)
        #expect(abs(Double(wait.microseconds) / 1_000_000 - seconds) < 0.01)
    }

    struct Case: Sendable {
        var attempts = 1
        var firstAgo = 0
        var life = 86_400
        var retryAfter: Int?
        var isCharged = true
        var maxAttempts = 8
        var expected: RetryRule.Decision
    }

    @Test(arguments: [
        Case(expected: .again(after: .seconds(5))),
        Case(retryAfter: 3, expected: .again(after: .seconds(5))),
        Case(retryAfter: 120, expected: .again(after: .seconds(120))),
        // The message's life ends first.
        Case(life: 5, expected: .expired), Case(life: 6, expected: .again(after: .seconds(5))),
        Case(life: 100, retryAfter: 120, expected: .expired),
        // Its attempts do.
        Case(attempts: 8, expected: .exhausted), Case(attempts: 7, expected: .again(after: .seconds(320))),
        Case(attempts: 1, maxAttempts: 1, expected: .exhausted), Case(attempts: 8, life: 1, expected: .exhausted),
        // The horizon does, an hour after the first attempt.
        Case(attempts: 2, firstAgo: 3591, expected: .exhausted),
        Case(attempts: 2, firstAgo: 3590, expected: .again(after: .seconds(10))),
        Case(attempts: 2, firstAgo: 3599, life: 2, expected: .exhausted),
        Case(attempts: 2, firstAgo: 3591, life: 5, expected: .expired),
        Case(attempts: 2, retryAfter: 3601, expected: .exhausted),
        // What costs nothing ends by the message's life alone.
        Case(attempts: 8, firstAgo: 9000, retryAfter: 60, isCharged: false, expected: .again(after: .seconds(450))),
        Case(attempts: 0, retryAfter: 60, isCharged: false, expected: .again(after: .seconds(60))),
        Case(attempts: 0, life: 60, retryAfter: 60, isCharged: false, expected: .expired),
    ])
    func `whichever is first ends a job: its attempts, the horizon, or the message's life`(rule: Case) {
        let decision = RetryRule(base: .seconds(10), maxAttempts: rule.maxAttempts).decide(
            attempts: rule.attempts, firstAttemptAt: Self.start - .seconds(rule.firstAgo), now: Self.start,
            expiresAt: Self.start + .seconds(rule.life), retryAfter: rule.retryAfter.map { .seconds($0) },
            isCharged: rule.isCharged, draw: 0)
        #expect(decision == rule.expected)
    }
}
