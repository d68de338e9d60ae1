import type { TestProject } from 'vitest/node'
import { createPostgresServer, type PostgresServer, systemBinaries } from './server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Of the database `postgres`. `undefined` without a server. */
    readonly postgresServer: string | undefined
  }
}

let server: PostgresServer | undefined

/** For `npm run test:postgres`: the server of TROUPE_TEST_POSTGRES, or one of this system for the time of the tests. */
export async function setup(project: TestProject): Promise<void> {
  const given = process.env.TROUPE_TEST_POSTGRES
  if (given) {
    project.provide('postgresServer', given)
    return
  }
  const binaries = systemBinaries()
  if (binaries === undefined)
    throw new Error(
      'These tests need PostgreSQL: install a server, or set TROUPE_TEST_POSTGRES to the URL of one whose user may create databases.',
    )
  server = await createPostgresServer(binaries)
  project.provide('postgresServer', server.url)
}

export async function teardown(): Promise<void> {
  await server?.remove()
}
