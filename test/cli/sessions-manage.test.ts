import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { workbench } from './troupe.ts'

const { agent, troupe, folder } = await workbench()

const data = ['--data-dir', join(folder, 'data')]
const sessions = (...words: readonly string[]) => troupe(['sessions', ...words, ...data])
const listed = async (...filter: readonly string[]) => {
  const { code, stdout } = await sessions('list', '--json', ...filter)
  expect(code).toBe(0)
  return (JSON.parse(stdout) as { readonly sessions: readonly { readonly sessionId: string; readonly [key: string]: unknown }[] }).sessions
}
const run = async (file: string, prompt: string) => expect(await troupe(['run', file, prompt, ...data])).toMatchObject({ code: 0 })

test('sessions are found by agent, status, label, title and words, and renamed; those of the command line belong to local', async () => {
  const [one, two] = [await agent('one', 'steps: [{ text: One. }, { text: Again. }]'), await agent('two', 'steps: [{ text: Two. }]')]
  await run(one, 'Fly to Oslo')
  await run(two, 'Sail to Oslo')
  const [sail, fly] = await listed()
  expect([sail, fly]).toMatchObject([{ owner: 'local' }, { owner: 'local', title: 'Fly to Oslo' }])
  expect(await listed('--agent', 'one')).toEqual([fly])
  expect(await listed('--title', 'SAIL')).toEqual([sail])
  expect(await listed('--search', 'SAIL')).toMatchObject([
    { ...sail, match: { kind: 'message', snippet: 'Sail to Oslo', ranges: [[0, 4]] } },
  ])
  expect(await listed('--status', 'failed', '--status', 'completed', '--title', 'oslo')).toEqual([sail, fly])
  expect(await listed('--label', 'sea')).toEqual([])
  expect((await sessions('list', '--status', 'failed')).stderr).toBe(
    `No matching sessions of the project ${folder} in ${join(folder, 'data')}.\n`,
  )

  const id = fly?.sessionId ?? ''
  expect(await sessions('rename', id, 'A', 'weekend', 'away')).toMatchObject({ code: 0, stdout: `Renamed: ${id}  “A weekend away”\n` })
  expect(await troupe(['run', one, 'More', '--resume', id, ...data])).toMatchObject({ code: 0, stdout: 'Again.\n' })
  expect(await listed('--title', 'weekend')).toMatchObject([{ sessionId: id, title: 'A weekend away' }])
  expect(JSON.parse((await sessions('rename', id, 'x', '--json')).stdout)).toEqual({ ok: true, sessionId: id, title: 'x', exitCode: 0 })
})

test('a fork goes on for itself, from the event that was named', async () => {
  const file = await agent('talk', 'steps: [{ text: First. }, { text: Second. }]')
  await run(file, 'Hello')
  const [original] = await listed('--agent', 'talk')
  const id = original?.sessionId ?? ''
  const journal = (await sessions('show', id, '--stream-json')).stdout

  const forked = await sessions('fork', id)
  const forkId = forked.stdout.trim()
  expect(forked.stderr).toBe(`Continue it: troupe run talk.ai "…" --resume ${forkId} ${data.join(' ')}\n`)
  expect(await troupe(['run', file, 'And?', '--resume', forkId, ...data])).toMatchObject({ code: 0, stdout: 'Second.\n' })
  expect((await sessions('show', id, '--stream-json')).stdout).toBe(journal)

  const early = JSON.parse((await sessions('fork', id.slice(0, -2), '--at', '3', '--json')).stdout)
  expect(early).toMatchObject({
    ok: true,
    title: 'Hello',
    owner: 'local',
    standing: { kind: 'ended', status: 'interrupted' },
    forkedFrom: { sessionId: id, seq: 3 },
  })
  expect(await listed('--agent', 'talk')).toHaveLength(3)
  const beyond = await sessions('fork', id, '--at', '999')
  expect(beyond.code).toBe(2)
  expect(beyond.stderr).toMatch(/--at {2}Expected the seq of an event, from 1 to \d+, found 999/)
})

test('an export has everything but secrets, on standard output or in a file that only its user reads', async () => {
  const secret = 'sk-0123456789abcdef'
  const file = await agent('leak', `steps: [{ text: The key is ${secret}. }]`)
  await run(file, 'Tell')
  const [session] = await listed('--agent', 'leak')
  const id = session?.sessionId ?? ''
  const env = { OPENAI_API_KEY: secret }
  const { stdout } = await troupe(['sessions', 'export', id, ...data], { env })
  expect(stdout).not.toContain(secret)
  expect(stdout).toContain('[redacted:OPENAI_API_KEY]')
  const exported = JSON.parse(stdout)
  expect(exported).toMatchObject({ format: 'troupe.session', version: 1, session: { sessionId: id, owner: 'local' }, blobs: {} })
  expect(exported.events.map(({ seq }: { readonly seq: number }) => seq)).toEqual(exported.events.map((_: unknown, i: number) => i + 1))

  const path = join(folder, 'leak.json')
  expect(await troupe(['sessions', 'export', id, '--output', path, ...data], { env })).toMatchObject({
    code: 0,
    stdout: '',
    stderr: `Wrote ${exported.events.length} events and 0 stored outputs to ${path}.\n`,
  })
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(exported)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(await sessions('export', id, '--output', join(folder, 'no', 'folder'))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('The session was not exported.'),
  })
})

test('what is wrong on the command line is said, with what would be right', async () => {
  const refused = async (...words: readonly string[]) => {
    const { code, stderr } = await sessions(...words)
    expect(code).toBe(2)
    return stderr
  }
  expect(await refused('fork')).toContain('The session ID is missing.')
  expect(await refused('export', 'nothing')).toContain('There is no session nothing in')
  expect(await refused('rename', 'nothing')).toContain('The title is missing.')
  expect(await refused('rename', 'nothing', 'x'.repeat(201))).toContain('Expected one line of 1 to 200 characters')
  expect(await refused('fork', 'a', 'b')).toContain('The action fork takes one ID.')
  expect(await refused('list', '--at', '3')).toContain('Only fork has this flag.')
  expect(await refused('show', 'a', '--label', 'x')).toContain('Only list has this flag.')
  expect(await refused('list', '--status', 'done')).toContain('Use --status running, --status suspended')
  expect(await refused('forck', 'a')).toContain('Unknown action "forck".')
})
