import { createHash } from 'node:crypto'
import { type BlobId, type Store, type TreeId, TroupeError } from '../../contracts/index.ts'
import { encodeText } from '../shared/encoding.ts'
import type { Database, Row, Transaction } from './database.ts'
import { openSource, type SourceTree, type SqliteSource } from './sqlite-source.ts'
import { indexWords } from './turn-rows.ts'

export interface Copied {
  readonly sessions: number
  readonly events: number
  readonly blobs: number
}

interface Target {
  readonly database: Database
  readonly store: Store
}

const pageBytes = 2_000_000
/** Sessions that are copied together. */
const together = 4

/**
 * Copies everything of a data folder to a database, and compares every journal and blob afterwards.
 *
 * 1. Each tree is copied in one transaction. One that is there already has to be the same, so an interrupted copy can be repeated.
 * 2. The database has no other sessions.
 * 3. Nothing of the folder is changed. If a journal grows meanwhile, the comparison fails.
 */
export async function copyToDatabase(folder: string, target: Target, onTree: (done: number, all: number) => void): Promise<Copied> {
  const source = await openSource(folder)
  try {
    const trees = source.trees()
    await refuseOthers(target.database, trees)
    let [next, done, events, blobs] = [0, 0, 0, 0]
    const worker = async (): Promise<void> => {
      for (let tree = trees[next++]; tree; tree = trees[next++]) {
        await copyTree(source, tree, target)
        blobs += await copyBlobs(source, tree, target.store)
        await compareJournals(source, tree, target.store)
        events += tree.head
        done += 1
        onTree(done, trees.length)
      }
    }
    await Promise.all(Array.from({ length: together }, worker))
    await copyRest(source, target.database)
    return { sessions: trees.length, events, blobs }
  } finally {
    await source.close()
  }
}

async function refuseOthers(database: Database, trees: readonly SourceTree[]): Promise<void> {
  const known = new Set(trees.map(({ row }) => row.id))
  const [other] = (await database.read('SELECT id FROM troupe.trees')).filter(({ id }) => !known.has(id))
  if (other === undefined) return
  throw new TroupeError('config_invalid', 'The database has other sessions.', { remedy: 'Copy to an empty database.' })
}

const treeColumns = `id, head, epoch, inbox_head, agent, title, own_title, title_lower, status, open_requests, principal, external_key, labels,
  workspace, created_at, updated_at, cost, unpriced`

/** The row of the tree is locked first: a tree that exists was copied completely. */
async function copyTree(source: SqliteSource, tree: SourceTree, { database }: Target): Promise<void> {
  const { treeId, head, row } = tree
  const rows = source.rowsOf(tree)
  await database.transaction(async (transaction) => {
    const [added] = await transaction.query(
      `INSERT INTO troupe.trees (${treeColumns}) SELECT ${treeColumns}
         FROM json_populate_record(NULL::troupe.trees, $1) ON CONFLICT (id) DO NOTHING RETURNING key`,
      [JSON.stringify(row)],
    )
    if (added === undefined) return
    const insert = (into: Into, list: readonly Row[]): Promise<void> => insertRows(transaction, { ...into, key: added.key, rows: list })
    for (let after = 0; after < head; ) {
      const events = await source.store.journal.read(treeId, after, { bytes: pageBytes })
      const page = events.map((event) => ({ seq: event.seq, event: JSON.stringify(event) }))
      await insert(intoJournal, page)
      after = events.at(-1)?.seq ?? head
    }
    await insert(intoInbox, rows.inbox)
    const texts = rows.texts.map((each) => ({ ...each, words: indexWords(String(each.text)) }))
    await insert(intoTexts, texts)
    await insertTurns(transaction, rows.usage)
  })
}

interface Into {
  readonly columns: string
  readonly values: string
  /** The columns of the rows. */
  readonly given: string
}
const intoJournal: Into = { columns: 'journal (tree, seq, event)', values: 'seq, event', given: 'seq bigint, event text' }
const intoInbox: Into = {
  columns: 'inbox (tree, position, client, message)',
  values: 'position, client, message',
  given: 'position bigint, client text, message text',
}
const intoTexts: Into = {
  columns: 'search_texts (tree, kind, at, text, words)',
  values: 'kind, at, text, array_to_tsvector(words)',
  given: 'i bigint, kind text, at float8, text text, words text[]',
}

interface Insert extends Into {
  readonly key: unknown
  readonly rows: readonly Row[]
}

async function insertRows(transaction: Transaction, { columns, values, given, key, rows }: Insert): Promise<void> {
  if (rows.length === 0) return
  const from = `json_to_recordset($2) AS given (${given})`
  await transaction.query(`INSERT INTO troupe.${columns} SELECT $1::bigint, ${values} FROM ${from}`, [key, JSON.stringify(rows)])
}

async function insertTurns(transaction: Transaction, rows: readonly Row[]): Promise<void> {
  await transaction.query('INSERT INTO troupe.turn_usage SELECT * FROM json_populate_recordset(NULL::troupe.turn_usage, $1)', [
    JSON.stringify(rows),
  ])
}

/** What belongs to no tree. It replaces what an interrupted copy has left. */
async function copyRest(source: SqliteSource, database: Database): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction.query('DELETE FROM troupe.turn_usage WHERE NOT EXISTS (SELECT FROM troupe.trees WHERE trees.id = turn_usage.tree)')
    await insertTurns(transaction, source.deletedTurns())
    await transaction.query(
      `INSERT INTO troupe.usage (owner, period, tokens, cost) SELECT * FROM json_to_recordset($1)
         AS given (owner text, period text, tokens numeric, cost numeric)
         ON CONFLICT (owner, period) DO UPDATE SET tokens = excluded.tokens, cost = excluded.cost`,
      [JSON.stringify(source.owners())],
    )
    await transaction.query(
      `INSERT INTO troupe.records SELECT * FROM json_populate_recordset(NULL::troupe.records, $1)
         ON CONFLICT (namespace, key) DO UPDATE SET due = excluded.due, json = excluded.json`,
      [JSON.stringify(source.records())],
    )
  })
}

/** Each is read from both stores, which compare it with its id: the hash of its content. */
async function copyBlobs(source: SqliteSource, { treeId }: SourceTree, target: Store): Promise<number> {
  const ids = await source.blobIds(treeId)
  for (const id of ids) {
    const copy = await copyBlob(source.store, treeId, { id, target })
    if (copy !== undefined && copy !== id) throw different(treeId, `the blob ${id} has another id`)
    if (copy !== undefined && !(await hasBlob(target, treeId, id))) throw different(treeId, `the blob ${id} is missing`)
  }
  return ids.length
}

interface BlobCopy {
  readonly id: BlobId
  readonly target: Store
}

async function copyBlob({ blobs }: Store, treeId: TreeId, { id, target }: BlobCopy): Promise<BlobId | undefined> {
  const text = await blobs.get(treeId, id)
  if (text !== undefined) return target.blobs.put(treeId, text)
  const found = await blobs.getBytes(treeId, id)
  return found && target.blobs.putBytes(treeId, found.bytes, found.mediaType)
}

const hasBlob = async ({ blobs }: Store, treeId: TreeId, id: BlobId): Promise<boolean> =>
  (await blobs.get(treeId, id)) !== undefined || (await blobs.getBytes(treeId, id)) !== undefined

async function compareJournals(source: SqliteSource, { treeId, head }: SourceTree, target: Store): Promise<void> {
  const [from, to] = [await digestOf(source.store, treeId), await digestOf(target, treeId)]
  if (from.head !== head || to.head !== head) throw different(treeId, `${from.head} events in the source, ${to.head} in the copy`)
  if (from.hash !== to.hash) throw different(treeId, 'its events are not the same')
}

async function digestOf({ journal }: Store, treeId: TreeId): Promise<{ readonly head: number; readonly hash: string }> {
  const hash = createHash('sha256')
  let head = 0
  for (;;) {
    const events = await journal.read(treeId, head, { bytes: pageBytes })
    if (events.length === 0) return { head, hash: hash.digest('hex') }
    for (const event of events) hash.update(`${JSON.stringify(event)}\n`)
    head += events.length
  }
}

const different = (treeId: TreeId, message: string): TroupeError =>
  new TroupeError('store_invalid', 'The copy differs from the source.', {
    problems: [{ place: encodeText(treeId), message }],
    remedy: 'Stop every process of Troupe that uses the source, then copy to an empty database.',
  })
