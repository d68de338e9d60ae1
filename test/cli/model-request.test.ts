import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { workbench } from './troupe.ts'

const { agent, troupe, start, folder } = await workbench()

await agent('kid', 'steps:\n  - text: Found it.\n', 'description: A kid\nusage: a part\nmodels: script/kid.yaml\noutput: { format: text }')
const script =
  'steps:\n  - calls: [{ tool: agent__kid, input: { prompt: Look, reason: To know } }]\n  - text: All is found.\n  - text: Again.\n'
const settings = 'description: A test\nmodels: script/boss.yaml\nagents: [./kid.ai]\ntools: [list_files]\nparameters: { temperature: 0.2 }'
const file = await agent('boss', script, settings)
const run = await troupe(['run', file, 'Find the keys', '--json'])
const { sessionId: id } = JSON.parse(run.stdout) as { readonly sessionId: string }
const show = (...more: readonly string[]) => troupe(['sessions', 'show', id, ...more])

test('system prompt, messages, tools and parameters of a step are printed', async () => {
  const { code, stdout, stderr } = await show('--request', 't1.s2')
  expect([code, stderr]).toEqual([0, ''])
  const blocks = stdout.split('\n\n').map((block) => block.split('\n'))
  expect(blocks.map(([title]) => title).filter((title) => title && !title.startsWith(' '))).toEqual([
    'System prompt',
    'Messages (3)',
    'Tools (2)',
    'Parameters',
  ])
  expect(blocks[0]).toContain('  You are tested.')
  expect(stdout).toContain(
    [
      'Messages (3)',
      '  user',
      '    Find the keys',
      '  assistant',
      '    → agent__kid {"prompt":"Look","reason":"To know"}',
      '  tool',
      '    ← agent__kid',
      '      Found it.',
    ].join('\n'),
  )
  expect(stdout).toContain('  agent__kid\n    A kid')
  expect(stdout).toContain('Parameters\n  temperature: 0.2')
})

test('--json prints exactly the request; a child, an attempt and the number of a step can be named', async () => {
  const { stdout } = await show('--request', 't1.s1', '--json')
  const request = JSON.parse(stdout)
  expect(Object.keys(request)).toEqual(['system', 'messages', 'tools', 'toolChoice', 'parameters'])
  expect(request.messages).toEqual([{ role: 'user', parts: [{ type: 'text', text: 'Find the keys' }] }])
  expect(JSON.parse((await show('--request', '1', '--attempt', '1', '--json')).stdout)).toEqual(request)
  const events = (await show('--stream-json')).stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
  const child = events.find(({ agentPath }) => agentPath !== undefined && agentPath !== 'root')
  const path: string = child.agentPath
  const ofChild = JSON.parse((await show('--request', 't1.s1', '--child', path, '--json')).stdout)
  expect(ofChild.messages).toMatchObject([{ role: 'user', parts: [{ type: 'text', text: expect.stringContaining('Look') }] }])
  for (const name of [child.sessionId, path.replace(/^root\//, '')])
    expect(JSON.parse((await show('--request', '1', '--child', name, '--json')).stdout)).toEqual(ofChild)
})

test('a wrong step, child or attempt is refused, with those that exist', async () => {
  const refused = async (...words: readonly string[]) => {
    const { code, stdout, stderr } = await show(...words)
    expect([words, code, stdout]).toEqual([words, 2, ''])
    return stderr
  }
  const unknown = await refused('--request', 't9.s9')
  expect(unknown).toContain('There is no step "t9.s9"')
  expect(unknown).toMatch(/t1\.s1 {2}script\/boss\.yaml\n\n {2}t1\.s2/)
  expect(await refused('--request', '7')).toContain('t1.s2')
  expect(await refused('--request', 't1.s1', '--child', 'nobody')).toMatch(/There is no child "nobody"[\s\S]*root\/kid/)
  expect(await refused('--request', 't1.s1', '--attempt', '2')).toContain('Step t1.s1 has no attempt 2')
  expect(await refused('--request', 't1.s1', '--attempt', '0')).toContain('Expected a number from 1 on, not "0"')
  expect(await refused('--attempt', '1')).toContain('Has no effect without --request')
  expect((await show('--request', 't1.s1', '--stream-json')).stdout).toContain('Cannot be combined with --stream-json.')
  expect((await troupe(['sessions', 'list', '--request', 't1.s1'])).stderr).toContain('Only show has this flag.')
})

test('a number that several turns have is refused; a session of an older version says that its tools were not recorded', async () => {
  expect(await troupe(['run', file, 'More', '--resume', id])).toMatchObject({ code: 0 })
  expect(await show('--request', '1')).toMatchObject({ code: 2, stderr: expect.stringContaining('t2.s1') })
  expect((await show('--request', '2')).code).toBe(0)
  const old = join(folder, 'old')
  await mkdir(old)
  await writeFile(join(old, 'troupe.db'), gunzipSync(await readFile(new URL('../stores/schema-1.db.gz', import.meta.url))))
  const { code, stdout, stderr } = await troupe(['sessions', 'show', 'id-2', '--request', 't1.s1', '--data-dir', old])
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain('were not recorded')
  const document = await start(['sessions', 'show', 'id-2', '--request', 't1.s1', '--data-dir', old, '--json']).ended
  expect([document.code, JSON.parse(document.stdout)]).toMatchObject([1, { ok: false, error: { code: 'request_not_recorded' } }])
})
