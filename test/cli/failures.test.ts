import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { expectError } from './published.ts'
import { workbench } from './troupe.ts'

const { agent, troupe, folder } = await workbench()

const put = async (path: string, text: string): Promise<void> => {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), text)
}
await put('broken/a.ai', '---\ndescription: x\nmodls: a\n---\nGo.\n')
await put('broken/extensions/wrong/manifest.yaml', 'id: wrong\nnme: Wrong\n')
const library = { command: process.execPath, args: [join(import.meta.dirname, '../../examples/11-mcp/library-server.mjs')] }
await put('calls/.home/.ai-agent/.ai-agent.json', JSON.stringify({ mcpServers: { none: { command: 'no-such-program' }, library } }))
const writer = await agent(
  'writer',
  'steps: [{ calls: [{ tool: write_file, input: { path: a.txt, content: a } }] }, { text: Done. }]',
  'description: x\nmodels: script/writer.yaml\ntools: [write_file]',
)
const failing = await agent('failing', 'steps: [{ fault: auth }]')

/** A failure of each kind: refused, reported in a list, in the middle of a run, suspended. */
const failures: readonly { readonly command: string; readonly code: string; readonly exit: number; readonly cwd?: string }[] = [
  { command: 'run none.ai Go', code: 'agent_file_invalid', exit: 2 },
  { command: `run ${failing} Go`, code: 'model', exit: 3 },
  { command: `run ${writer} Go`, code: 'approval', exit: 6 },
  { command: `run ${writer} Go --deny write_file --strict`, code: 'denied', exit: 6 },
  { command: 'validate', code: 'agent_file_invalid', exit: 2, cwd: 'broken' },
  { command: 'agents list', code: 'agent_file_invalid', exit: 2, cwd: 'broken' },
  { command: 'doctor', code: 'command_failed', exit: 1, cwd: 'broken' },
  { command: 'extensions validate', code: 'extension_failed', exit: 2, cwd: 'broken' },
  { command: 'extensions show none', code: 'usage', exit: 2 },
  { command: 'sessions show none', code: 'usage', exit: 2 },
  { command: 'approvals answer none yes', code: 'usage', exit: 2 },
  { command: 'mcp show none', code: 'usage', exit: 2 },
  { command: 'mcp call none tool', code: 'tools_unavailable', exit: 1, cwd: 'calls' },
  { command: 'mcp call library lend_book {"id":"b1","to":"Ada"}', code: 'denied', exit: 6, cwd: 'calls' },
  { command: 'mcp call library lend_book {"id":7} --allow library/*', code: 'command_failed', exit: 1, cwd: 'calls' },
  { command: 'config show none.ai', code: 'agent_file_invalid', exit: 2 },
  { command: 'trust none', code: 'config_invalid', exit: 2 },
  { command: 'usage --since yesterdayish', code: 'usage', exit: 2 },
]

test.concurrent.each(failures)('$command --json: $code', async ({ command, code, exit, cwd = '' }) => {
  const home = join(folder, cwd, '.home')
  const ended = await troupe([...command.split(' '), '--json'], { cwd: join(folder, cwd), env: { HOME: home } })
  const document = JSON.parse(ended.stdout)
  expect([ended.code, document]).toMatchObject([exit, { ok: false, error: { code }, exitCode: exit }])
  expectError(document.error)
  expect(document.error.message).not.toBe('')
})
