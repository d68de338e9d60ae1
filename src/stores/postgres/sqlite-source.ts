import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type BlobId, type Store, type TreeId, TroupeError } from '../../contracts/index.ts'
import { decodeText, encodeText } from '../shared/encoding.ts'
import { sqliteStore } from '../sqlite/index.ts'
import type { Row } from './database.ts'
import { lowerTitle } from './tree-rows.ts'

/** A row of `trees`, as the target stores it. */
export interface SourceTree {
  readonly treeId: TreeId
  readonly key: number
  readonly head: number
  readonly row: Row
}

/** What is copied from a data folder, in rows of the target. */
export interface SqliteSource {
  readonly store: Store
  /** Also those that have messages and no events. The oldest first. */
  trees(): readonly SourceTree[]
  rowsOf(tree: SourceTree): { readonly inbox: readonly Row[]; readonly texts: readonly Row[]; readonly usage: readonly Row[] }
  blobIds(treeId: TreeId): Promise<readonly BlobId[]>
  records(): readonly Row[]
  /** What owners have used, and turns of deleted trees. */
  owners(): readonly Row[]
  deletedTurns(): readonly Row[]
  close(): Promise<void>
}

/** Of the store itself. The target has columns for them, or needs none. */
const ownNamespaces = "('usage', 'tree-title', 'tree-change', 'search-index', 'deleted-blobs', 'store-check')"

const trees = `
  SELECT key, id, head, epoch, agent, title, status, open_requests, principal, external_key, labels, workspace, created_at, updated_at,
    cost, unpriced, (SELECT coalesce(max(position), 0) FROM inbox WHERE tree = trees.key) AS inbox_head,
    EXISTS (SELECT 1 FROM records WHERE namespace = 'tree-title' AND records.key = trees.id) AS own_title
  FROM trees ORDER BY coalesce(created_at, 0), key`

/** @throws TroupeError `config_invalid` where there is no database, `session_driven` while a process drives a session. */
export async function openSource(folder: string): Promise<SqliteSource> {
  const file = join(folder, 'troupe.db')
  if (!existsSync(file))
    throw new TroupeError('config_invalid', `There are no sessions in ${folder}.`, { remedy: 'Name the data folder: sqlite:DIR.' })
  const store = sqliteStore({ path: folder })
  const unindexed = await store.turns.unindexed()
  const database = new DatabaseSync(file, { readOnly: true })
  const all = (sql: string, ...values: readonly (string | number)[]): readonly Row[] => database.prepare(sql).all(...values)
  const source: SqliteSource = {
    store,
    trees: () => all(trees).map(treeOf),
    rowsOf: ({ key }) => ({
      inbox: all('SELECT position, client, message FROM inbox WHERE tree = ? ORDER BY position', key).map((each) => ({
        ...each,
        client: encoded(each.client),
      })),
      texts: all('SELECT id AS i, kind, at, text FROM search_texts WHERE tree = ? ORDER BY id', key),
      usage: all('SELECT * FROM turn_usage WHERE tree = (SELECT id FROM trees WHERE key = ?) ORDER BY rowid', key).map(turnOf),
    }),
    blobIds: (treeId) => blobIds(store, treeId),
    records: () => all(`SELECT namespace, key, due, json FROM records WHERE namespace NOT IN ${ownNamespaces}`),
    owners: () => all("SELECT key, json FROM records WHERE namespace = 'usage'").map(ownerOf),
    deletedTurns: () => all('SELECT * FROM turn_usage WHERE tree NOT IN (SELECT id FROM trees) ORDER BY rowid').map(turnOf),
    async close() {
      database.close()
      await store.close()
    },
  }
  try {
    await refuseDriven(source)
    if (unindexed > 0)
      throw new TroupeError(
        'store_invalid',
        `An older version has stored turns of ${unindexed} sessions without records for search and usage.`,
        {
          remedy: 'Run `troupe store reindex` for the source first.',
        },
      )
    return source
  } catch (error) {
    await source.close()
    throw error
  }
}

async function refuseDriven({ store, trees }: SqliteSource): Promise<void> {
  const problems = []
  for (const { treeId } of trees()) {
    const driver = await store.trees.driver(treeId)
    if (driver !== undefined) problems.push({ place: treeId, message: `${driver} drives it` })
  }
  if (problems.length === 0) return
  throw new TroupeError('session_driven', 'Sessions of the source are running.', {
    problems,
    remedy: 'Stop every process of Troupe that uses the source, then try again.',
  })
}

/** The same text as the target stores it: SQLite keeps NUL in texts of earlier versions. */
const encoded = (text: unknown): unknown => (text === null ? null : encodeText(decodeText(String(text))))

function treeOf(row: Row): SourceTree {
  const title = decodeText(String(row.title))
  return {
    treeId: decodeText(String(row.id)) as TreeId,
    key: Number(row.key),
    head: Number(row.head),
    row: {
      ...row,
      id: encoded(row.id),
      agent: encoded(row.agent),
      title: encodeText(title),
      title_lower: lowerTitle(title),
      own_title: row.own_title === 1,
      principal: encoded(row.principal),
      external_key: encoded(row.external_key),
      labels: row.labels === null ? null : (JSON.parse(String(row.labels)) as readonly string[]).map(encodeText),
      workspace: encoded(row.workspace),
    },
  }
}

const turnOf = (row: Row): Row => ({
  ...row,
  tree: encoded(row.tree),
  owner: encoded(row.owner),
  agent: encoded(row.agent),
  model: encoded(row.model),
  is_child: row.is_child === 1,
  estimated: row.estimated === 1,
})

/** `2026-11-17/ann` */
function ownerOf({ key, json }: Row): Row {
  const [period = '', ...owner] = decodeText(String(key)).split('/')
  const { tokens, costUsd } = JSON.parse(String(json)) as { readonly tokens: number; readonly costUsd: number }
  return { owner: encodeText(owner.join('/')), period: encodeText(period), tokens, cost: Math.round(costUsd * 1e9) }
}

async function blobIds({ blobs }: Store, treeId: TreeId): Promise<readonly BlobId[]> {
  const folder = dirname(blobs.pathOf?.(treeId, 'none' as BlobId) ?? '')
  const names = existsSync(folder) ? await readdir(folder) : []
  return names.filter((name) => !name.endsWith('.tmp')) as BlobId[]
}
