import Delivery
import Domain
import Testing
import Threading

@Suite(.timeLimit(.minutes(1))) struct RefusalTests {
    private static func refusing(_ reason: Reason) -> SendResult.Fate { .answered(.refused(reason)) }

    private func pauses(
        limit: Int = 20, lane: Lane = .campaign, _ answer: @escaping @Sendable (OutgoingJob) -> SendResult.Fate?
    ) async throws -> [String] {
        let store = ScriptedStore()
        var batch = Fixture.batch(size: 100)
        batch.terms.lane = lane
        store.add(batch, Fixture.jobs(100))
        var configuration = WorkerConfiguration()
        configuration.refusalsInARow = limit
        try await Fixture.withWorker(store, ScriptedTransport(capacity: 10, answer: answer), configuration) { _ in
            await Fixture.until {
                store.items.count == 100 || store.state.withLock { !$0.runPauses.isEmpty && !$0.handBacks.isEmpty }
            }
        }
        return store.state.withLock { $0.runPauses }
    }

    @Test func `a run whose content is refused alike for so many in a row pauses itself and says why`() async throws {
        let found = try await pauses { _ in Self.refusing(.fcmInvalidArgument) }
        #expect(found.first == "20 subscribers in a row were refused: fcm_invalid_argument")
    }

    @Test func `a delivery ends the row, another reason begins a new one`() async throws {
        let mixed = try await pauses { job in
            job.identity.number.isMultiple(of: 15)
                ? .answered(.delivered(messageID: nil)) : Self.refusing(.fcmInvalidArgument)
        }
        #expect(mixed.isEmpty)
        let alternating = try await pauses { job in
            Self.refusing(job.identity.number.isMultiple(of: 2) ? .fcmInvalidArgument : .payloadTooLarge)
        }
        #expect(alternating.isEmpty)
    }

    @Test func `answers about addresses say nothing of the content`() async throws {
        let dead = try await pauses { _ in .answered(.unregistered(.fcmUnregistered, since: nil)) }
        #expect(dead.isEmpty)
        let doubted = try await pauses { _ in Self.refusing(.fcmAPNsRejected) }
        #expect(doubted.isEmpty)
    }

    @Test func `single notifications never pause the run that they share`() async throws {
        let found = try await pauses(lane: .transactional) { _ in Self.refusing(.fcmInvalidArgument) }
        #expect(found.isEmpty)
    }

    @Test func `zero switches it off`() async throws {
        let found = try await pauses(limit: 0) { _ in Self.refusing(.fcmInvalidArgument) }
        #expect(found.isEmpty)
    }

    @Test func `what answers say of addresses is handed on, with when the request began`() async throws {
        let store = ScriptedStore()
        store.add(
            Fixture.batch(size: 5),
            [
                Fixture.job(0, recipient: Fixture.recipient()),
                Fixture.job(1, recipient: Fixture.recipient()),
                Fixture.job(2, recipient: Fixture.recipient()),
                Fixture.job(3, recipient: Fixture.recipient()),
                Fixture.job(4, recipient: Fixture.recipient(state: .suspect)),
            ])
        let since = Fixture.now + .seconds(-60)
        let transport = ScriptedTransport { job in
            switch job.identity.number {
            case 100: .answered(.unregistered(.fcmUnregistered, since: since))
            case 101: .answered(.unregistered(.fcmUnregistered, since: nil))
            case 102: .answered(.wrongProject(.fcmSenderIDMismatch))
            default: .answered(.delivered(messageID: nil))
            }
        }
        try await Fixture.withWorker(store, transport) { _ in
            await Fixture.until { store.state.withLock { $0.answers.count == 4 } }
        }
        let answers = store.state.withLock { $0.answers }.sorted { $0.subscriber < $1.subscriber }
        #expect(answers.map(\.evidence) == [.gone, .gone, .foreign, .sound])
        #expect(answers.map(\.subscriber.rawValue) == [1, 2, 3, 5])
        #expect(answers[0].goneSince == since)
        let began = try #require(answers[1].goneSince)
        #expect(began > Fixture.now + .seconds(-1) && began < Fixture.now + .seconds(60))
        #expect(answers.allSatisfy { $0.credential == Credential.ID(1) && $0.run == Fixture.run })
    }
}
