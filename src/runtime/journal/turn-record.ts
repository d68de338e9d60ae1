import {
  addUsd,
  type InteractionEvent,
  type Message,
  type ModelEntry,
  type ModelUsage,
  noUsage,
  type SessionId,
  TroupeError,
  type TurnRecord,
  type TurnText,
  type Usage,
} from '../../contracts/index.ts'
import type { OpenTurn, SessionState } from '../../core/index.ts'
import { textOfParts } from '../../util/text-of-parts.ts'
import type { Observer } from './tree-state.ts'

type TurnEnd = InteractionEvent<'interaction.turn.completed' | 'interaction.turn.failed' | 'interaction.turn.interrupted'>

export const isTurnEnd = (event: InteractionEvent): event is TurnEnd =>
  event.type === 'interaction.turn.completed' || event.type === 'interaction.turn.failed' || event.type === 'interaction.turn.interrupted'

type StateOf = (sessionId: SessionId) => SessionState | undefined

/** What a turn leaves for search and usage. `before`: the state of its session before the turn ended; `stateOf`: of its parent then. */
export function turnRecordOf(event: TurnEnd, before: SessionState, stateOf: StateOf): TurnRecord {
  const { turn, parent, sessionId, agent } = before
  if (turn.kind !== 'open') throw new TroupeError('internal', `No turn is open before event ${event.seq}.`)
  const { ending, totals } = event
  const isSpoken = parent === undefined || talksToPerson(stateOf(parent.sessionId), sessionId)
  return {
    seq: event.seq,
    at: event.at,
    sessionId,
    turnId: turn.id,
    agent: agent.name,
    isChild: parent !== undefined,
    status: ending.status,
    workMs: totals.durationMs - (totals.waitedMs ?? turn.idleMs),
    texts: isSpoken ? textsOf(turn, event) : [],
    models: usageByModel(turn),
  }
}

/** Whether a spawned child talks, or has talked, to the person. */
const talksToPerson = (parent: SessionState | undefined, childId: SessionId): boolean =>
  parent?.turn.kind === 'open' && parent.turn.spawned.some((child) => child.childId === childId && child.handoff !== undefined)

function textsOf({ goal }: OpenTurn, { report }: TurnEnd): readonly TurnText[] {
  const messages = goal.map((message) => ({ kind: 'message', text: textOf(message) }) as const)
  const answer = report ? [{ kind: 'answer', text: report.text } as const] : []
  return [...messages, ...answer].filter(({ text }) => text.trim() !== '')
}

const textOf = (message: Message): string => (message.role === 'user' ? textOfParts(message.parts) : '')

type Sum = { -readonly [Key in keyof Omit<ModelUsage, 'usage'>]: ModelUsage[Key] } & {
  usage: { -readonly [Key in keyof Usage]: Usage[Key] }
}

/** Changes its sums in place: it is called for every turn. */
function usageByModel({ accounting }: OpenTurn): readonly ModelUsage[] {
  const sums: Sum[] = []
  for (const entry of accounting.toArray()) {
    if (entry.kind !== 'model') continue
    let sum = sums.find(({ model }) => model === entry.model)
    if (!sum) {
      sum = { model: entry.model, requests: 0, failed: 0, usage: { ...noUsage }, costUsd: 0, unpriced: 0, latencyMs: 0 }
      sums.push(sum)
    }
    addRequest(sum, entry)
  }
  return sums
}

function addRequest(sum: Sum, { usage, cost, latencyMs, status }: ModelEntry): void {
  sum.requests += 1
  if (status === 'failed') sum.failed += 1
  if (cost === 'unknown') sum.unpriced += 1
  else sum.costUsd = addUsd(sum.costUsd, cost)
  sum.latencyMs += latencyMs
  sum.usage.input += usage.input
  sum.usage.output += usage.output
  sum.usage.cacheRead += usage.cacheRead
  sum.usage.cacheWrite += usage.cacheWrite
  sum.usage.reasoning += usage.reasoning
  if (usage.estimated) sum.usage.estimated = true
}

type CopyOf = NonNullable<InteractionEvent<'interaction.session.created'>['forkedFrom']>

/** Collects the records of a journal while it is folded. */
export class TurnRecordFold {
  readonly records: TurnRecord[] = []
  #copyOf: CopyOf | undefined
  /** The last event of the copy, and its time. What follows is work of its own. */
  #copied = { seq: 0, at: 0 }

  readonly observe: Observer = (event, stateOf) => {
    const { seq, at } = event
    if (event.type === 'interaction.session.created' && event.forkedFrom) this.#copyOf = event.forkedFrom
    if (this.#copyOf && seq === this.#copied.seq + 1 && this.#isCopied(this.#copyOf, event)) this.#copied = { seq, at }
    const before = isTurnEnd(event) ? stateOf(event.sessionId) : undefined
    if (!isTurnEnd(event) || !before) return
    const record = turnRecordOf(event, before, stateOf)
    this.records.push(seq > this.#copied.seq ? record : withoutModels(record))
  }

  /** Older versions do not say where a copy ends. What ends its open work has the time of the last copied event. */
  #isCopied({ seq, last }: CopyOf, event: InteractionEvent): boolean {
    return last === undefined ? event.seq <= seq || event.at === this.#copied.at : event.seq <= last
  }
}

const withoutModels = ({ models: _, ...record }: TurnRecord): TurnRecord => record
