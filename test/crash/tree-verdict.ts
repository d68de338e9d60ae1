import { existsSync, readFileSync } from 'node:fs'
import type { InteractionEvent, Outcome } from '../../src/contracts/index.ts'
import type { Life } from './subject-process.ts'
import type { Verdict } from './sweep.ts'
import { wrongEnds } from './wrong-ends.ts'

// Compares what happened in the world with what the journal of the tree says, and the journal with itself.

export const paths = ['root', 'root/clerk#1', 'root/scout#1', 'root/scout#1/helper#1'] as const
const answer = 'All done: scouted {"found":3 | clerked'
const tokens = {
  write: [...tokensOf('boss-w', 3), ...tokensOf('scout-w', 3), ...tokensOf('helper-w', 2), ...tokensOf('clerk-w', 7)],
  idempotent: ['boss-i1', 'scout-i1', 'helper-i1', 'clerk-i1'],
  read: ['boss-r1', 'scout-r1', 'helper-r1', 'clerk-r1'],
}

export function judgeTree(effectsFile: string, lives: readonly Life[]): Verdict {
  const last = lives.at(-1)
  if (last?.kind !== 'ended') return { repeated: [], lost: [], unknown: [], wrong: ['the last process was killed'] }
  const { outcome, events } = last
  const effects = existsSync(effectsFile) ? readFileSync(effectsFile, 'utf8').split('\n').filter(Boolean) : []
  const times = (token: string) => effects.filter((line) => line === token).length
  const calls = callsOf(events)
  const statusOf = (token: string) => calls.find((call) => call.token === token)?.status ?? 'never called'
  return {
    repeated: tokens.write.filter((token) => times(token) > 1),
    lost: tokens.write.filter((token) => times(token) === 0 && statusOf(token) !== 'unknown'),
    unknown: calls.filter(({ status }) => status === 'unknown').map(({ token }) => token),
    wrong: [
      ...wrongEnd(outcome),
      ...wrongEffects(effects, statusOf),
      ...wrongFlags(outcome, events, calls),
      ...wrongNumbers(events),
      ...wrongSessions(events),
      ...wrongItems(events),
      ...wrongTotals(outcome, events),
      ...wrongEnds(events),
    ],
  }
}

function tokensOf(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`)
}

const wrongEnd = ({ status, message, report }: Outcome): readonly string[] =>
  status === 'completed' && report?.text === answer ? [] : [`ended ${status}: ${message ?? report?.text}`]

/** Only a write may be unknown; all else ends well, an idempotent call under one id however often it runs. */
function wrongEffects(effects: readonly string[], statusOf: (token: string) => string): readonly string[] {
  const wrong: string[] = []
  for (const token of tokens.write)
    if (!['completed', 'unknown'].includes(statusOf(token))) wrong.push(`${token} ended as ${statusOf(token)}`)
  for (const token of [...tokens.idempotent, ...tokens.read])
    if (statusOf(token) !== 'completed') wrong.push(`${token} ended as ${statusOf(token)}`)
  for (const token of tokens.idempotent) {
    const ids = new Set(effects.filter((line) => line.startsWith(`${token}@`)))
    if (ids.size !== 1) wrong.push(`${token} ran under ${ids.size} ids`)
  }
  for (const token of tokens.read) if (!effects.includes(token)) wrong.push(`${token} never ran`)
  return wrong
}

interface CallOf {
  readonly path: string
  readonly itemId: string
  readonly token: string
  readonly status: string
}

function callsOf(events: readonly InteractionEvent[]): readonly CallOf[] {
  const started = new Map<string, string>()
  const calls: CallOf[] = []
  for (const { agentPath: path, ...event } of events) {
    if (event.type === 'interaction.item.started' && event.item.kind === 'call')
      started.set(`${path} ${event.item.id}`, String(event.item.input.token ?? event.item.tool))
    if (event.type === 'interaction.item.completed' && event.item.kind === 'call')
      calls.push({ path, itemId: event.item.id, token: started.get(`${path} ${event.item.id}`) ?? '?', status: event.item.status })
  }
  return calls
}

/** Whatever is unknown is flagged where it happened, and in the outcome; nothing else is. */
function wrongFlags({ diagnostics }: Outcome, events: readonly InteractionEvent[], calls: readonly CallOf[]): readonly string[] {
  const flags = events.flatMap((event) =>
    event.type === 'interaction.diagnostic' && event.diagnostic.code === 'call_unknown'
      ? [{ path: event.agentPath, message: event.diagnostic.message }]
      : [],
  )
  const unknown = calls.filter(({ status }) => status === 'unknown')
  const unflagged = unknown.filter(({ path, itemId }) => !flags.some((flag) => flag.path === path && flag.message.includes(`${itemId})`)))
  const told = diagnostics.filter(({ code }) => code === 'call_unknown').length
  return [
    ...unflagged.map(({ path, token }) => `${token} of ${path} is unknown and not flagged`),
    ...(flags.length === unknown.length && told === unknown.length
      ? []
      : [`${unknown.length} unknown, ${flags.length} flagged, ${told} told in the outcome`]),
  ]
}

const wrongNumbers = (events: readonly InteractionEvent[]): readonly string[] =>
  events.flatMap(({ seq }, index) => (seq === index + 1 ? [] : [`seq ${seq} stands at place ${index + 1}`]))

/** Every session is there once and ends once, well; whoever has a parent is announced to it once and reported to it once. */
function wrongSessions(events: readonly InteractionEvent[]): readonly string[] {
  const wrong: string[] = []
  const once = (path: string, what: string, found: readonly unknown[]) => {
    if (found.length !== 1) wrong.push(`${path} was ${what} ${found.length} times`)
  }
  const made = events.filter(({ type }) => type === 'interaction.session.created').map(({ agentPath }) => agentPath)
  if (made.toSorted().join() !== paths.join()) wrong.push(`there are the sessions ${made.join(', ')}`)
  for (const path of paths) {
    const own = events.filter(({ agentPath }) => agentPath === path)
    once(path, 'begun', ofType(own, /turn\.started$/))
    once(path, 'ended', ofType(own, /turn\.(completed|failed|interrupted)$/))
    once(path, 'ended well', ofType(own, /turn\.completed$/))
    if (own.at(-1)?.type !== 'interaction.session.idle') wrong.push(`the last word of ${path} is ${own.at(-1)?.type}`)
    if (path === 'root') continue
    const childId = own[0]?.sessionId
    const notes = events.filter((event) => 'childId' in event && event.childId === childId)
    once(path, 'announced', ofType(notes, /subagent\.started$/))
    once(path, 'reported', ofType(notes, /subagent\.(completed|failed)$/))
  }
  const asked = ofType(events, /approval\.requested$/).length
  const answered = ofType(events, /approval\.resolved$/).length
  if (asked !== 1 || answered !== 1) wrong.push(`an approval was asked for ${asked} times and answered ${answered} times`)
  return wrong
}

const ofType = (events: readonly InteractionEvent[], type: RegExp): readonly InteractionEvent[] =>
  events.filter((event) => type.test(event.type))

/** Whatever began has ended once. */
function wrongItems(events: readonly InteractionEvent[]): readonly string[] {
  const wrong: string[] = []
  const open = new Set<string>()
  for (const event of events) {
    if (event.type !== 'interaction.item.started' && event.type !== 'interaction.item.completed') continue
    const item = `${event.agentPath} ${event.item.id}`
    if (event.type === 'interaction.item.completed' && !open.delete(item)) wrong.push(`item ${item} ended twice, or never began`)
    if (event.type === 'interaction.item.started') {
      if (open.has(item)) wrong.push(`item ${item} began twice`)
      open.add(item)
    }
  }
  return open.size > 0 ? [...wrong, `never ended: ${[...open].join(', ')}`] : wrong
}

/** What the root says it took is what all attempts of all sessions took, each once. */
function wrongTotals(outcome: Outcome, events: readonly InteractionEvent[]): readonly string[] {
  const attempts = events.filter((event) => event.type === 'interaction.step.completed' || event.type === 'interaction.step.failed')
  const models = outcome.accounting.filter((entry) => entry.kind === 'model')
  const end = events.find((event) => event.agentPath === 'root' && event.type === 'interaction.turn.completed')
  const sums = {
    journal: spent(attempts),
    outcome: spent([outcome]),
    'end of the root': end?.type === 'interaction.turn.completed' ? spent([end.totals]) : 'missing',
    accounting: spent(models),
  }
  const calls = events.filter((event) => event.type === 'interaction.item.completed' && event.item.kind === 'call').length
  const entries = outcome.accounting.length - models.length
  return [
    ...(new Set(Object.values(sums)).size === 1 ? [] : [`the totals differ: ${JSON.stringify(sums)}`]),
    ...(models.length === attempts.length ? [] : [`${attempts.length} attempts, ${models.length} in the accounting`]),
    ...(entries === calls ? [] : [`${calls} calls, ${entries} in the accounting`]),
  ]
}

function spent(entries: readonly Pick<Outcome, 'usage' | 'cost'>[]): string {
  const sum = (figure: 'input' | 'output') => entries.reduce((total, { usage }) => total + usage[figure], 0)
  const cost = entries.reduce((total, each) => total + (each.cost === 'unknown' ? Number.NaN : each.cost), 0)
  return `${sum('input')} in, ${sum('output')} out, ${Number.isNaN(cost) ? 'unknown' : cost.toFixed(6)} USD`
}
