import type { Store } from '../../contracts/index.ts'
import { AppendQueue } from './append-queue.ts'
import { ChangeWatch } from './change-watch.ts'
import { type Copied, copyToDatabase } from './copy-store.ts'
import { Database } from './database.ts'
import { Listener } from './listener.ts'
import { NodeLease } from './node-lease.ts'
import { Notifier } from './notifier.ts'
import { postgresBlobs } from './postgres-blobs.ts'
import { postgresInbox } from './postgres-inbox.ts'
import { postgresJournal, type StoreParts } from './postgres-journal.ts'
import { type PostgresSettings, type PostgresStoreOptions, settingsOf } from './postgres-options.ts'
import { postgresRecords, postgresSnapshots, postgresUsages } from './postgres-records.ts'
import { postgresTrees } from './postgres-trees.ts'
import { postgresTurns } from './postgres-turns.ts'
import { type Migration, migrate, requireSchema } from './schema.ts'
import { storeCheck } from './store-check.ts'

/**
 * A durable store in a PostgreSQL database, for any number of processes on any number of machines. It creates its tables in an empty
 * database.
 *
 * ```ts
 * const store = await postgresStore({ url: 'postgres://troupe@db.example.com/troupe?sslmode=verify-full' })
 * ```
 *
 * Throws `config_invalid` for options that are wrong, `store_invalid` for a database that this version cannot read, `store_failed`
 * for one that cannot be used.
 */
export async function postgresStore(options: PostgresStoreOptions): Promise<Store> {
  const settings = settingsOf(options)
  const database = databaseOf(settings)
  try {
    await database.reach()
    return storeOf(database, settings, await requireSchema(database))
  } catch (error) {
    await database.close()
    throw error
  }
}

/** Creates or upgrades the tables of a database. */
export async function migratePostgres(options: PostgresStoreOptions): Promise<Migration> {
  const database = databaseOf(settingsOf(options))
  try {
    await database.reach()
    return await migrate(database)
  } finally {
    await database.close()
  }
}

/** Copies a data folder to a database, and compares the two. `onTree`: how many sessions have been copied, of how many. */
export async function copyFromSqlite(
  folder: string,
  options: PostgresStoreOptions,
  onTree: (done: number, all: number) => void = () => {},
): Promise<Copied> {
  const store = await postgresStore(options)
  const database = databaseOf(settingsOf(options))
  try {
    return await copyToDatabase(folder, { database, store }, onTree)
  } finally {
    await database.close()
    await store.close()
  }
}

function databaseOf({ connection, pool, timing: { leaseMs } }: PostgresSettings): Database {
  return new Database({ connection, pool, retryMs: leaseMs, attemptMs: Math.max(1, Math.round(leaseMs / 2)) })
}

function storeOf(database: Database, settings: PostgresSettings, position: string): Store {
  const { timing } = settings
  const lease = new NodeLease(database, settings)
  const notifier = new Notifier(database, { from: lease.instance, delayMs: timing.notifyMs })
  const listener = new Listener(settings.listen, lease.instance)
  const changes = new ChangeWatch({ database, listener, notifier, timing, position })
  const queue = new AppendQueue(database, ({ batch }, row) => changes.appended(batch.treeId, Number(row.head), row))
  const parts: StoreParts = { database, queue, lease, changes, notifier }
  let closing: Promise<void> | undefined
  return {
    journal: postgresJournal(parts),
    inbox: postgresInbox(parts),
    blobs: postgresBlobs(database),
    trees: postgresTrees(parts),
    records: postgresRecords(database),
    usages: postgresUsages(database),
    turns: postgresTurns(parts),
    snapshots: postgresSnapshots(database),
    check: storeCheck(database, queue),
    // The server itself frees the space of rows.
    async vacuum() {
      await database.write("DELETE FROM troupe.deletions WHERE at < clock_timestamp() - interval '1 hour'")
    },
    close() {
      closing ??= close(parts, listener)
      return closing
    },
  }
}

async function close({ database, queue, lease, changes, notifier }: StoreParts, listener: Listener): Promise<void> {
  await queue.stop()
  await changes.close()
  await lease.close()
  await notifier.flush()
  listener.close()
  await database.close()
}
