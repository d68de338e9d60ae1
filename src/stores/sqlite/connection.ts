import { join } from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { closedError } from '../shared/store-errors.ts'
import { changeTable } from './change-table.ts'
import { createFile, createFolder, isWritable, privateCopy } from './database-file.ts'
import { deletionTable } from './deletion-table.ts'
import { driverTable } from './driver-table.ts'
import { inboxTable } from './inbox-table.ts'
import { JournalTable } from './journal-table.ts'
import { type LockHolder, lockHolder } from './lock-holder.ts'
import { recordTable } from './record-table.ts'
import { inTransaction, prepareSchema } from './schema.ts'
import { searchIndex } from './search-index.ts'
import { searchTable } from './search-table.ts'
import { snapshotTable } from './snapshot-table.ts'
import { isBusy, storeError } from './sqlite-errors.ts'
import type { SqliteSettings } from './sqlite-options.ts'
import { StoreFiles } from './store-files.ts'
import { treeTable } from './tree-table.ts'
import { turnTable } from './turn-table.ts'
import { usageTable } from './usage-table.ts'

export type Tables = ReturnType<typeof openTables>

const openTables = (database: DatabaseSync, file: string, settings: SqliteSettings) => {
  const trees = treeTable(database)
  const records = recordTable(database)
  const index = searchIndex(database, records)
  return {
    trees,
    journal: new JournalTable(database, file),
    inbox: inboxTable(database),
    drivers: driverTable(database, settings),
    deletions: deletionTable(database),
    snapshots: snapshotTable(database),
    records,
    turns: turnTable(database),
    usage: usageTable(database),
    index,
    search: searchTable(database, { trees, index }),
    changes: changeTable(database, trees, settings.surroundings.now),
  }
}

type State =
  /** The file exists, but was busy. */
  | { readonly kind: 'opening'; readonly database: DatabaseSync }
  | { readonly kind: 'open'; readonly database: DatabaseSync; readonly tables: Tables; readonly dataVersion: StatementSync }
  | { readonly kind: 'closed' }

/**
 * The one connection of a store.
 *
 * 1. The constructor throws for a file that cannot be used. A busy file is prepared by the next operation, under the same
 *    asynchronous retry as everything else.
 * 2. A transaction begins and ends within one synchronous call, so that reads never see half of one.
 * 3. Nothing is committed to a file that was deleted or replaced.
 */
export class Connection {
  readonly #settings: SqliteSettings
  readonly file: string
  /** Whether what is written now is found again by another process. */
  readonly files = new StoreFiles()
  /** The copy of a database that is not writable. */
  readonly #copy: ReturnType<typeof privateCopy> | undefined
  #state: State

  constructor(settings: SqliteSettings) {
    this.#settings = settings
    this.file = join(settings.path, 'troupe.db')
    const { copy, database } = openFile(this.file, settings)
    this.#copy = copy
    this.files.remember(this.#used, join(settings.path, 'blobs'))
    this.#state = { kind: 'opening', database }
    try {
      this.#prepare()
    } catch (error) {
      if (isBusy(error)) return
      this.close()
      throw storeError(error, `open the data folder ${settings.path}`)
    }
  }

  get #used(): string {
    return this.#copy?.file ?? this.file
  }

  /** For reads outside of a transaction. */
  get tables(): Tables {
    return this.#prepare().tables
  }

  transaction<Result>(work: (tables: Tables) => Result): Result {
    const { database, tables } = this.#prepare()
    return inTransaction(database, tables, (given) => {
      const result = work(given)
      this.files.requirePresent()
      return result
    })
  }

  /** The process that holds the lock, if that can be found out. */
  lockHolder(): LockHolder | undefined {
    const state = this.#state
    return lockHolder(this.file, () => (state.kind === 'open' ? state.tables.drivers.silent() : []))
  }

  /** Moves free pages to the end of the file; the checkpoint truncates it. A file of version 1 is rewritten once. */
  vacuum(): void {
    const { database } = this.#prepare()
    const isIncremental = database.prepare('PRAGMA auto_vacuum').get()?.auto_vacuum === 2
    database.exec(isIncremental ? 'PRAGMA incremental_vacuum' : 'PRAGMA auto_vacuum = INCREMENTAL; VACUUM')
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  }

  /** Changes when another connection, of any process, has committed something. */
  dataVersion(): number {
    return Number(this.#prepare().dataVersion.get()?.data_version)
  }

  close(): void {
    const state = this.#state
    this.#state = { kind: 'closed' }
    if (state.kind !== 'closed') state.database.close()
    this.#copy?.remove()
  }

  #prepare(): Extract<State, { readonly kind: 'open' }> {
    const state = this.#state
    if (state.kind === 'open') return state
    if (state.kind === 'closed') throw closedError()
    const { database } = state
    prepareSchema(database)
    if (this.#settings.access === 'read') database.exec('PRAGMA query_only = ON')
    const tables = openTables(database, this.file, this.#settings)
    this.files.remember(`${this.#used}-wal`, `${this.#used}-shm`)
    const open = { kind: 'open', database, tables, dataVersion: database.prepare('PRAGMA data_version') } as const
    this.#state = open
    return open
  }
}

interface Opened {
  readonly database: DatabaseSync
  readonly copy: ReturnType<typeof privateCopy> | undefined
}

function openFile(file: string, { path, access, surroundings }: SqliteSettings): Opened {
  try {
    if (access === 'read' && !isWritable(file)) {
      const copy = privateCopy(file)
      return { database: surroundings.openDatabase(copy.file), copy }
    }
    createFolder(join(path, 'blobs'))
    createFile(file)
    return { database: surroundings.openDatabase(file), copy: undefined }
  } catch (error) {
    throw storeError(error, `open the data folder ${path}`)
  }
}
