import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { recordedModels } from '../../src/cli/commands/demo/recorded-models.ts'
import { demoAgents, demoShop } from '../../src/cli/commands/demo/web-demo.ts'
import type { Clock, Message, ModelAdapter } from '../../src/contracts/index.ts'
import { systemClock } from '../../src/runtime/index.ts'

// What was recorded is said only after the results that it was recorded for.

const workspace = mkdtempSync(join(tmpdir(), 'troupe-answers-'))
mkdirSync(join(workspace, 'shop-1'))
afterAll(() => rmSync(workspace, { recursive: true, force: true }))

const immediately: Clock = { ...systemClock, after: (_ms, fire) => systemClock.after(0, fire) }
const none: ModelAdapter = { resolve: (name) => Promise.reject(new Error(name)) }
const models = recordedModels(none, { agents: demoAgents(), shop: demoShop(), workspace, clock: immediately })

const change =
  'In shop-1/src/checkout.js, apply the discount to the subtotal and round it once. Change only these two lines, then run the tests.'

interface Said {
  readonly agent: string
  readonly message: string
  readonly results?: readonly { readonly name: string; readonly ok?: boolean; readonly content?: string }[]
}

/** The next answer, with the names of its calls. Each result belongs to a step of its own. */
async function answer({ agent, message, results = [] }: Said): Promise<string> {
  const messages: Message[] = [{ role: 'user', parts: [{ type: 'text', text: message }] }]
  for (const [index, { name, ok = true, content = '' }] of results.entries()) {
    const id = `c${index}`
    messages.push({ role: 'assistant', parts: [{ type: 'call', id, name, input: '{}' }] })
    messages.push({ role: 'tool', results: [{ id, name, ok, content }] })
  }
  const model = await models.resolve('script/recorded.yaml')
  const request = { system: `You are the ${agent}.`, messages, tools: [], toolChoice: 'auto', parameters: {} } as const
  let said = ''
  for await (const part of model.stream(request, { signal: new AbortController().signal })) {
    if (part.type === 'text') said += part.text
    if (part.type === 'call') said += `[${part.name}]`
  }
  return said
}

const read = { name: 'read_file', content: '…' }
const edited = { name: 'edit_file', content: 'Edited.' }

test.each([
  ['an edit that was declined', [read, { name: 'edit_file', ok: false, content: 'Error (denied): This call was declined.' }]],
  ['tests that still fail', [read, edited, { name: 'run_tests', content: 'Exit code 1\n…' }]],
  ['tests that did not run', [read, edited, { name: 'run_tests', ok: false, content: 'Error (execution): spawn' }]],
])('after %s, the engineer does not say that the tests pass', async (_case, results) => {
  expect(await answer({ agent: 'engineer', message: change, results })).toMatch(/^Not done: a call was declined/)
})

test('after the edit and green tests it does', async () => {
  const results = [read, edited, { name: 'run_tests', content: 'Exit code 0\n…' }]
  expect(await answer({ agent: 'engineer', message: change, results })).toContain('All 6 tests pass')
})

test('the lead does not call it fixed when an agent has stopped', async () => {
  const stopped = { name: 'agent__engineer', content: 'Not done: a call was declined, or it did not end as it should. I stop here.' }
  expect(await answer({ agent: 'lead', message: 'fix the failing checkout test', results: [stopped] })).toMatch(/^\*\*Not fixed\.\*\*/)
})

test('failures that were recorded are part of the story', async () => {
  const refused = { name: 'agent__estimator', ok: false, content: 'Error (budget): …' }
  const message = 'Compare six ways to pay, for 5 cents at most'
  expect(await answer({ agent: 'planner', message, results: [refused] })).toContain('Four of six options are estimated')
})
