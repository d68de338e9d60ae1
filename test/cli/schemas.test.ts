import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lines } from '../../scripts/schemas/events.ts'
import { publishedSchemas } from '../../scripts/schemas/published.ts'
import { errorDocument, runEndOfError } from '../../src/cli/commands/output/error-documents.ts'
import { outcomeDocument, type RunEnd, runEnd } from '../../src/cli/commands/output/run-documents.ts'
import { type Approver, type Outcome, type StreamEvent, type Tool, TroupeError } from '../../src/index.ts'
import { ScriptedModel } from '../../src/testing/index.ts'
import { handoffTeam } from '../kernel/handoff/handoff-team.ts'
import { runtimeWith } from '../runtime/helpers.ts'
import { ask, type Script, team } from '../subagents/team.ts'
import { printJson } from './print-json.ts'
import { type Conversation, conversation, type Recorded, record, recordLong } from './recorded-runs.ts'

const folder = join(import.meta.dirname, '..', '..', 'schemas')
const read = (file: string): string => readFileSync(join(folder, file), 'utf8')

describe('the published schemas', () => {
  // To write them anew: TROUPE_WRITE=1 npx vitest run test/cli/schemas.test.ts
  test.each(Object.entries(publishedSchemas))('%s says what the contracts say', (file, schema) => {
    if (process.env.TROUPE_WRITE) writeFileSync(join(folder, file), printJson(schema))
    expect(read(file)).toBe(printJson(schema))
  })

  test.each(Object.keys(publishedSchemas))('%s is JSON Schema 2020-12', (file) => {
    const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false })
    expect(ajv.validateSchema(JSON.parse(read(file)))).toBe(true)
    ajv.compile(JSON.parse(read(file)))
  })

  test('every type of event has a branch', () => {
    // Does not compile unless it lists every type that there is.
    const types: { readonly [Type in StreamEvent['type'] | RunEnd['type']]: true } = {
      'interaction.session.created': true,
      'interaction.session.configured': true,
      'interaction.session.resumed': true,
      'interaction.session.idle': true,
      'interaction.input.accepted': true,
      'interaction.held.sent': true,
      'interaction.history.added': true,
      'interaction.turn.started': true,
      'interaction.turn.completed': true,
      'interaction.turn.failed': true,
      'interaction.turn.interrupted': true,
      'interaction.turn.suspended': true,
      'interaction.step.started': true,
      'interaction.step.completed': true,
      'interaction.step.failed': true,
      'interaction.item.started': true,
      'interaction.item.updated': true,
      'interaction.item.completed': true,
      'interaction.item.delta': true,
      'interaction.queue.joined': true,
      'interaction.queue.left': true,
      'interaction.approval.requested': true,
      'interaction.approval.resolved': true,
      'interaction.approval.granted': true,
      'interaction.approval.revoked': true,
      'interaction.subagent.selected': true,
      'interaction.subagent.started': true,
      'interaction.subagent.completed': true,
      'interaction.subagent.failed': true,
      'interaction.subagent.closed': true,
      'interaction.handoff.started': true,
      'interaction.handoff.completed': true,
      'interaction.offer.recorded': true,
      'interaction.hook.completed': true,
      'interaction.context.added': true,
      'interaction.context.compacted': true,
      'interaction.cancel.requested': true,
      'interaction.diagnostic': true,
      'run.completed': true,
      'run.failed': true,
    }
    expect(Object.keys(lines).toSorted()).toEqual(Object.keys(types).toSorted())
    expect(JSON.parse(read('stream-event.schema.json')).oneOf).toHaveLength(Object.keys(types).length)
  })
})

const ajv = new Ajv2020({ strict: false, allErrors: false })
const isLine = ajv.compile(JSON.parse(read('stream-event.schema.json')))
const isDocument = ajv.compile(JSON.parse(read('run-document.schema.json')))
const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** What one branch says about an event that no branch takes. */
function complaint(event: { readonly type: string }): string {
  const { $defs } = publishedSchemas['stream-event.schema.json'] as { $defs: object }
  const only = new Ajv2020({ strict: false, allErrors: true }).compile({ ...lines[event.type], $defs })
  only(event)
  return JSON.stringify({ event, errors: only.errors }, undefined, 1)
}

const runs = process.env.TROUPE_FULL ? 1000 : 200
const seen = new Map<string, StreamEvent[]>()
const outcomes: Outcome[] = []
function keepAll({ events, outcomes: ends }: Recorded): void {
  for (const event of events) seen.set(event.type, [...(seen.get(event.type) ?? []), event])
  outcomes.push(...ends)
}
const keep = async (given: Conversation): Promise<void> => keepAll(await record(given))
keepAll(await recordLong())
// What chance may miss: a call that is let out of the sandbox.
const breakingOut = { calls: [{ tool: 'walled_in', input: { token: 'a' } }] }
await keep({ steps: [breakingOut, { text: 'Out.' }], limits: { maxToolTurns: 5 }, approval: 'once', wants: 'text', meddling: 'none' })
await fc.assert(fc.asyncProperty(conversation, keep), { numRuns: runs, seed: 20_261_115 })
const send: Tool = {
  name: 'send',
  description: 'Sends.',
  inputSchema: { type: 'object' },
  approval: () => ({ summary: 'Send it', keys: [{ key: 'send', label: 'send' }] }),
  execute: () => 'sent',
}
const approver: Approver = { decide: () => ({ decision: { kind: 'approve', breadth: 'session' }, by: 'ann' }) }
const scouts: readonly Script[] = [
  (_, step) => (step === 1 ? { calls: [{ tool: 'send' }] } : { text: 'found' }),
  () => ({ fails: 'config' as const }),
]
for (const script of scouts) {
  const price = () => 0.001
  const boss = (_: unknown, step: number) => (step === 1 ? { calls: [ask('scout', 'Look'), ask('scout', 'Listen')] } : { text: 'Done.' })
  const members = {
    boss: { script: boss, agents: ['scout'], limits: { maxCostUsd: 1 }, price },
    scout: { script, price, tools: ['send'] },
  }
  const { all: events, outcome } = await team(members, { tools: [send], approver, config: { queues: { team: { concurrent: 1 } } } }).run()
  for (const event of events) seen.set(event.type, [...(seen.get(event.type) ?? []), event])
  outcomes.push(outcome)
}
const spawning: Script = (_, step) =>
  [
    { calls: [{ tool: 'spawn_agent', input: { agent: 'scout', prompt: 'Look' } }] },
    { calls: [{ tool: 'wait_for_agent', input: { ids: ['scout#1'] } }] },
    { calls: [{ tool: 'send_agent_input', input: { id: 'scout#1', text: 'More' } }] },
  ][step - 1] ?? { text: 'Done.' }
const spawned = await team({
  boss: { script: spawning, agents: ['scout'], childControl: true },
  scout: { script: () => ({ text: 'found' }) },
}).run()
for (const event of spawned.all) seen.set(event.type, [...(seen.get(event.type) ?? []), event])
outcomes.push(spawned.outcome)
const handoff = handoffTeam().runtime
const { sessionId: handed, ...talking } = await handoff.run('Go')
outcomes.push({ sessionId: handed, ...talking })
await handoff.sessions.send(handed, 'done')
outcomes.push(await handoff.sessions.outcome(handed))
for await (const event of handoff.sessions.events(handed)) seen.set(event.type, [...(seen.get(event.type) ?? []), event])
const server = runtimeWith(new ScriptedModel([{ text: 'Done.' }]))
const served = await server.sessions.start('Go on.', {
  principal: { id: 'token:ci', kind: 'token', name: 'CI' },
  limits: { maxTokens: 10_000 },
  instructions: 'Be brief.',
  history: [
    { role: 'user', parts: [{ type: 'text', text: 'Look.' }] },
    { role: 'assistant', parts: [{ type: 'call', id: 'c', name: 'look', input: '{}' }] },
    { role: 'tool', results: [{ id: 'c', name: 'look', ok: true, content: 'A door.' }] },
  ],
})
for await (const event of server.sessions.events(served)) seen.set(event.type, [...(seen.get(event.type) ?? []), event])
const created = seen.get('interaction.session.created')?.[0]
if (created?.type === 'interaction.session.created') {
  // Only whoever takes a run up changes its agent.
  const { trace: _trace, policy: _policy, ...rest } = created
  seen.set('interaction.session.configured', [{ ...rest, type: 'interaction.session.configured', reason: 'edited' }])
}
const all = [...seen.values()].flat()

describe('real runs', () => {
  test('stream thousands of lines of every type, and each of them fits', () => {
    expect(all.length).toBeGreaterThan(3000)
    expect([...seen.keys(), 'run.completed', 'run.failed'].toSorted()).toEqual(Object.keys(lines).toSorted())
    for (const event of all.map(throughJson) as StreamEvent[]) expect(isLine(event) || complaint(event)).toBe(true)
  })

  test('end in every way, and each end fits as a document and as a last line', () => {
    expect(new Set(outcomes.map(({ status }) => status)).size).toBe(5)
    for (const outcome of outcomes) {
      const document = throughJson(outcomeDocument(outcome))
      expect(isDocument(document) || JSON.stringify(isDocument.errors)).toBe(true)
      const end = throughJson(runEnd(outcome)) as RunEnd
      expect(isLine(end) || complaint(end)).toBe(true)
      expect(end.type).toBe(outcome.status === 'completed' || outcome.status === 'partial' ? 'run.completed' : 'run.failed')
    }
  })

  test('are valid with earlier diagnostics, too, which come first', () => {
    const [outcome = expect.unreachable()] = outcomes
    const told = { code: 'config_untrusted', severity: 'warning', place: '/x/.ai-agent.json', message: 'hooks', remedy: 'Look.' } as const
    const document = throughJson(outcomeDocument(outcome, { before: [told] }))
    const end = throughJson(runEnd(outcome, { before: [told] }))
    expect([isDocument(document), isLine(end)]).toEqual([true, true])
    const diagnostics = [told, ...outcome.diagnostics]
    expect([document, end]).toMatchObject([{ diagnostics }, { outcome: { diagnostics } }])
    const { place: _place, ...placeless } = told
    expect(isLine({ ...(end as object), outcome: { ...outcome, diagnostics: [placeless] } })).toBe(false)
  })

  test('or do not come about, which fits, too', () => {
    const error = new TroupeError('usage', 'wrong', { remedy: 'mend it', problems: [{ place: '--json', message: 'x', line: 'y' }] })
    for (const each of [error, new TroupeError('internal', 'broken')]) {
      expect(isDocument(throughJson(errorDocument(each)))).toBe(true)
      expect(isLine(throughJson(runEndOfError(each)))).toBe(true)
    }
  })
})

/** Whose inside belongs to somebody else. */
const open = new Set(['input', 'inputSchema', 'details', 'metadata', 'value', 'schema', 'scores', 'state'])
type Edit = readonly [what: string, event: unknown]

/** The event with one thing wrong, in every place where something can be. */
function* mutations(value: unknown, path = ''): Generator<Edit> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      for (const [what, edited] of mutations(item, `${path}[${index}]`)) yield [what, value.with(index, edited)]
    }
    return
  }
  if (typeof value !== 'object' || value === null) return
  yield [`${path}: an unknown field`, { ...value, unheardOf: [1] }]
  for (const [key, inner] of Object.entries(value)) {
    if (open.has(key)) continue
    yield [`${path}.${key}: another kind`, { ...value, [key]: typeof inner === 'object' ? 'text' : { odd: true } }]
    for (const [what, edited] of mutations(inner, `${path}.${key}`)) yield [what, { ...value, [key]: edited }]
  }
}

describe('slightly wrong documents are invalid', () => {
  test.each([...seen.keys()])('%s', (type) => {
    const [event] = (seen.get(type) ?? []).map(throughJson)
    const edits = [...mutations(event)]
    expect(edits.length).toBeGreaterThan(5)
    expect(edits.filter(([, edited]) => isLine(edited)).map(([what]) => what)).toEqual([])
  })

  test('a field that is needed and not there', () => {
    for (const [type, events] of seen) {
      const event = throughJson(events[0]) as { readonly [key: string]: unknown }
      const { required = [] } = lines[type] as { readonly required?: readonly string[] }
      expect(required).toContain('treeId')
      for (const field of required) {
        const { [field]: _left, ...rest } = event
        expect(isLine(rest), `${type} without ${field}`).toBe(false)
      }
    }
  })

  test('documents', () => {
    const documents: object[] = [outcomeDocument(outcomes[0]!), errorDocument(new TroupeError('usage', 'x'))]
    for (const document of documents.map(throughJson)) {
      expect(isDocument(document)).toBe(true)
      expect([...mutations(document)].filter(([, edited]) => isDocument(edited)).map(([what]) => what)).toEqual([])
    }
  })
})
