import Postgres
import Testing

@Suite(.timeLimit(.minutes(1))) struct NotificationTests {
    @Test(arguments: ["wake", "Wake \"up\""]) func `what is notified arrives with its payload`(channel: String)
        async throws
    {
        try await TestServer.withConnection { listener in
            try await listener.listen(channel)
            try await TestServer.withConnection { sender in
                async let received = listener.notifications(timeout: .seconds(30))
                _ = try await sender.query("SELECT pg_notify(\(channel), 'hello')")
                #expect(try await received == [PostgresConnection.Notification(channel: channel, payload: "hello")])
            }
        }
    }

    @Test func `what came during a statement is not lost`() async throws {
        try await TestServer.withConnection { listener in
            try await listener.listen("wake2")
            _ = try await listener.query("SELECT pg_notify('wake2', '1'), pg_notify('wake2', '2')")
            let payloads = try await listener.notifications(timeout: .seconds(30)).map(\.payload)
            #expect(payloads == ["1", "2"])
        }
    }

    @Test func `waiting ends with the time, the task or the connection`() async throws {
        try await TestServer.withConnection { listener in
            try await listener.listen("wake3")
            let none = try await listener.notifications(timeout: .milliseconds(20))
            #expect(none.isEmpty)

            try await withThrowingTaskGroup(of: [PostgresConnection.Notification].self) { group in
                group.addTask { try await listener.notifications(timeout: .seconds(3600)) }
                group.cancelAll()
                let cancelled = try await group.next()
                #expect(cancelled == [])
            }
            #expect(listener.isConnected)

            let process = try await listener.query("SELECT pg_backend_pid()")[0].int32(0)
            try await TestServer.withConnection { other in
                async let outcome = errorOf { try await listener.notifications(timeout: .seconds(3600)) }
                _ = try await other.query("SELECT pg_terminate_backend(\(process))")
                let error = await outcome
                #expect(error?.code == .connectionLost && error?.mayHaveTakenEffect == false)
            }

            try await listener.connect()
            async let rest = errorOf { try await listener.notifications(timeout: .seconds(3600)) }
            await listener.close()
            // Empty when the wait had begun, lost when it had not.
            #expect([nil, .connectionLost].contains(await rest?.code))
        }
    }
}
