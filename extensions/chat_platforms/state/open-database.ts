import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/**
 * What must outlive a crash. `synchronous = FULL`: a message that was posted is known after a power cut, too. `AUTOINCREMENT`: the button of a
 * request that was removed must not answer another one.
 */
const schema = `
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value TEXT NOT NULL, expires INTEGER) STRICT;
CREATE TABLE IF NOT EXISTS lists (key TEXT NOT NULL, place INTEGER PRIMARY KEY, value TEXT NOT NULL, expires INTEGER) STRICT;
CREATE INDEX IF NOT EXISTS lists_by_key ON lists (key, place);
CREATE TABLE IF NOT EXISTS posts (
  thread TEXT NOT NULL, id TEXT NOT NULL, part INTEGER NOT NULL, kind TEXT NOT NULL, turn TEXT NOT NULL,
  message TEXT, state TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (thread, id, part)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS posts_by_message ON posts (thread, message);
CREATE TABLE IF NOT EXISTS requests (
  key INTEGER PRIMARY KEY AUTOINCREMENT, thread TEXT NOT NULL, id TEXT NOT NULL, request TEXT NOT NULL, closed TEXT, at INTEGER NOT NULL,
  UNIQUE (thread, id)
) STRICT;
`

const monthMs = 30 * 24 * 60 * 60_000

/** Removes what nobody asks for any more. */
export function openDatabase(folder: string, now: number): DatabaseSync {
  const database = new DatabaseSync(join(folder, 'chat-platforms.sqlite'), { timeout: 5_000 })
  database.exec(schema)
  for (const table of ['entries', 'lists']) database.prepare(`DELETE FROM ${table} WHERE expires <= ?`).run(now)
  for (const table of ['posts', 'requests']) database.prepare(`DELETE FROM ${table} WHERE at <= ?`).run(now - monthMs)
  return database
}
