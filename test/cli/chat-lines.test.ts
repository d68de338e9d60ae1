import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { workbench } from './troupe.ts'

const { agent, troupe, folder } = await workbench()
const write = 'calls: [{ tool: write_file, input: { path: a.txt, content: x } }]'

test('each line is a message, and standard output has the answers', async () => {
  const file = await agent('two', 'steps: [{ text: "Hello **you**." }, { text: Again. }]')
  const said = await troupe(['chat', file], { input: 'One\n\nTwo\n' })
  expect(said).toMatchObject({ code: 0, stdout: 'Hello **you**.\nAgain.\n', stderr: '' })
})

test('commands are lines, too, and two slashes begin a message', async () => {
  const file = await agent('slash', 'steps: [{ text: Said. }]')
  const said = await troupe(['chat', file], { input: '/budget\n//etc is full\n/quit\nnever\n' })
  expect(said).toMatchObject({ code: 0, stdout: '  Steps in a turn  0 of 10\nSaid.\n' })
})

test('the first turn that does not end well ends the chat with the exit code of a run', async () => {
  const short = await troupe(['chat', await agent('short', 'steps: [{ text: Only. }]')], { input: 'One\nTwo\nThree\n' })
  expect(short).toMatchObject({ code: 2, stdout: 'Only.\n' })
  expect(short.stderr).toMatch(/error: .*has no reply left[\s\S]*Continue: troupe chat short\.ai --resume /)
  const settings = 'description: A test\nmodels: script/asks.yaml\ntools: [write_file]'
  const asks = await troupe(['chat', await agent('asks', `steps: [{ ${write} }, { text: Done. }]`, settings)], { input: 'One\nTwo\n' })
  expect(asks).toMatchObject({ code: 6, stdout: '' })
  const [, id = ''] = /--resume (\S+)/.exec(asks.stderr) ?? []
  expect(await troupe(['sessions', 'list'])).toMatchObject({ stdout: expect.stringContaining(`troupe chat asks.ai --resume ${id}`) })
  expect(await troupe(['approvals', 'answer', id, 'yes'])).toMatchObject({ code: 0 })
  const more = await troupe(['chat', 'asks.ai', '--resume', id, '--plain'], { input: '' })
  expect(more.code).toBe(0)
})

test('a session keeps what it was denied', async () => {
  const file = await agent('denied', 'steps: [{ text: One. }, { text: Two. }]')
  await troupe(['chat', file, '--deny', 'shell(rm *)'], { input: 'Go\n' })
  const refused = await troupe(['chat', file, '--continue'], { input: 'Go on\n' })
  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(refused.stderr).toContain("--deny 'shell(rm *)'")
  expect(await troupe(['chat', file, '--continue', '--deny', 'shell(rm *)'], { input: 'Go on\n' })).toMatchObject({
    code: 0,
    stdout: 'Two.\n',
  })
})

test('--continue goes on with the last session of the named agent, and a session stays with its agent', async () => {
  const one = await agent('one', 'steps: [{ text: First. }, { text: Next. }]')
  const other = await agent('other', 'steps: [{ text: Other. }]')
  await troupe(['chat', one], { input: 'Go\n' })
  await troupe(['chat', other], { input: 'Go\n' })
  expect(await troupe(['chat', 'one', '--continue'], { input: 'Go on\n' })).toMatchObject({ code: 0, stdout: 'Next.\n' })
  const { stdout } = await troupe(['sessions', 'list', '--json'])
  const { sessionId } = JSON.parse(stdout).sessions.find((session: { readonly agent: string }) => session.agent === 'other')
  const refused = await troupe(['chat', 'one', '--resume', sessionId], { input: 'Go\n' })
  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(refused.stderr).toMatch(/is one of other, not of one\.\n→ Continue it: troupe chat --resume /)
})

test('commands that are wrong say so with the words of a chat, and leave the settings as they were', async () => {
  const file = await agent('wrong', 'steps: [{ text: Said. }]')
  for (const [line, message] of [
    ['/model nowhere/x', /Unknown provider `nowhere`/],
    ['/prompt', /\/prompt must name a server and one of its prompts[\s\S]*Write it like \/prompt github\/review number=7/],
    ['/agent nobody', /There is no agent nobody/],
  ] as const) {
    const said = await troupe(['chat', file], { input: `${line}\n` })
    expect(said.stderr).toMatch(message)
    expect(said.stdout).toBe('')
  }
  const help = await troupe(['chat', file], { input: '/help\n/clear\n/exit\nnever\n' })
  expect(help).toMatchObject({ code: 0, stdout: expect.stringMatching(/ \/quit [\s\S]*\nNew session with wrong\.\n$/) })
  // Keys of lines that are drawn.
  expect(help.stdout).not.toContain('Alt-Enter')
})

test('skills of the agent are commands', async () => {
  await mkdir(join(folder, '.agents', 'skills', 'write-letter'), { recursive: true })
  await writeFile(
    join(folder, '.agents', 'skills', 'write-letter', 'SKILL.md'),
    '---\nname: write-letter\ndescription: How to write letters\n---\nBe polite.\n',
  )
  const settings = 'description: A test\nmodels: script/skilled.yaml\nskills: [write-letter]'
  const file = await agent('skilled', 'steps: [{ text: Dear you. }]', settings)
  const said = await troupe(['chat', file], { input: '/help\n/write-letter To Anna\n/export out.json\n' })
  expect(said.stdout).toMatch(/\/write-letter \[TEXT\] +Skill: How to write letters\nDear you\.\n/)
  const { events } = JSON.parse(await readFile(join(folder, 'out.json'), 'utf8'))
  const { parts } = events.find(({ type }: { readonly type: string }) => type === 'interaction.input.accepted')
  expect(parts).toEqual([{ type: 'text', text: 'Load the skill write-letter and follow it.\n\nTo Anna' }])
})

test('a folder without agents is reported, whatever is asked', async () => {
  const empty = join(folder, 'empty')
  await mkdir(empty)
  for (const args of [[], ['--continue'], ['--resume', 'x']])
    expect(await troupe(['chat', ...args], { cwd: empty })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/error: There is no agent in this folder\.\n→ Create a sample project: troupe init/),
    })
})

test('an agent that others call is named by its file', async () => {
  const team = join(folder, 'team')
  await mkdir(team)
  const called = 'description: A test\nmodels: rehearsal\nusage: anything\noutput: { format: markdown }'
  await writeFile(join(team, 'called.ai'), `---\n${called}\n---\nYou are called.\n`)
  await writeFile(join(team, 'calls.ai'), '---\ndescription: A test\nmodels: rehearsal\nagents: [./called.ai]\n---\nYou call.\n')
  const said = await troupe(['chat', 'called'], { cwd: team, input: 'Go\n' })
  expect(said).toMatchObject({ code: 2, stderr: expect.stringMatching(/Other agents call called[\s\S]*troupe chat called\.ai/) })
})

test('the remedy of a limit names no flag that a chat does not have', async () => {
  const settings = 'description: A test\nmodels: script/poor.yaml\nlimits: { maxCostUsd: 0.000001 }'
  const said = await troupe(['chat', await agent('poor', 'price: { input: 3, output: 15 }\nsteps: [{ text: One. }]', settings)], {
    input: 'Go\n',
  })
  expect(said).toMatchObject({ code: 5, stdout: '' })
  expect(said.stderr).toMatch(/Raise limits\.maxCostUsd of poor\.\n/)
})

test.each([
  [['chat'], /error: There are \d+ agents: [\s\S]*Name one: troupe chat AGENT/],
  [['chat', 'nobody'], /error: There is no agent nobody/],
  [['chat', '--resume', 'nothing'], /error: There is no session nothing/],
  [['chat', '--connect', 'here'], /--connect expects the address of a server/],
  [['chat', '--connect', 'http://127.0.0.1:1'], /The server at http:\/\/127\.0\.0\.1:1 does not answer\./],
  [['chat', '--connect', 'http://127.0.0.1:1', '--deny', 'shell'], /Cannot be combined with --deny|Cannot be combined with --connect/],
])('%j is refused', async (args, message) => {
  const said = await troupe(args, { input: 'Go\n' })
  expect(said.code).toBe(2)
  expect(said.stderr).toMatch(message)
})
