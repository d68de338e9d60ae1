import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ApprovalRequest, ClientId, InteractionEvent, TreeId } from '../../src/contracts/index.ts'
import type { Life } from './subject-process.ts'
import { type Subject, storeOf, type Verdict } from './sweep.ts'
import { wrongEnds } from './wrong-ends.ts'

// A session that needs a person: processes that drive it are killed, and this one answers it, through the store alone.

export const approvals: Subject = { file: 'approval-subject.mjs', mostFurtherLives: 6, judge, between: answer }

/** Whatever is asked is answered once, whoever is alive: a person does not wait for a process. */
async function answer(folder: string): Promise<void> {
  const file = join(folder, 'tree')
  if (!existsSync(file)) return
  const treeId = readFileSync(file, 'utf8') as TreeId
  const store = await storeOf(folder)
  try {
    if (treeId === '' || !(await store.trees.get(treeId))) return
    for (const { id: approvalId, scope, question } of requestsIn(await store.journal.read(treeId, 0))) {
      if (scope === 'unsandboxed') continue
      const given = question?.form ? ({ kind: 'answer', text: '', content: { city: 'Oslo' } } as const) : blue
      const decision = scope === 'question' ? given : ({ kind: 'approve', breadth: 'session' } as const)
      await store.inbox.add(treeId, approvalId as string as ClientId, { kind: 'approval', approvalId, decision, by: 'person' })
    }
  } finally {
    await store.close()
  }
}

const blue = { kind: 'answer', text: 'blue' } as const

const requestsIn = (events: readonly InteractionEvent[]): readonly ApprovalRequest[] =>
  events.flatMap((event) => (event.type === 'interaction.approval.requested' ? [event.request] : []))

const writes = ['w-1', 'w-2', 's-1', 's-2', 't-1', 'o-1', 'b-1']

function judge(effectsFile: string, lives: readonly Life[]): Verdict {
  const last = lives.at(-1)
  if (last?.kind !== 'ended') return { repeated: [], lost: [], unknown: [], wrong: ['the last process was killed'] }
  const { outcome, events } = last
  const effects = existsSync(effectsFile) ? readFileSync(effectsFile, 'utf8').split('\n').filter(Boolean) : []
  const times = (token: string) => effects.filter((line) => line === token).length
  const status = statuses(events)
  const unknown = writes.filter((token) => status.get(token) === 'unknown')
  const flagged = outcome.diagnostics.filter(({ code }) => code === 'call_unknown').length
  return {
    repeated: writes.filter((token) => times(token) > 1),
    lost: writes.filter((token) => times(token) === 0 && status.get(token) !== 'unknown'),
    unknown,
    wrong: [
      ...(flagged === unknown.length ? [] : [`${unknown.length} unknown, ${flagged} flagged`]),
      ...(outcome.status === 'completed' && outcome.report?.text === 'All done.' ? [] : [`ended ${outcome.status}: ${outcome.message}`]),
      ...(new Set(effects.filter((line) => line.startsWith('q-1'))).size === 1 && times('q-1 blue') > 0
        ? []
        : ['the answer did not arrive']),
      ...effects.filter((line) => line.startsWith('wrong')),
      ...(times('l-1') > 0 && status.get('l-1') === 'completed' ? [] : [`the read call of the server ended ${status.get('l-1')}`]),
      ...wrongAnswers(events, status.get('b-1') === 'unknown'),
      ...wrongPlan(events),
      ...wrongNumbers(events),
      ...wrongEnds(events),
    ],
  }
}

function statuses(events: readonly InteractionEvent[]): ReadonlyMap<string, string> {
  const tokens = new Map<string, string>()
  const found = new Map<string, string>()
  for (const event of events) {
    if (event.type === 'interaction.item.started' && event.item.kind === 'call') tokens.set(event.item.id, String(event.item.input.token))
    if (event.type === 'interaction.item.completed') found.set(tokens.get(event.item.id) ?? event.item.id, event.item.status)
  }
  return found
}

/**
 * Each request is answered once, by the person; what ran was allowed before it ran, and what was granted is not asked about.
 * `isBookingLost`: a write that was lost before its server asked does not ask any more.
 */
function wrongAnswers(events: readonly InteractionEvent[], isBookingLost: boolean): readonly string[] {
  const wrong: string[] = []
  const open = new Set<string>()
  const allowed = new Map<string, string>()
  for (const event of events) {
    if (event.type === 'interaction.approval.requested') open.add(event.request.id)
    if (event.type === 'interaction.approval.resolved') {
      if (!open.delete(event.approvalId)) wrong.push(`${event.approvalId} was answered without being open`)
      if (event.itemId) allowed.set(event.itemId, event.by)
    }
    if (event.type !== 'interaction.item.started' || event.item.kind !== 'call' || !/^(send|ask)_one$/.test(event.item.tool)) continue
    const { token } = event.item.input
    const by = token === 's-2' ? 'granted for this session' : 'person'
    if (event.item.approved?.by !== by) wrong.push(`${token} was allowed by ${event.item.approved?.by}`)
    if (token !== 's-2' && allowed.get(event.item.id) !== 'person') wrong.push(`${token} began before the answer was on record`)
  }
  const asked = requestsIn(events)
    .filter(({ scope }) => scope !== 'unsandboxed')
    .map(({ input }) => String(input.token))
  const expected = ['b-1', 'l-1', 'q-1', 's-1', 't-1'].filter((token) => token !== 'b-1' || !isBookingLost || asked.includes(token))
  if (asked.toSorted().join() !== expected.join()) wrong.push(`asked about ${asked.join()}`)
  return [...wrong, ...[...open].filter((id) => !id.endsWith('/unsandboxed')).map((id) => `${id} was never answered`)]
}

/** One plan, from its first word to the end of the turn. */
function wrongPlan(events: readonly InteractionEvent[]): readonly string[] {
  const kinds = events.flatMap((event) => {
    if (event.type === 'interaction.item.started' && event.item.kind === 'plan') return ['started']
    return event.type === 'interaction.item.completed' && event.item.kind === 'plan' ? [`ended as ${event.item.plan.steps[0]?.step}`] : []
  })
  return kinds.join() === 'started,ended as p-2' ? [] : [`the plan: ${kinds.join()}`]
}

const wrongNumbers = (events: readonly InteractionEvent[]): readonly string[] =>
  events.flatMap(({ seq }, index) => (seq === index + 1 ? [] : [`seq ${seq} stands at place ${index + 1}`]))
