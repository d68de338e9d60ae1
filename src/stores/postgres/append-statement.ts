import type { AppendBatch, InteractionEvent, TurnRecord } from '../../contracts/index.ts'
import { encodeText } from '../shared/encoding.ts'
import { entryColumns, lowerTitle } from './tree-rows.ts'
import { costOf, textsOf, usageOf } from './turn-rows.ts'

/** A batch with its events as JSON. */
export interface TextBatch {
  readonly batch: AppendBatch
  readonly texts: readonly string[]
}

export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

/** A row of each kind, with the number of its batch. They are passed as JSON: one value, however many there are. */
const kinds = {
  event: 'n integer, seq bigint, event text',
  record: 'n integer, i integer, namespace text, key text, due float8, json text',
  charge: 'n integer, owner text, period text, tokens numeric, cost numeric',
  usage: `n integer, agent text, is_child boolean, status text, ended_at float8, work_ms bigint, place integer, model text, requests bigint,
    failed bigint, input bigint, output bigint, cache_read bigint, cache_write bigint, reasoning bigint, estimated boolean, cost bigint,
    unpriced bigint, latency_ms bigint`,
  text: 'n integer, i integer, kind text, at float8, text text, words text[]',
} as const

const turnColumns = `agent, is_child, status, ended_at, work_ms, place, model, requests, failed, input, output, cache_read, cache_write,
  reasoning, estimated, cost, unpriced, latency_ms`

/** What is stored with the trees that were moved. Records and charges are sorted: two statements never wait for each other. */
const inserts: { readonly [kind in keyof typeof kinds]: string } = {
  event: 'INSERT INTO troupe.journal (tree, seq, event) SELECT key, seq, event FROM given JOIN moved USING (n)',
  record: `INSERT INTO troupe.records (namespace, key, due, json)
    SELECT DISTINCT ON (namespace, given.key) namespace, given.key, due, json FROM given JOIN moved USING (n)
    ORDER BY namespace, given.key, n DESC, i DESC
    ON CONFLICT (namespace, key) DO UPDATE SET due = excluded.due, json = excluded.json`,
  charge: `INSERT INTO troupe.usage AS known (owner, period, tokens, cost)
    SELECT owner, period, sum(tokens), sum(given.cost) FROM given JOIN moved USING (n) GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (owner, period) DO UPDATE SET tokens = known.tokens + excluded.tokens, cost = known.cost + excluded.cost`,
  usage: `INSERT INTO troupe.turn_usage (tree, owner, ${turnColumns})
    SELECT moved.id, moved.principal, ${turnColumns.replace(/\w+/g, 'given.$&')} FROM given JOIN moved USING (n)`,
  text: `INSERT INTO troupe.search_texts (tree, kind, at, text, words)
    SELECT key, kind, at, text, array_to_tsvector(words) FROM given JOIN moved USING (n) ORDER BY n, i`,
}

/**
 * The trees whose head and epoch are the expected ones get a new head, and a place in lists with their first event. `first` is the
 * number of a new tree among those of the statement, and `ahead` how far their times are ahead of these numbers: each gets its own
 * time, or the next one that is free.
 */
const move = `
  UPDATE troupe.trees SET head = given.last, updated_at = given.at, changed = pg_current_xact_id(),
    agent = coalesce(given.agent, trees.agent),
    title = CASE WHEN own_title THEN trees.title ELSE coalesce(given.title, trees.title) END,
    title_lower = CASE WHEN own_title THEN trees.title_lower ELSE coalesce(given.title_lower, trees.title_lower) END,
    status = coalesce(given.status, trees.status), open_requests = coalesce(given.open_requests, trees.open_requests),
    cost = CASE WHEN given.cost IS NULL THEN trees.cost ELSE coalesce(trees.cost, 0) + given.cost END,
    unpriced = trees.unpriced + given.unpriced,
    created_at = CASE WHEN given.first IS NULL THEN created_at
      ELSE given.first + greatest((SELECT max(created_at) FROM troupe.trees), given.ahead) END,
    principal = coalesce(given.principal, trees.principal), external_key = coalesce(given.external_key, trees.external_key),
    labels = coalesce(given.labels, trees.labels), workspace = coalesce(given.workspace, trees.workspace)
  FROM json_to_recordset($1) AS given (n integer, id text, expected bigint, last bigint, epoch bigint, at float8, first integer,
    ahead float8, agent text, title text, title_lower text, status text, open_requests integer, cost bigint, unpriced bigint,
    principal text, external_key text, labels text[], workspace text)
  WHERE trees.id = given.id AND trees.head = given.expected AND trees.epoch = given.epoch AND trees.owner IS NOT NULL
    AND NOT EXISTS (SELECT FROM troupe.trees AS other WHERE other.external_key = given.external_key AND other.id <> given.id)
  RETURNING given.n, trees.key, ${entryColumns}`

/** Stores batches of different trees. Returns `n`, the place of a batch in the list, and the tree of each one that was stored. */
export function appendStatement(batches: readonly TextBatch[]): Statement {
  const rows = noRows()
  for (const [n, { batch, texts }] of batches.entries()) {
    rows.event.push(...texts.map((event, index) => ({ n, seq: batch.expectedSeq + index + 1, event })))
    for (const { namespace, key, due, value } of batch.records ?? [])
      rows.record.push({ n, i: rows.record.length, namespace, key, due, json: JSON.stringify(value) })
    if (batch.charge) rows.charge.push({ n, ...chargeOf(batch.charge) })
    addTurns(rows, n, batch.turns)
  }
  const values = [JSON.stringify(advances(batches.map(({ batch }) => batch)))]
  return { text: `WITH moved AS (${move}), ${insertsOf(rows, values).join(', ')} SELECT * FROM moved`, values }
}

/** Stores turns of one tree, without a batch. */
export function turnStatement(key: unknown, turns: readonly TurnRecord[]): Statement {
  const rows = noRows()
  addTurns(rows, 0, turns)
  const values = [key]
  const tree = 'moved AS (SELECT 0 AS n, key, id, principal FROM troupe.trees WHERE key = $1)'
  return { text: `WITH ${[tree, ...insertsOf(rows, values)].join(', ')} SELECT FROM moved`, values }
}

type Rows = { readonly [kind in keyof typeof kinds]: object[] }

const noRows = (): Rows => ({ event: [], record: [], charge: [], usage: [], text: [] })

function addTurns(rows: Rows, n: number, turns: readonly TurnRecord[] = []): void {
  for (const turn of turns) {
    for (const row of usageOf(turn)) rows.usage.push({ n, ...row })
    for (const row of textsOf(turn)) rows.text.push({ n, i: rows.text.length, ...row })
  }
}

/** Parts of a statement that begins with the trees, as `moved`. Their rows are added to the values. */
function insertsOf(rows: Rows, values: unknown[]): readonly string[] {
  const filled = (Object.keys(kinds) as (keyof typeof kinds)[]).filter((kind) => rows[kind].length > 0)
  return filled.map((kind) => {
    const given = `json_to_recordset($${values.push(JSON.stringify(rows[kind]))}) AS given (${kinds[kind]})`
    return `stored_${kind} AS (${inserts[kind].replace('FROM given', `FROM ${given}`)})`
  })
}

function advances(batches: readonly AppendBatch[]): readonly object[] {
  let [first, ahead] = [0, Number.NEGATIVE_INFINITY]
  return batches.map((batch, n) => {
    const { treeId, expectedSeq, epoch, events, summary, identity, turns = [] } = batch
    const { seq: last, at } = events.at(-1) as InteractionEvent
    const isFirst = expectedSeq === 0
    if (isFirst) {
      first += 1
      ahead = Math.max(ahead, at - first)
    }
    return {
      ...{ n, id: encodeText(treeId), expected: expectedSeq, last, epoch, at },
      ...(isFirst && { first, ahead, ...(identity && identityOf(identity)) }),
      ...(summary && summaryOf(summary)),
      ...costOf(turns),
    }
  })
}

const encoded = (text: string | undefined): string | undefined => (text === undefined ? undefined : encodeText(text))

const identityOf = ({ owner, key, labels, workspace }: NonNullable<AppendBatch['identity']>): object => ({
  principal: encoded(owner),
  external_key: encoded(key),
  labels: labels?.map(encodeText),
  workspace: encoded(workspace),
})

const summaryOf = ({ agent, title, status, openRequests }: NonNullable<AppendBatch['summary']>): object => ({
  agent: encodeText(agent),
  title: encodeText(title),
  title_lower: lowerTitle(title),
  status,
  open_requests: openRequests,
})

/** Figures of a provider must not keep a turn from being stored. */
const finite = (amount: number): number => (Number.isFinite(amount) ? amount : 0)

const chargeOf = ({ owner, period, tokens, costUsd }: NonNullable<AppendBatch['charge']>): object => ({
  owner: encodeText(owner),
  period: encodeText(period),
  tokens: finite(tokens),
  cost: Math.round(finite(costUsd) * 1e9),
})
