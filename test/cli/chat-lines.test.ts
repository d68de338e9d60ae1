import { expect, test } from 'vitest'
import { workbench } from './troupe.ts'

const { agent, troupe } = await workbench()
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
