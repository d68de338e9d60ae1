import { statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { TreeEntry } from '../../contracts/index.ts'
import { decodeText } from '../shared/encoding.ts'

export interface StoredNames {
  /** The newest first. */
  readonly sessions: readonly StoredSessionName[]
  /** Of the last turns. */
  readonly models: readonly string[]
}
export interface StoredSessionName extends Pick<TreeEntry, 'agent' | 'title' | 'status' | 'openRequests' | 'workspace'> {
  readonly id: string
}

const newestSessions = `SELECT id, agent, title, status, open_requests, workspace FROM trees
  WHERE created_at IS NOT NULL ORDER BY created_at DESC LIMIT 2000`
const lastModels = 'SELECT DISTINCT model FROM (SELECT model FROM turn_usage ORDER BY ended_at DESC LIMIT 5000)'

/**
 * Names of the newest sessions in a data folder, for completion in shells. It is fast and writes nothing: no database is created,
 * updated to the current schema or checked.
 *
 * @throws Error of SQLite where there is no database, or one of another version.
 */
export async function storedNames(folder: string): Promise<StoredNames> {
  const { DatabaseSync } = await import('node:sqlite')
  const file = join(folder, 'troupe.db')
  const url = pathToFileURL(file)
  // Otherwise SQLite would create a write-ahead log and leave it there.
  if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) url.search = 'immutable=1'
  const database = new DatabaseSync(url, { readOnly: true })
  try {
    const sessions = database.prepare(newestSessions).all()
    const models = database.prepare(lastModels).all()
    return {
      sessions: sessions.map(({ id, agent, title, status, open_requests, workspace }) => ({
        id: decodeText(String(id)),
        agent: decodeText(String(agent)),
        title: decodeText(String(title)),
        status: status as TreeEntry['status'],
        openRequests: Number(open_requests),
        ...(workspace !== null && { workspace: decodeText(String(workspace)) }),
      })),
      models: models.map(({ model }) => decodeText(String(model))),
    }
  } finally {
    database.close()
  }
}
