import { TroupeError } from '../../contracts/index.ts'
import type { Database, Transaction } from './database.ts'

// Text has the collation "C": it is sorted by code points. `events`, messages, records and states are JSON as text: `jsonb` refuses NUL
// and changes the order of keys. Other texts are encoded by `encodeText`.

/**
 * In `trees`, `owner` is the driver, `instance` the store that claimed the tree, and `principal` the owner. `cost` is in nano-dollars.
 * `changed` is the transaction that changed the row last: lists find what is new by it. There is room in each page for new versions of
 * its rows, and no index has a column that appends change: PostgreSQL then writes no index.
 *
 * `usage` has nano-dollars, too. `holds`, `slots` and `leases` belong to processes that share budgets, queues and duties.
 */
const version1 = `
  CREATE TABLE troupe.trees (
    key bigserial PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    head bigint NOT NULL DEFAULT 0,
    epoch bigint NOT NULL DEFAULT 0,
    owner text COLLATE "C",
    instance text COLLATE "C",
    inbox_head bigint NOT NULL DEFAULT 0,
    place text COLLATE "C",
    agent text COLLATE "C" NOT NULL DEFAULT '',
    title text COLLATE "C" NOT NULL DEFAULT '',
    own_title boolean NOT NULL DEFAULT false,
    title_lower text COLLATE "C" NOT NULL DEFAULT '',
    status text COLLATE "C" NOT NULL DEFAULT 'running',
    open_requests integer NOT NULL DEFAULT 0,
    principal text COLLATE "C",
    external_key text COLLATE "C" UNIQUE,
    labels text[] COLLATE "C",
    workspace text COLLATE "C",
    created_at float8 UNIQUE,
    updated_at float8,
    cost bigint,
    unpriced bigint NOT NULL DEFAULT 0,
    changed xid8 NOT NULL DEFAULT pg_current_xact_id()
  ) WITH (fillfactor = 70);
  CREATE INDEX trees_by_principal ON troupe.trees (principal, created_at) WHERE principal IS NOT NULL;
  CREATE INDEX trees_by_instance ON troupe.trees (instance) WHERE instance IS NOT NULL;

  CREATE TABLE troupe.deletions (
    id text COLLATE "C" NOT NULL,
    changed xid8 NOT NULL DEFAULT pg_current_xact_id(),
    at timestamptz NOT NULL DEFAULT clock_timestamp()
  );

  CREATE TABLE troupe.journal (
    tree bigint,
    seq bigint,
    event text COLLATE "C" NOT NULL,
    PRIMARY KEY (tree, seq)
  );

  CREATE TABLE troupe.inbox (
    tree bigint,
    position bigint,
    client text COLLATE "C" NOT NULL,
    message text COLLATE "C" NOT NULL,
    PRIMARY KEY (tree, position),
    UNIQUE (tree, client)
  );

  CREATE TABLE troupe.blobs (
    tree text COLLATE "C",
    id text COLLATE "C",
    content bytea NOT NULL,
    PRIMARY KEY (tree, id)
  );

  CREATE TABLE troupe.snapshots (
    tree bigint PRIMARY KEY,
    seq bigint NOT NULL,
    version text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL
  );

  CREATE TABLE troupe.records (
    namespace text COLLATE "C",
    key text COLLATE "C",
    due float8,
    json text COLLATE "C" NOT NULL,
    PRIMARY KEY (namespace, key)
  );
  CREATE INDEX records_by_due ON troupe.records (namespace, due) WHERE due IS NOT NULL;

  CREATE TABLE troupe.usage (
    owner text COLLATE "C",
    period text COLLATE "C",
    tokens numeric NOT NULL,
    cost numeric NOT NULL,
    held_tokens numeric NOT NULL DEFAULT 0,
    held_cost numeric NOT NULL DEFAULT 0,
    PRIMARY KEY (owner, period)
  );

  CREATE TABLE troupe.holds (
    tree bigint,
    step text COLLATE "C",
    owner text COLLATE "C" NOT NULL,
    period text COLLATE "C" NOT NULL,
    tokens numeric NOT NULL,
    cost numeric NOT NULL,
    PRIMARY KEY (tree, step)
  );

  CREATE TABLE troupe.nodes (
    instance text COLLATE "C" PRIMARY KEY,
    node text COLLATE "C" NOT NULL,
    project text COLLATE "C",
    catalogue text COLLATE "C",
    host text COLLATE "C" NOT NULL,
    processes text COLLATE "C" NOT NULL,
    pid integer NOT NULL,
    lease_until timestamptz NOT NULL
  );

  CREATE TABLE troupe.slots (
    queue text COLLATE "C",
    n integer,
    instance text COLLATE "C",
    PRIMARY KEY (queue, n)
  );

  CREATE TABLE troupe.leases (
    name text COLLATE "C" PRIMARY KEY,
    holder text COLLATE "C" NOT NULL,
    token text COLLATE "C" NOT NULL,
    until timestamptz NOT NULL
  );

  CREATE TABLE troupe.turn_usage (
    tree text COLLATE "C" NOT NULL,
    owner text COLLATE "C",
    agent text COLLATE "C" NOT NULL,
    is_child boolean NOT NULL,
    status text COLLATE "C" NOT NULL,
    ended_at float8 NOT NULL,
    work_ms bigint NOT NULL,
    place integer NOT NULL,
    model text COLLATE "C" NOT NULL,
    requests bigint NOT NULL,
    failed bigint NOT NULL,
    input bigint NOT NULL,
    output bigint NOT NULL,
    cache_read bigint NOT NULL,
    cache_write bigint NOT NULL,
    reasoning bigint NOT NULL,
    estimated boolean NOT NULL,
    cost bigint NOT NULL,
    unpriced bigint NOT NULL,
    latency_ms bigint NOT NULL
  );
  CREATE INDEX turn_usage_by_tree ON troupe.turn_usage (tree);
  CREATE INDEX turn_usage_by_end ON troupe.turn_usage (ended_at);
  CREATE INDEX turn_usage_by_owner ON troupe.turn_usage (owner, ended_at) WHERE owner IS NOT NULL;

  CREATE TABLE troupe.search_texts (
    id bigserial PRIMARY KEY,
    tree bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    at float8 NOT NULL,
    text text COLLATE "C" NOT NULL,
    words tsvector NOT NULL
  );
  CREATE INDEX search_texts_by_tree ON troupe.search_texts (tree);
  CREATE INDEX search_texts_by_word ON troupe.search_texts USING gin (words);

  CREATE TABLE troupe.meta (version integer NOT NULL);
  INSERT INTO troupe.meta VALUES (0);
`

/** One for each version. An upgrade runs those that are missing. */
const migrations: readonly string[] = [version1]
const version = migrations.length
/** The oldest PostgreSQL that is still maintained and tested. */
const oldestServer = 14

/** Creates the tables in an empty database. Other versions are refused. Returns where watchers of lists begin. */
export async function requireSchema(database: Database): Promise<string> {
  const stored = await database.transaction(storedSchema)
  if (stored.version === 'none') {
    await migrate(database)
    return stored.position
  }
  if (stored.version < version)
    throw new TroupeError('store_invalid', `the database has schema version ${stored.version}; this version of Troupe needs ${version}`, {
      remedy: 'stop all processes of Troupe that use it, then run `troupe store migrate`',
    })
  return stored.position
}

export interface Migration {
  readonly from: number
  readonly to: number
}

/** Creates or upgrades the tables, in one transaction. */
export function migrate(database: Database): Promise<Migration> {
  return database.transaction(async (transaction) => {
    // Two processes may start with an empty database.
    await transaction.query("SELECT pg_advisory_xact_lock(hashtextextended('troupe schema', 0))")
    const { version: stored } = await storedSchema(transaction)
    const from = stored === 'none' ? 0 : stored
    if (stored === 'none') await transaction.query('CREATE SCHEMA IF NOT EXISTS troupe')
    for (const migration of migrations.slice(from)) await transaction.query(migration)
    if (from !== version) await transaction.query('UPDATE troupe.meta SET version = $1', [version])
    return { from, to: version }
  })
}

interface StoredSchema {
  /** `none`: there are no tables. */
  readonly version: number | 'none'
  /** The transactions before this one have ended. */
  readonly position: string
}

async function storedSchema(transaction: Transaction): Promise<StoredSchema> {
  // `to_regclass` would not see what another process has created since this connection looked for it.
  const [server] = await transaction.query(
    `SELECT current_setting('server_version_num')::int AS server, current_setting('server_encoding') AS encoding,
       EXISTS (SELECT FROM pg_tables WHERE schemaname = 'troupe' AND tablename = 'meta') AS exists, pg_snapshot_xmin(pg_current_snapshot())::text AS position`,
  )
  checkServer(Number(server?.server), String(server?.encoding))
  const position = String(server?.position)
  if (server?.exists !== true) return { version: 'none', position }
  const [meta] = await transaction.query('SELECT version FROM troupe.meta')
  const stored = Number(meta?.version)
  if (stored >= 0 && stored <= version) return { version: stored, position }
  throw new TroupeError('store_invalid', `the database has schema version ${stored}; this version of Troupe knows ${version}`, {
    remedy: 'update Troupe, or use another database',
  })
}

function checkServer(server: number, encoding: string): void {
  if (server < oldestServer * 10_000)
    throw new TroupeError(
      'store_invalid',
      `the server is PostgreSQL ${Math.floor(server / 10_000)}; Troupe needs ${oldestServer} or later`,
      {
        remedy: 'upgrade the server, or use another one',
      },
    )
  if (encoding !== 'UTF8')
    throw new TroupeError('store_invalid', `the database has the encoding ${encoding}; Troupe needs UTF8`, {
      remedy: 'create one with: createdb --encoding=UTF8 --template=template0 NAME',
    })
}
