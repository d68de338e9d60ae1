import type { DatabaseSync } from 'node:sqlite'
import { TroupeError } from '../../contracts/index.ts'

const version = 1

/**
 * A batch of events is one row: an insert costs the same for one event as for ten. The rows lie in the order
 * of their arrival, with an index by tree: commits of many trees then write few pages (clustering by tree, as
 * WITHOUT ROWID does, took more than twice as long).
 */
const tables = `
  CREATE TABLE trees (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    head INTEGER NOT NULL DEFAULT 0,
    epoch INTEGER NOT NULL DEFAULT 0,
    owner TEXT,
    agent TEXT NOT NULL DEFAULT '',
    title TEXT NOT NULL DEFAULT '',
    status TEXT NOT NULL DEFAULT 'running',
    created_at REAL,
    updated_at REAL
  ) STRICT;
  CREATE INDEX trees_by_creation ON trees (created_at);
  CREATE INDEX trees_by_owner ON trees (owner) WHERE owner IS NOT NULL;

  CREATE TABLE journal (
    tree INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    last INTEGER NOT NULL,
    events TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX journal_by_tree ON journal (tree, last);

  CREATE TABLE inbox (
    tree INTEGER NOT NULL,
    position INTEGER NOT NULL,
    client TEXT NOT NULL,
    message TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX inbox_by_position ON inbox (tree, position);
  CREATE UNIQUE INDEX inbox_by_client ON inbox (tree, client);

  CREATE TABLE owners (
    id TEXT PRIMARY KEY,
    instance TEXT NOT NULL,
    pid INTEGER NOT NULL,
    host TEXT NOT NULL,
    seen_at REAL NOT NULL
  ) STRICT;
`

/**
 * The page size counts only before the file has any page. Durable means durable on macOS too: hence fullfsync.
 * The limit gives back the space that one very large commit took in the log.
 */
const settings = `
  PRAGMA page_size = 8192;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA fullfsync = ON;
  PRAGMA checkpoint_fullfsync = ON;
  PRAGMA journal_size_limit = 67108864;
`

/** Brings the connection and, if it is new, the file into the form that this version works with. Can be repeated. */
export function prepareSchema(database: DatabaseSync): void {
  database.exec(settings)
  const mode = database.prepare('PRAGMA journal_mode').get()?.journal_mode
  if (mode !== 'wal') {
    throw new TroupeError('store_failed', `the database cannot keep a write-ahead log here: its mode is ${mode}`, {
      remedy: 'use a data folder on a local disk',
    })
  }
  if (storedVersion(database) === version) return
  database.exec('BEGIN IMMEDIATE')
  try {
    // Another process may have been faster.
    if (storedVersion(database) === 0) {
      refuseForeign(database)
      database.exec(`${tables} PRAGMA user_version = ${version}`)
    }
    database.exec('COMMIT')
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

function storedVersion(database: DatabaseSync): number {
  const stored = Number(database.prepare('PRAGMA user_version').get()?.user_version)
  if (stored >= 0 && stored <= version) return stored
  throw new TroupeError('store_invalid', `the database has schema version ${stored}; this version of Troupe knows ${version}`, {
    remedy: 'update Troupe, or use another data folder',
  })
}

function refuseForeign(database: DatabaseSync): void {
  const table = database.prepare('SELECT name FROM sqlite_schema LIMIT 1').get()
  if (table === undefined) return
  throw new TroupeError('store_invalid', `the database holds a table "${table.name}" of another program`, {
    remedy: 'use another data folder',
  })
}
