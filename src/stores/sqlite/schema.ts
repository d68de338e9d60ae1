import type { DatabaseSync } from 'node:sqlite'
import { type InteractionEvent, OpenRequests, TroupeError } from '../../contracts/index.ts'

const version = 3

/**
 * A batch of events is one row: an insert costs the same for one event as for ten. Rows are stored in the order of arrival,
 * with an index by tree, so that commits of many trees write few pages. Clustering by tree (WITHOUT ROWID) took twice as long.
 */
const version1 = `
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
 * Additions only: a running process of the version before can finish. In `trees`, `owner` is the driver of a tree, `principal`
 * the owner, `key` the row, and `external_key` the key of another system. `owners` are drivers, too. Rows of version 1 have no
 * checksum. `snapshots` is a cache: a row that does not fit is ignored.
 */
const version2 = `
  ALTER TABLE trees ADD COLUMN principal TEXT;
  ALTER TABLE trees ADD COLUMN external_key TEXT;
  ALTER TABLE trees ADD COLUMN labels TEXT;
  ALTER TABLE trees ADD COLUMN workspace TEXT;
  ALTER TABLE trees ADD COLUMN open_requests INTEGER NOT NULL DEFAULT 0;
  CREATE UNIQUE INDEX trees_by_external_key ON trees (external_key) WHERE external_key IS NOT NULL;

  ALTER TABLE journal ADD COLUMN checksum INTEGER;

  CREATE TABLE snapshots (
    tree INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    version TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    state TEXT NOT NULL
  ) STRICT;

  CREATE TABLE records (
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    due REAL,
    json TEXT NOT NULL,
    PRIMARY KEY (namespace, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX records_by_due ON records (namespace, due) WHERE due IS NOT NULL;
`

/**
 * Records of ended turns, written with their events. Additions only, and no journal is read.
 *
 * In `trees`, `indexed` is the head up to which all turns have records: it stays behind when a program of version 2 appends. `cost` is
 * in nano-dollars. `turn_usage` has a row for each model of a turn, the first one with the place 0; it outlives its tree. The
 * full-text table is created with the first text that it gets. The triggers also serve deletions by programs of version 2.
 */
const version3 = `
  ALTER TABLE trees ADD COLUMN indexed INTEGER;
  ALTER TABLE trees ADD COLUMN cost INTEGER;
  ALTER TABLE trees ADD COLUMN unpriced INTEGER NOT NULL DEFAULT 0;

  CREATE TABLE turn_usage (
    tree TEXT NOT NULL,
    owner TEXT,
    agent TEXT NOT NULL,
    is_child INTEGER NOT NULL,
    status TEXT NOT NULL,
    ended_at REAL NOT NULL,
    work_ms INTEGER NOT NULL,
    place INTEGER NOT NULL,
    model TEXT NOT NULL,
    requests INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    reasoning INTEGER NOT NULL,
    estimated INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    unpriced INTEGER NOT NULL,
    latency_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX turn_usage_by_tree ON turn_usage (tree);
  CREATE INDEX turn_usage_by_end ON turn_usage (ended_at);
  CREATE INDEX turn_usage_by_owner ON turn_usage (owner, ended_at) WHERE owner IS NOT NULL;

  CREATE TABLE search_texts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tree INTEGER NOT NULL,
    kind TEXT NOT NULL,
    at REAL NOT NULL,
    text TEXT NOT NULL
  ) STRICT;
  CREATE INDEX search_texts_by_tree ON search_texts (tree);
  CREATE TABLE search_removed (id INTEGER PRIMARY KEY) STRICT;
  CREATE TRIGGER texts_of_deleted_tree AFTER DELETE ON trees BEGIN
    DELETE FROM search_texts WHERE tree = old.key;
  END;
  CREATE TRIGGER removed_text AFTER DELETE ON search_texts BEGIN
    INSERT OR IGNORE INTO search_removed VALUES (old.id);
  END;
`

/** For lists of one owner. An index needs no new version: programs that do not know it still maintain it. */
const ownerIndex = 'CREATE INDEX IF NOT EXISTS trees_by_principal ON trees (principal, created_at) WHERE principal IS NOT NULL'

/** Fills a column of version 2 from journals of version 1. */
const indexWorkspaces = `
  UPDATE trees SET workspace = (
    SELECT CASE WHEN json_valid(events) THEN json_extract(events, '$[0].origin.workspace') END
    FROM journal WHERE tree = trees.key ORDER BY last LIMIT 1
  )
`

/**
 * Page size and vacuum mode take effect only before the file has a page. macOS needs fullfsync for durability. The limit frees
 * the space that a very large commit took in the log.
 */
const settings = `
  PRAGMA page_size = 8192;
  PRAGMA auto_vacuum = INCREMENTAL;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA fullfsync = ON;
  PRAGMA checkpoint_fullfsync = ON;
  PRAGMA journal_size_limit = 67108864;
`

/** Configures the connection; creates or migrates the tables. Can be repeated. */
export function prepareSchema(database: DatabaseSync): void {
  database.exec(settings)
  const mode = database.prepare('PRAGMA journal_mode').get()?.journal_mode
  if (mode !== 'wal') {
    throw new TroupeError('store_failed', `the database cannot keep a write-ahead log here: its mode is ${mode}`, {
      remedy: 'use a data folder on a local disk',
    })
  }
  // Another process may have migrated it meanwhile.
  if (storedVersion(database) !== version) inTransaction(database, database, (opened) => migrate(opened, storedVersion(opened)))
  database.exec(ownerIndex)
}

/** One write transaction: all of it is durable when this returns; nothing is stored when it throws. */
export function inTransaction<Given, Result>(database: DatabaseSync, given: Given, work: (given: Given) => Result): Result {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work(given)
    database.exec('COMMIT')
    return result
  } catch (error) {
    // Some failures end the transaction.
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

function migrate(database: DatabaseSync, from: number): void {
  if (from === version) return
  if (from === 0) {
    refuseForeign(database)
    database.exec(version1)
  }
  if (from < 2) database.exec(version2)
  database.exec(version3)
  if (from === 1) {
    database.exec(indexWorkspaces)
    indexOpenRequests(database)
  }
  database.exec(`PRAGMA user_version = ${version}`)
}

function indexOpenRequests(database: DatabaseSync): void {
  const rows = database.prepare('SELECT events FROM journal WHERE tree = ? ORDER BY last')
  const update = database.prepare('UPDATE trees SET open_requests = ? WHERE key = ?')
  for (const { key } of database.prepare("SELECT key FROM trees WHERE status IN ('running', 'suspended')").all()) {
    const requests = new OpenRequests()
    for (const { events } of rows.iterate(Number(key))) for (const event of parsed(String(events))) requests.note(event)
    update.run(requests.size, Number(key))
  }
}

/** A damaged row is reported when it is read. It does not make the other journals unusable. */
function parsed(text: string): readonly InteractionEvent[] {
  try {
    return JSON.parse(text) as readonly InteractionEvent[]
  } catch {
    return []
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
