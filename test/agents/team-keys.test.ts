import { join } from 'node:path'
import { expect, test } from 'vitest'
import { troupe } from './command.ts'
import { folder } from './folder.ts'

const foreign = (model: string): string => `---\nname: all\ndescription: All\nmodel: ${model}\n---\nDo.\n`
const lead = '---\ndescription: L\nmodels: rehearsal\nagents: [./.claude/agents/all.md]\n---\nL\n'
const project = (model: string): string => folder({ 'lead.ai': lead, '.claude/agents/all.md': foreign(model) }).path

test('a member that needs a key is named, and the remedy helps the whole team', async () => {
  const path = project('opus')
  const { code, stderr } = await troupe(path, ['run', 'lead.ai', 'Hi', '--model', 'rehearsal'])
  expect(code).toBe(3)
  expect(stderr).toContain('error: all (.claude/agents/all.md): The model anthropic/claude-opus-5-5 needs a key')
  expect(stderr).toContain('TROUPE_MODELS=rehearsal troupe run lead.ai "…"')
  expect(stderr).not.toContain('--model rehearsal')
  expect(await troupe(path, ['run', 'lead.ai', 'Hi', '--dry-run'], { TROUPE_MODELS: 'rehearsal' })).toMatchObject({ code: 0 })
})

test('if there is no key, every file that was looked into is named', async () => {
  const { path, write } = folder({ 'a.ai': '---\ndescription: A\nmodels: openai/gpt-5.4-mini\n---\nA\n' })
  write({ '.ai-agent.env': 'OPENAI_API_KEY=x\n' })
  const { code, stderr } = await troupe(path, ['run', 'a.ai', 'Hi'])
  expect(code).toBe(3)
  expect(stderr).toContain(`${join(path, '.ai-agent.env')} (not trusted)`)
  expect(stderr).toContain(`${join(path, '.home/.ai-agent/.ai-agent.env')} (does not exist)`)
  expect(stderr).toContain('in the environment')
})

test('a run of a foreign file with an unknown model reports how to configure it', async () => {
  const { stderr } = await troupe(project('grok-code'), ['run', '.claude/agents/all.md', 'Hi'])
  expect(stderr).toContain('"models": { "grok-code": "provider/model" }')
})
