import { inject, onTestFinished } from 'vitest'
import type { Store } from '../../src/contracts/index.ts'
import { type PostgresStoreOptions, postgresStore } from '../../src/stores/postgres/index.ts'
import { createDatabase } from './server.ts'
import { type TcpProxy, tcpProxy } from './tcp-proxy.ts'

/** A database for one test, and stores in it that are closed with the test. */
export interface TestDatabase {
  readonly url: string
  open(options?: Partial<PostgresStoreOptions>): Promise<Store>
  proxy(): Promise<TcpProxy>
}

export async function testDatabase(server = inject('postgresServer')): Promise<TestDatabase> {
  const database = await createDatabase(server)
  const open: Store[] = []
  const proxies: TcpProxy[] = []
  onTestFinished(async () => {
    for (const proxy of proxies) proxy.heal()
    for (const store of open) await store.close()
    for (const proxy of proxies) await proxy.close()
    await database.drop()
  })
  return {
    url: database.url,
    async open(options = {}) {
      const store = await postgresStore({ url: database.url, ...options })
      open.push(store)
      return store
    },
    async proxy() {
      const proxy = await tcpProxy(database.url)
      proxies.push(proxy)
      return proxy
    },
  }
}
