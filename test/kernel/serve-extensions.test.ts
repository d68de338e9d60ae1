import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ExtensionStatus } from '../../src/contracts/index.ts'
import { openBrowser } from '../browser.ts'
import { agentText, type ModelRequest, type Served, type ServeScene, serveScene } from '../cli/serve-scene.ts'
import { openChat } from '../web/chat-page.ts'

let scene: ServeScene
let server: Served

const reviewer = `id: reviewer
name: Reviewer
version: "1.0.0"
description: Reviews texts.
natural_language_description: Use this agent to review a text.
agent:
  integration_mode: tool
  model: lab/model
  instructions: prompts/reviewer.jinja2
`
const notes = `id: notes
name: Notes
version: "1.0.0"
description: Keeps notes.
entrypoint: main:Notes
`
const notesCode = `export class Notes {
  getTools() {
    return [{ name: 'count', description: 'Counts notes', inputSchema: { type: 'object', properties: {} }, effect: 'read', execute: () => '7 notes' }]
  }
}
`

beforeAll(async () => {
  scene = await serveScene()
  await scene.put('.ai-agent.json', JSON.stringify({ defaults: { models: 'lab/model' } }))
  await scene.put('extensions/README.md', 'Extensions of this project.')
  await scene.put('.ai-agent/extensions/reviewer/manifest.yaml', reviewer)
  await scene.put('.ai-agent/extensions/reviewer/prompts/reviewer.jinja2', 'You are the reviewer.')
  await scene.put('.ai-agent/extensions/notes/manifest.yaml', notes)
  await scene.put('.ai-agent/extensions/notes/main.js', notesCode)
  await scene.put('extensions/broken/manifest.yaml', 'id: other\nnaem: Broken\n')
  server = await scene.serve(['--trust'])
}, 30_000)
afterAll(() => server?.process.kill('SIGTERM'))

it('serves the orchestrator and the agents of extensions of a folder without agent files', async () => {
  const { agents } = (await (await server.fetch('/v1/agents')).json()) as { agents: { name: string; tools: string[]; agents: string[] }[] }
  const orchestrator = agents.find(({ name }) => name === 'orchestrator')
  expect(agents.map(({ name }) => name)).toEqual(expect.arrayContaining(['orchestrator', 'reviewer']))
  expect(orchestrator?.tools).toEqual(expect.arrayContaining(['ask_user', 'update_plan', 'list_extensions', 'notes__count', 'kv__get']))
  expect(orchestrator?.agents).toContain('reviewer')
  const seen: ModelRequest[] = []
  scene.reply = (request) => {
    seen.push(request)
    if (request.system.includes('You are the reviewer.')) return { text: 'Reviewed.' }
    if (request.last === 'Review and count') return { call: { name: 'agent__reviewer', input: { task: 'Check "abc"', reason: 'r' } } }
    if (request.last.includes('Reviewed.')) return { call: { name: 'notes__count', input: { reason: 'r' } } }
    return { text: `All done: ${request.last}` }
  }
  const answer = await server.fetch('/v1/orchestrator', { json: { input: 'Review and count' } })
  expect(await answer.json()).toMatchObject({ status: 'completed', text: expect.stringContaining('7 notes') })
  expect(seen[0]?.system).toContain('Available tools:\n')
  expect(seen[0]?.system).toContain('- reviewer: Use this agent to review a text.')
  const direct = await server.fetch('/v1/reviewer', { json: { input: 'Check "def"' } })
  expect(await direct.json()).toMatchObject({ text: 'Reviewed.' })
})

it('lists the extensions with their problems, which the health check shows, too', async () => {
  const { extensions } = (await (await server.fetch('/v1/extensions')).json()) as { extensions: ExtensionStatus[] }
  const broken = extensions.find(({ id }) => id === 'broken')
  expect(extensions.find(({ id }) => id === 'notes')).toMatchObject({
    state: 'running',
    runs: 'kernel',
    source: 'user',
    capabilities: ['tools'],
  })
  expect(broken).toMatchObject({ state: 'failed', source: 'project', runs: 'nowhere' })
  expect(broken?.problems.map(({ place }) => place).join()).toContain('manifest.yaml:')
  expect(await (await server.fetch('/ready')).text()).toContain('Extension broken: failed.')
  expect((await server.fetch('/v1/extensions', { token: 'nobody' })).status).toBe(401)
})

it('shows the state of each extension in the web chat, those with problems first', async () => {
  const browser = await openBrowser()
  try {
    const { page, problems } = await openChat(
      browser,
      { ...server, address: `${server.url}/#token=${server.token}` },
      { at: '#/extensions' },
    )
    const [broken, notes] = ['broken', 'Notes'].map((name) => page.getByRole('listitem', { name }))
    await notes?.getByText('running').waitFor()
    expect(await broken?.innerText()).toContain('Unknown key naem in the manifest. Did you mean name?')
    expect(await page.getByRole('main').getByRole('listitem').first().getAttribute('aria-label')).toBe('broken')
    expect(problems).toEqual([])
  } finally {
    await browser.close()
  }
})

it('keeps tools and agents of extensions when agent files change', async () => {
  await server.after(
    () => scene.put('clerk.ai', '---\ndescription: A clerk\nusage: anything\nmodels: lab/model\n---\nYou are the clerk.\n'),
    'Reloaded.',
  )
  const { agents } = (await (await server.fetch('/v1/agents')).json()) as { agents: { name: string; tools: string[]; agents: string[] }[] }
  const orchestrator = agents.find(({ name }) => name === 'orchestrator')
  expect(orchestrator?.agents).toEqual(expect.arrayContaining(['reviewer', 'clerk']))
  expect(orchestrator?.tools).toContain('notes__count')
})

it('an orchestrator in agents/ replaces the default; one without tools of its own gives built-in tools to extensions', async () => {
  const other = await serveScene()
  await other.put('extensions/README.md', 'Extensions of this project.')
  await other.put('agents/orchestrator.ai', '---\ndescription: Helps\nusage: anything\nmodels: lab/model\ntools: []\n---\nYou help.\n')
  const served = await other.serve([])
  try {
    const { agents } = (await (await served.fetch('/v1/agents')).json()) as { agents: { name: string; tools: string[] }[] }
    expect(agents.find(({ name }) => name === 'orchestrator')?.tools).toContain('file_manager__read_file')
  } finally {
    served.process.kill('SIGTERM')
  }
})

it('rules and hooks can name tools and agents of extensions, in all files, whether the extensions run or not', async () => {
  const other = await serveScene()
  await other.put('extensions/vault/manifest.yaml', `${notes.replaceAll('notes', 'vault')}enabled: false\n`)
  await other.put('extensions/vault/main.js', notesCode)
  const names = ['vault__order(secret*)', 'vault/*', 'agent__vault']
  const hooks = [{ name: 'watch', on: ['before_call'], tools: ['vault__order'], onFailure: 'open', command: ['true'] }]
  await other.put('.ai-agent.json', JSON.stringify({ approvals: { rules: [{ deny: names }] }, hooks }))
  const rules = `approvals: { rules: [{ deny: ["file_manager__*", ${names.map((each) => `"${each}"`).join(', ')}] }] }\n`
  await other.put('agents/orchestrator.ai', agentText('You help.', rules))
  const served = await other.serve(['--trust', '--deny', 'vault__order'])
  try {
    other.reply = ({ last }) =>
      last === 'Read' ? { call: { name: 'file_manager__read_file', input: { path: 'a.txt', reason: 'r' } } } : { text: last }
    const answer = await served.fetch('/v1/orchestrator', { json: { input: 'Read' } })
    expect(await answer.json()).toMatchObject({ status: 'completed', text: expect.stringMatching(/rule .*file_manager__\*/) })
    expect(served.log()).not.toContain('vault__order')
  } finally {
    served.process.kill('SIGTERM')
  }
})
