import {
  type Claim,
  type InteractionEvent,
  type Journal,
  JournalDamagedError,
  type ReadLimits,
  type TreeId,
  TroupeError,
} from '../../contracts/index.ts'
import { encodeText } from '../shared/encoding.ts'
import { checkBatch } from '../shared/store-errors.ts'
import type { AppendQueue } from './append-queue.ts'
import type { ChangeWatch } from './change-watch.ts'
import type { Database } from './database.ts'
import { type NodeLease, nodeColumns } from './node-lease.ts'
import type { Notifier } from './notifier.ts'

/** The parts of one store. */
export interface StoreParts {
  readonly database: Database
  readonly queue: AppendQueue
  readonly lease: NodeLease
  readonly changes: ChangeWatch
  readonly notifier: Notifier
}

/** PostgreSQL takes 1 GB for one value, in which each character may be escaped. */
const maxTextLength = 100_000_000
/** A read without a limit has several pages: each takes memory in the server and here. */
const pageEvents = { all: 2_000, limited: 200 } as const

export function postgresJournal({ database, queue, lease, changes }: StoreParts): Journal {
  return {
    async claim(treeId, driver) {
      const claim = await claimTree(treeId, encodeText(driver), { database, lease })
      if (claim.ok) lease.enter(treeId, claim.epoch)
      return claim
    },
    release: (treeId, epoch) => lease.release(treeId, epoch),
    async append(batch) {
      checkBatch(batch)
      const append = await queue.add({ batch, texts: batch.events.map((event) => textOf(batch.treeId, event)) })
      if (!append.ok && append.refusal === 'epoch') lease.remove(batch.treeId, batch.epoch)
      return append
    },
    read: (treeId, after, limit = {}) =>
      readEvents(database, { treeId, after, limit: typeof limit === 'number' ? { events: limit } : limit }),
    watch: (treeId, wake) => changes.watch('journal', treeId, wake),
  }
}

/**
 * Two statements: the second one sees what a concurrent claimer has committed while the first one waited for the row. As one statement
 * it would decide with the state before, and take the tree from a living driver.
 */
function claimTree(treeId: TreeId, driver: string, { database, lease }: Pick<StoreParts, 'database' | 'lease'>): Promise<Claim> {
  return database.transaction(async (transaction) => {
    const id = encodeText(treeId)
    await transaction.query('INSERT INTO troupe.trees (id) VALUES ($1) ON CONFLICT (id) DO NOTHING', [id])
    const [tree] = await transaction.query('SELECT key, owner, instance FROM troupe.trees WHERE id = $1 FOR UPDATE', [id])
    // Deleted between the two.
    if (tree === undefined) throw conflict()
    if (tree.owner !== null && tree.owner !== driver) {
      const [node] = await transaction.query(`SELECT ${nodeColumns} FROM troupe.nodes WHERE instance = $1`, [tree.instance])
      const other = node && lease.alive(node)
      if (other !== undefined) return { ok: false, driver: other }
    }
    await lease.register(transaction)
    const [claimed] = await transaction.query(
      'UPDATE troupe.trees SET owner = $2, instance = $3, epoch = epoch + 1 WHERE key = $1 RETURNING epoch, head',
      [tree.key, driver, lease.instance],
    )
    return { ok: true, epoch: Number(claimed?.epoch), seq: Number(claimed?.head) }
  })
}

/** The transaction is repeated. */
export const conflict = (): Error => Object.assign(new Error('the row was deleted meanwhile'), { code: '40001' })

interface Read {
  readonly treeId: TreeId
  readonly after: number
  readonly limit: ReadLimits
}

/** A journal that ends before the head of its tree is damaged there. */
async function readEvents(database: Database, { treeId, after, limit }: Read): Promise<readonly InteractionEvent[]> {
  const { events: most = Number.POSITIVE_INFINITY, bytes = Number.POSITIVE_INFINITY } = limit
  const events: InteractionEvent[] = []
  let next = Math.max(0, after) + 1
  let read = 0
  for (;;) {
    const count = Math.min(most - events.length, Number.isFinite(bytes) ? pageEvents.limited : pageEvents.all)
    if (count <= 0) return events
    const rows = await database.read(selectEvents, [
      encodeText(treeId),
      next,
      next + count - 1,
      Number.isFinite(bytes) ? bytes - read : null,
    ])
    const head = Number(rows[0]?.head ?? 0)
    for (const { seq, event } of rows) {
      if (seq === null) break
      if (seq !== next) throw damaged({ treeId, seq: next, file: database.place }, 'is missing')
      events.push(parsed(String(event), { treeId, seq: next, file: database.place }))
      read += String(event).length
      next += 1
      if (read >= bytes) return events
    }
    if (next > head || rows.length === 0) return events
    if (rows[0]?.seq === null) throw damaged({ treeId, seq: next, file: database.place }, 'is missing')
  }
}

/** Stops behind the event that reaches the size, so that one read takes no more memory than it may. The head is in each row, also without events. */
const selectEvents = `
  SELECT trees.head, page.seq, page.event FROM troupe.trees LEFT JOIN LATERAL (
    SELECT seq, event, sum(length(event)) OVER (ORDER BY seq) - length(event) AS before
    FROM troupe.journal WHERE tree = trees.key AND seq BETWEEN $2 AND $3
  ) AS page ON $4::float8 IS NULL OR page.before < $4
  WHERE trees.id = $1 ORDER BY page.seq`

type Place = ConstructorParameters<typeof JournalDamagedError>[0]

function parsed(text: string, place: Place): InteractionEvent {
  try {
    return JSON.parse(text) as InteractionEvent
  } catch (cause) {
    throw damaged(place, 'is not JSON', cause)
  }
}

const damaged = (place: Place, what: string, cause?: unknown): JournalDamagedError => new JournalDamagedError(place, what, cause)

function textOf(treeId: TreeId, event: InteractionEvent): string {
  let text: string
  try {
    text = JSON.stringify(event)
  } catch (cause) {
    throw new TroupeError('internal', `an event for tree ${treeId} is not JSON`, { cause })
  }
  if (text.length <= maxTextLength) return text
  throw new TroupeError('store_failed', `an event for tree ${treeId} is too large to store: ${text.length} characters`, {
    remedy: 'limit the size of outputs (maxOutputBytes)',
  })
}
