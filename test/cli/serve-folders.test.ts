import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { agentText, type Served, serveScene } from './serve-scene.ts'

// `troupe serve` in one folder, and sessions that `troupe run` left there and in another folder. All are in the store of the user.

const scene = await serveScene()
const [here, there] = [join(scene.folder, 'here'), join(scene.folder, 'there')]
const writer = agentText('You write.', 'tools: [write_file]\n')
for (const path of ['here/writer.ai', 'there/writer.ai', 'here/extra/writer.ai']) await scene.put(path, writer)
await scene.put('here/team.ai', agentText('You lead.', 'agents: [./extra/helper.ai]\ntools: [write_file]\n'))
await scene.put('here/extra/helper.ai', agentText('You help.', 'output: { format: markdown }\n'))

let calls = 0
/** Writes a file, then ends. */
scene.reply = ({ last }) =>
  last.startsWith('Write')
    ? { call: { name: 'write_file', input: { path: `out-${++calls}.txt`, content: last } } }
    : { text: `Done: ${last}` }

/** A run that nobody was there for: its id. */
async function leave(cwd: string, more: readonly string[] = [], file = 'writer.ai'): Promise<string> {
  const { code, stdout, stderr } = await scene.troupe(['run', file, 'Write it', '--json', ...more], { cwd })
  expect([code, stderr]).toEqual([6, expect.stringContaining('')])
  return (JSON.parse(stdout) as { sessionId: string }).sessionId
}

interface Document {
  readonly sessionId: string
  readonly workspace?: string
  readonly project: string
  readonly status: string
  readonly continue: { readonly here: boolean; readonly reason?: string; readonly command?: string }
}
interface Approval {
  readonly session: Document
  readonly request: { readonly id: string }
}

let served: Served
const json = async <Body>(path: string, options?: Parameters<Served['fetch']>[1]) => {
  const response = await served.fetch(path, options)
  return { status: response.status, body: (await response.json()) as Body }
}
const listed = async (query = '', token?: string) =>
  (await json<{ sessions: readonly Document[] }>(`/v1/sessions${query}`, token === undefined ? {} : { token })).body.sessions
const approvals = async (query = '') => (await json<{ approvals: readonly Approval[] }>(`/v1/approvals${query}`)).body.approvals
const document = async (id: string) => (await json<{ session: Document }>(`/v1/sessions/${id}`)).body.session

const answer = async (id: string) => {
  const { body } = await json<{ approvals: readonly { id: string }[] }>(`/v1/sessions/${id}/approvals`)
  return json<object>(`/v1/sessions/${id}/approvals/${body.approvals[0]?.id}`, { json: { kind: 'approve' } })
}
/** How the turn has ended. */
const ended = async (id: string): Promise<string> => {
  await (await served.fetch(`/v1/sessions/${id}/events?until=turn`, { headers: { accept: 'text/event-stream' } })).text()
  const { outcome } = (await json<{ outcome: { status: string; text: string } }>(`/v1/sessions/${id}`)).body
  return `${outcome.status}: ${outcome.text}`
}

beforeAll(async () => {
  served = await scene.serve(['--deny', 'shell'], { cwd: 'here' })
})

describe('sessions of another folder', () => {
  test('are in lists only on request, with their folder and the command; messages, answers and stops are refused unstored', async () => {
    const [own, other] = [await leave(here), await leave(there, ['--deny', 'shell(rm *)'])]
    expect((await listed()).map(({ sessionId }) => sessionId)).toEqual([own])
    expect((await approvals()).map(({ session }) => session.sessionId)).toEqual([own])
    const command = `cd ${there} && troupe run writer.ai --resume ${other} --deny 'shell(rm *)'`
    const elsewhere = {
      project: 'elsewhere',
      workspace: there,
      continue: { here: false, reason: `It belongs to another folder: ${there}.`, command },
    }
    expect(await listed('?folder=all')).toMatchObject([
      { sessionId: other, ...elsewhere },
      { sessionId: own, project: 'here', continue: { here: true } },
    ])
    expect((await approvals('?folder=all')).map(({ session }) => session)).toContainEqual(expect.objectContaining(elsewhere))
    const before = await document(other)
    const refusal = { error: { code: 'session_mismatch', remedy: `Continue it in a shell: ${command}` } }
    for (const refused of [
      await answer(other),
      await json(`/v1/sessions/${other}/messages`, { json: { input: 'More' } }),
      await json(`/v1/sessions/${other}/stop`, { method: 'POST' }),
      await json(`/v1/sessions/${other}/interrupt`, { method: 'POST' }),
    ])
      expect(refused).toMatchObject({ status: 409, body: refusal })
    expect(await document(other)).toEqual(before)
    // The printed command works, and asks again: nothing was stored.
    const words = command
      .replace(/^.*&& troupe /, '')
      .replace("'shell(rm *)'", 'shell(rm *)')
      .split(/ (?!\*)/)
    expect(await scene.troupe(words, { cwd: there })).toMatchObject({ code: 6 })
  })

  test('a token without admin sees neither folders nor commands', async () => {
    const { stdout } = await scene.troupe(['token', 'create', '--name', 'ci', '--scopes', 'run,read,approve'])
    const [token = ''] = /trp_\S+/.exec(stdout) ?? []
    const second = await scene.serve([], { cwd: 'there' })
    const { sessionId } = (await (await second.fetch('/v1/sessions', { token, json: { agent: 'writer', input: 'Hi' } })).json()) as Document
    await (await second.fetch(`/v1/sessions/${sessionId}/events?until=turn`, { headers: { accept: 'text/event-stream' } })).text()
    second.process.kill('SIGTERM')
    await second.ended
    expect(await listed('', token)).toEqual([])
    const [other] = await listed('?folder=all', token)
    expect(other).toMatchObject({ sessionId, project: 'elsewhere', continue: { here: false } })
    const refused = await json(`/v1/sessions/${sessionId}/messages`, { token, json: { input: 'More' } })
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'session_mismatch' } } })
    for (const text of [JSON.stringify(other), JSON.stringify(refused), JSON.stringify((await json('/v1/status', { token })).body)])
      expect(text).not.toContain(scene.folder)
  })
})

describe('a session that `troupe run` left in the folder', () => {
  test('continues after the answer if the server applies its flags, and a terminal can resume it afterwards', async () => {
    const id = await leave(here, ['--deny', 'shell', '--max-tokens', '90000'])
    expect(await document(id)).toMatchObject({ status: 'suspended', project: 'here', continue: { here: true } })
    const { status, body } = await answer(id)
    expect([status, body]).toEqual([202, { clientId: expect.any(String), driven: true }])
    expect(await ended(id)).toMatch(/^completed: Done: /)
    expect(await readFile(join(here, `out-${calls}.txt`), 'utf8')).toBe('Write it')
    // Nobody holds it.
    const resumed = await scene.troupe(['run', 'writer.ai', 'And more', '--resume', id, '--json'], { cwd: here })
    expect(JSON.parse(resumed.stdout)).toMatchObject({ status: 'completed' })
    expect(await json(`/v1/sessions/${id}/messages`, { json: { input: 'Last' } })).toMatchObject({ status: 202, body: { driven: true } })
    expect(await ended(id)).toBe('completed: Done: Last')
    // It keeps the limits that it was started with.
    const { events } = (await json<{ events: readonly { type: string }[] }>(`/v1/sessions/${id}/events`)).body
    expect(events.filter(({ type }) => type === 'interaction.session.configured')).toEqual([])
  })

  test.each([
    [['--deny', 'shell(rm *)'], "This server does not apply the flags that the session was started with: --deny 'shell(rm *)'."],
    [['--override', 'tools=[write_file,read_file]'], 'This server does not apply the flags that the session was started with: --override'],
    [['--allow', 'read_file'], 'This server does not apply the flags that the session was started with: --allow read_file.'],
    [['--deny', 'shell', '--model', 'lab/other'], 'This server does not have its model lab/other.'],
  ])('with %j it is read-only, with the reason and the command', async (flags, reason) => {
    const id = await leave(here, flags)
    const { continue: continues } = await document(id)
    expect(continues).toMatchObject({ here: false, reason: expect.stringContaining(reason) })
    expect(continues.command).toMatch(new RegExp(`^troupe run writer\\.ai --resume ${id}`))
    expect(await answer(id)).toMatchObject({ status: 409, body: { error: { code: 'session_mismatch' } } })
  })

  test('of another file or a team with --model it is read-only, too', async () => {
    const [other, team] = [await leave(here, [], 'extra/writer.ai'), await leave(here, ['--model', 'lab/model'], 'team.ai')]
    expect((await document(other)).continue).toMatchObject({ here: false, reason: 'The agent "writer" is served from another file here.' })
    expect((await document(team)).continue).toMatchObject({ here: false, reason: expect.stringContaining('--model lab/model') })
  })

  /** A `troupe run` whose model does not answer. */
  async function hanging(title: string) {
    const asked = Promise.withResolvers<void>()
    const { reply } = scene
    scene.reply = () => {
      asked.resolve()
      return new Promise(() => {})
    }
    const { process, ended: exited } = scene.start(['run', 'writer.ai', title, '--json'], { cwd: here })
    await asked.promise
    await expect.poll(() => listed('?limit=1')).toMatchObject([{ title, status: 'running', continue: { here: true } }])
    const [{ sessionId: id } = { sessionId: '' }] = await listed('?limit=1')
    const kill = async (): Promise<void> => {
      process.kill('SIGKILL')
      await exited
      scene.reply = reply
    }
    return { id, kill, send: (input: string) => json(`/v1/sessions/${id}/messages`, { json: { input } }) }
  }
  const taken = { status: 202, body: { driven: true } }

  test('and that was killed is shown as suspended, and continues by a message', async () => {
    const { id, kill, send } = await hanging('Hello')
    await kill()
    await expect.poll(() => document(id), { timeout: 10_000 }).toMatchObject({ status: 'suspended', reason: 'released' })
    expect(await send('Second')).toMatchObject(taken)
    await expect.poll(() => ended(id), { timeout: 10_000 }).toBe('completed: Done: Second')
  })

  test('takes messages while it runs; if it is killed then, they are answered here', async () => {
    const { id, kill, send } = await hanging('Good morning')
    expect(await send('Second')).toMatchObject(taken)
    await kill()
    await expect.poll(() => ended(id), { timeout: 10_000 }).toBe('completed: Done: Second')
  })
})

test('an answer at the terminal says that nothing runs yet, and what continues it', async () => {
  const id = await leave(here)
  const { stdout, stderr } = await scene.troupe(['approvals', 'answer', id, 'yes'], { cwd: here })
  expect(stdout).toContain('Answered:')
  expect(stderr).toContain(`Nothing runs yet. Resume the session: troupe run writer.ai --resume ${id}`)
  served.process.kill('SIGTERM')
  await served.ended
})
