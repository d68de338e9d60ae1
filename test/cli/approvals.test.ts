import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { quietHost } from './teams.ts'
import { workbench } from './troupe.ts'

const { start, folder, ...processes } = await workbench()
const before = process.cwd()
beforeAll(() => vi.stubEnv('HOME', folder))
afterAll(() => {
  vi.unstubAllEnvs()
  process.chdir(before)
})

/** `troupe …` in a folder, in this process: one after the other. */
async function troupe(words: readonly string[], cwd: string) {
  process.chdir(cwd)
  const { host, stdout, stderr } = quietHost()
  const code = await main(words, { ...host, env: { PATH: process.env.PATH, XDG_STATE_HOME: join(folder, 'state') } })
  return { code, stdout: stdout(), stderr: stderr() }
}

const calls = (...files: readonly string[]): string =>
  files.map((file) => `{ tool: write_file, input: { path: ${file}, content: text } }`).join(', ')

/** A project with an agent that writes files, and a run of it that waits. */
async function waiting(name: string, files: readonly string[]) {
  const place = join(folder, name)
  await mkdir(join(place, '.git'), { recursive: true })
  await writeFile(join(place, '.git', 'HEAD'), 'ref: refs/heads/main\n')
  await writeFile(join(place, 'w.yaml'), `steps:\n  - calls: [${calls(...files)}]\n  - text: Done.\n  - text: Again.\n`)
  await writeFile(join(place, 'w.ai'), '---\ndescription: x\nmodels: script/w.yaml\ntools: [write_file]\n---\nWrite.\n')
  const at = (words: string) => troupe(words.split(' '), place)
  const ended = await at('run w.ai Go --json -q')
  expect(ended.code).toBe(6)
  const { sessionId }: { readonly sessionId: string } = JSON.parse(ended.stdout)
  return { place, id: sessionId, at, has: (file: string): boolean => existsSync(join(place, file)) }
}

describe('a run that waits', () => {
  test('is kept apart, and the commands that it names look there', async () => {
    const { at } = await waiting('apart', ['a.txt', 'b.txt'])
    const { sessionId }: { readonly sessionId: string } = JSON.parse((await at('run w.ai Go --json -q --data-dir dd')).stdout)
    const answered = await at(`approvals answer ${sessionId}:t1.s1.2/call yes --data-dir dd`)
    expect(answered.stderr).toContain('One more answer is required: troupe approvals list --data-dir dd\n')
    expect((await at('approvals list --data-dir dd')).stdout).toContain(sessionId)
  })

  test('is answered without a terminal, request by request, and continues', async () => {
    const { id, at, has } = await waiting('answered', ['a.txt', 'b.txt'])
    const both = await at(`approvals answer ${id} yes`)
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining(`The session ${id} has 2 open requests.`) })
    expect(both.stderr).toContain(`${id}:t1.s1.2/call  Write b.txt, a new file.\n    → troupe approvals answer ${id}:t1.s1.2/call yes\n`)
    expect(await at(`approvals answer ${id}:t1.s1.2/call perhaps`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Answer yes, no,'),
    })
    expect(await at(`approvals answer ${id}:t1.s1.2/call no, not this one`)).toMatchObject({
      code: 0,
      stdout: 'Answered: Write b.txt, a new file\n',
    })
    expect(await at(`approvals answer ${id}:t1.s1.2/call yes`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Already answered'),
    })
    const last = await at(`approvals answer ${id} yes --json`)
    expect(JSON.parse(last.stdout)).toEqual({
      ok: true,
      sessionId: id,
      approvalId: `${id}:t1.s1.1/call`,
      decision: { kind: 'approve', breadth: 'once' },
      waiting: 0,
      driven: false,
      goOn: `troupe run w.ai --resume ${id}`,
      exitCode: 0,
    })
    // Nobody has taken it up yet; it can no longer be changed, and that is told with what can be done.
    const late = await at(`approvals answer ${id} no`)
    expect(late).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Already answered: approved by troupe approvals answer. The request: Write a.txt, a new file'),
    })
    expect(late.stderr).toContain(`or end it: troupe approvals drop ${id}\n`)
    expect([has('a.txt'), has('b.txt')]).toEqual([false, false])
    const list = JSON.parse((await at('approvals list --json')).stdout)
    expect(list.waiting).toMatchObject([{ answer: { kind: 'approve' } }, { answer: { kind: 'deny', feedback: 'not this one' } }])
    expect(await at(`run w.ai --resume ${id}`)).toMatchObject({
      code: 0,
      stdout: 'Done.\n',
      stderr: expect.stringContaining('not this one'),
    })
    expect([has('a.txt'), has('b.txt')]).toEqual([true, false])
    expect(await at(`approvals answer ${id} yes`)).toMatchObject({ code: 2, stderr: expect.stringContaining('has no open request') })
    expect(await at(`approvals answer ${id}`)).toMatchObject({ code: 2, stderr: expect.stringContaining('The answer is missing.') })
  })

  test('the extent of a broader answer is shown before it is given, with a wrong word, and after', async () => {
    const { id, at } = await waiting('broader', ['src/q.txt'])
    const kept = [
      '    s for this session, p for this project: src/q.txt · s1 p1 any file in src/',
      '    s2 p2 any file in the workspace · s3 p3 any call of write_file',
    ]
    expect((await at('approvals list')).stdout).toContain(`${kept.join('\n')}\n    troupe approvals answer ${id} yes\n`)
    const wrong = await at(`approvals answer ${id} p9`)
    expect(wrong).toMatchObject({ code: 2, stdout: '' })
    for (const line of ['s p  src/q.txt', 's1 p1  any file in src/', 's2 p2  any file in the workspace', 's3 p3  any call of write_file'])
      expect(wrong.stderr).toContain(`\n  ${line}\n`)
    expect(wrong.stderr).toContain(
      '→ Answer yes, no, no REASON, or x to end the run; to approve more, s, s1, s2, s3 for this session, p, p1, p2, p3 for this project.\n',
    )
    const told = 'Write src/q.txt, a new file; for this project, until revoked: any file in the workspace'
    expect(await at(`approvals answer ${id} p2`)).toMatchObject({ code: 0, stdout: `Answered: ${told}\n` })
    expect((await at('approvals list')).stdout).toContain(`  ✓ approved: ${told}  write_file\n`)
  })

  test('a document says what was granted, too', async () => {
    const { id, place, at } = await waiting('documented', ['a.txt'])
    expect(JSON.parse((await at(`approvals answer ${id} s --json`)).stdout)).toEqual({
      ok: true,
      sessionId: id,
      approvalId: `${id}:t1.s1.1/call`,
      decision: { kind: 'approve', breadth: 'session' },
      granted: [{ key: `path:${join(place, 'a.txt')}`, label: 'a.txt' }],
      waiting: 0,
      driven: false,
      goOn: `troupe run w.ai --resume ${id}`,
      exitCode: 0,
    })
  })

  test.each([
    ['two', 2],
    ['seven', 7],
  ])('for %s answers is listed with commands that work', async (name, count) => {
    const files = Array.from({ length: count }, (_, index) => `${index}.txt`)
    const { id, at } = await waiting(name, files)
    const { stderr } = await at(`run w.ai --resume ${id}`)
    const commands = [...stderr.matchAll(/^ {2}troupe (.*)$/gm)].map(([, command = '']) => command)
    const answers = count === 2 ? files.map((_, index) => `approvals answer ${id}:t1.s1.${index + 1}/call yes`) : ['approvals list']
    expect(commands).toEqual([...answers, `run w.ai --resume ${id}`])
    for (const command of commands.slice(0, -1)) expect(await at(command)).toMatchObject({ code: 0 })
    expect(await at(commands.at(-1) ?? '')).toMatchObject(count === 2 ? { code: 0, stdout: 'Done.\n' } : { code: 6 })
  })

  test('continues under the current rules, and nobody is asked', async () => {
    const { id, at, has } = await waiting('allowed', ['a.txt'])
    expect(await at(`run w.ai --resume ${id} --allow write_file`)).toMatchObject({ code: 0, stdout: 'Done.\n' })
    expect(has('a.txt')).toBe(true)
  })

  test('is dropped: it has ended, nothing of it runs, and a prompt is its next turn', async () => {
    const { id, at, has } = await waiting('dropped', ['a.txt'])
    expect(await at(`approvals drop ${id} nothing`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('There is no session nothing in '),
    })
    expect(await at(`approvals drop ${id}`)).toMatchObject({ code: 0, stdout: `Dropped: ${id}\n` })
    expect((await at('approvals list')).stdout).toBe('')
    expect(await at(`approvals drop ${id}`)).toMatchObject({ code: 2, stderr: expect.stringContaining('already ended') })
    const ended = await at(`run w.ai --resume ${id}`)
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining(`The session ${id} was interrupted and has ended`) })
    expect(ended.stderr).toContain(`→ Pass a PROMPT for its next turn: troupe run w.ai "…" --resume ${id}`)
    expect(has('a.txt')).toBe(false)
    expect(await at('approvals list x')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('x  The action list takes no argument.'),
    })
    for (const action of ['list', `drop ${id}`])
      expect(await at(`approvals ${action} --all`)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('--all  Only revoke has this flag.'),
      })
    expect(await at('approvals drop')).toMatchObject({ code: 2, stderr: expect.stringContaining('The session ID is missing.') })
  })

  test('resumes in its original folder only; other projects list it on request', async () => {
    const { id, place, has } = await waiting('home', ['a.txt'])
    const { at: elsewhere, place: other } = await waiting('away', ['b.txt'])
    const refused = await elsewhere(`run ../home/w.ai --resume ${id} --allow write_file`)
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain(`Session ${id} belongs to the folder ${place}, but you are in ${other}.`)
    const [, command = ''] = /→ Resume it there: cd \S+ && troupe (.*)\n/.exec(refused.stderr) ?? []
    expect(command).toBe(`run ${place}/w.ai --resume ${id} --allow write_file`)
    expect([has('a.txt'), existsSync(join(other, 'a.txt'))]).toEqual([false, false])
    expect((await elsewhere('approvals list')).stdout).not.toContain(id)
    const everywhere = (await elsewhere('approvals list --everywhere')).stdout
    expect(everywhere).toContain(`${id}  w  w.ai in ${place} · since `)
    expect(everywhere).toContain(`  cd ${place} && troupe run w.ai --resume ${id}\n`)
    expect(await troupe(command.split(' '), place)).toMatchObject({ code: 0, stdout: 'Done.\n' })
    expect(await readFile(join(place, 'a.txt'), 'utf8')).toBe('text')
  })

  test('says so where its folder is gone', async () => {
    const { id, place } = await waiting('gone', ['a.txt'])
    const agents = join(folder, 'agents')
    await mkdir(agents, { recursive: true })
    for (const file of ['w.ai', 'w.yaml']) await writeFile(join(agents, file), await readFile(join(place, file)))
    await rm(place, { recursive: true })
    const ended = await troupe(['run', 'w.ai', '--resume', id], agents)
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining(`drop the session: troupe approvals drop ${id}`) })
  })
})

test('an interrupted run prints the command that resumes it', async () => {
  await writeFile(join(folder, 'slow.yaml'), 'steps: [{ text: never, delay: 1h }]')
  await writeFile(join(folder, 'slow.ai'), '---\ndescription: x\nmodels: script/slow.yaml\n---\nWait.\n')
  const running = start(['run', 'slow.ai', 'Go'])
  await running.says('step 1')
  running.process.kill('SIGINT')
  const { code, stderr } = await running.ended
  expect(code).toBe(130)
  const [, id = ''] = /Continue: troupe run slow\.ai "…" --resume (\S+)\n$/.exec(stderr) ?? []
  await writeFile(join(folder, 'slow.yaml'), 'steps: [{ text: Next. }]')
  expect(await processes.troupe(['run', 'slow.ai', 'And now?', '--resume', id])).toMatchObject({ code: 0, stdout: 'Next.\n' })
})
