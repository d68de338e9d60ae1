import { expect, test } from 'vitest'
import { troupe } from '../agents/command.ts'
import { folder } from '../agents/folder.ts'

// What people write at first: each answer names what to write instead, in one sentence.

const agent = (settings: string) => `---\n${settings}\nmodels: rehearsal\n---\nYou help.\n`
const plain = agent('description: A')

test.each<[what: string, settings: string, remedy: string]>([
  ['a star without quotes', 'description: A\ntools: *', 'Put a value that begins with `*` in quotes: `tools: "*"`.'],
  ['a star at the beginning', 'description: A\ntools: *_file', 'Put text that begins with `*` in quotes: `"*_file"`.'],
  ['names with commas', 'description: A\ntools: Bash, Read', 'Write `tools: [shell, read_file]`.'],
  ['names of another program', 'description: A\ntools: [Bash]', 'Here, write `shell`.'],
  [
    'a setting that is indented',
    'description: A\n tools: [read_file]',
    'Line 3 is indented too far: begin it in the same column as line 2.',
  ],
  [
    'a group out of line',
    'description: A\nlimits:\n  maxCalls: 5\n maxRetries: 3',
    'Begin the line in the same column as the settings of its group above.',
  ],
  ['a group that is not indented', 'description: A\nmaxTokens: 5000', 'It belongs to `limits`: write `limits: { maxTokens: 5000 }`.'],
  [
    'a bracket that is not closed',
    'description: A\nmodels: [a',
    'Close the bracket on this line, or indent the lines that continue the list.',
  ],
  ['hooks', 'description: A\nhooks: []', 'Hooks are set in the configuration (.ai-agent.json), not in an agent file.'],
  ['a colon in a text', 'description: a: b', 'Put the text in quotes: `description: "a: b"`.'],
  ['a prompt among the settings', 'description: A\nprompt: hello', 'Write the prompt below the second line of `---`.'],
  ['a parameter at the top', 'description: A\ntemperature: 0.2', 'It belongs to `parameters`: write `parameters: { temperature: 0.2 }`.'],
])('%s', async (_, settings, remedy) => {
  const { code, stderr } = await troupe(folder({ 'a.ai': agent(settings) }).path, ['run', 'a.ai', 'x'])
  expect([code, stderr]).toEqual([2, expect.stringContaining(`→ ${remedy}\n`)])
})

test.each<[args: readonly string[], remedy: string]>([
  [['run', 'trip.ai', 'x', '--max-turns', '3'], '→ Write --max-steps.'],
  [
    ['run', 'trip.ai', '--temperature', '0.2', 'x'],
    '→ Write --override parameters.temperature=VALUE, or set `parameters.temperature` in the agent file.',
  ],
  [['trip', 'to', 'Rome'], "→ Run the agent: troupe run trip.ai 'to Rome'"],
  [['run', 'trip', 'x'], '→ trip.ai has this name: troupe run trip.ai'],
  [['run', 'nowhere/trip.ai', 'x'], '→ It is in this folder: troupe run trip.ai'],
  [['run', 'sub', 'x'], '→ Name an agent in it: `sub/scout.ai`.'],
  [['run', 'empty', 'x'], '→ There are no agents in this folder: change to the folder of the agent, or create one with troupe init.'],
])('troupe %j', async (args, remedy) => {
  const { path } = folder({ 'trip.ai': plain, 'sub/scout.ai': plain, 'empty/note.txt': '' })
  const { code, stderr } = await troupe(path, args)
  expect([code, stderr]).toEqual([2, expect.stringContaining(remedy)])
  expect(stderr).toMatch(/in the agent files|is invalid|have errors|has 1 problem|have 1 problem|has a problem|have a problem|has errors/)
})

test('from a folder without agents', async () => {
  const { stderr } = await troupe(folder().path, ['run', 'trip.ai', 'x'])
  expect(stderr).toContain('→ There are no agents in this folder: change to the folder of the agent, or create one with troupe init.')
})
