import { afterAll, beforeAll, describe, inject, it } from 'vitest'
import type { Store } from '../../src/contracts/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { storeContract } from '../../src/testing/index.ts'
import { createDatabase, run } from './server.ts'

let database: Awaited<ReturnType<typeof createDatabase>>

beforeAll(async () => {
  database = await createDatabase(inject('postgresServer'))
  await (await postgresStore({ url: database.url })).close()
})
afterAll(() => database.drop())

const allTables =
  "SELECT string_agg('troupe.' || tablename, ', ') AS names FROM pg_tables WHERE schemaname = 'troupe' AND tablename <> 'meta'"

async function open(): ReturnType<Parameters<typeof storeContract>[0]> {
  const stores: Store[] = []
  const another = async (): Promise<Store> => {
    const store = await postgresStore({ url: database.url, timing: { pollMs: 50, notifyMs: 5 } })
    stores.push(store)
    return store
  }
  return {
    store: await another(),
    another,
    async dispose() {
      for (const store of stores) await store.close()
      const [tables] = await run(database.url, allTables)
      await run(database.url, `TRUNCATE ${tables?.names}`)
    },
  }
}

describe('the contract of stores', () => {
  for (const { name, run } of storeContract(open)) it(name, run)
})
