import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { troupe } from '../agents/command.ts'
import { folder } from '../agents/folder.ts'

test('a project of `troupe init` runs without a key, with the commands of its page', async () => {
  const { path } = folder()
  await troupe(path, ['init', '--yes'])
  const page = readFileSync(join(path, 'README.md'), 'utf8')
  const commands = [...page.matchAll(/^ {4}troupe run (\S+) "(.*)"$/gm)].map(([, file = '', prompt = '']) => [file, prompt] as const)
  const state = { HOME: join(path, '.home'), XDG_STATE_HOME: join(path, '.state') }
  const answers: string[] = []
  for (const [file, prompt] of commands) {
    const { code, stdout, stderr } = await troupe(path, ['run', file, prompt, '--allow', 'write_file', '--trust'], state)
    expect(code, stderr).toBe(0)
    answers.push(stdout)
  }
  expect(answers).toEqual([
    expect.stringMatching(
      /^I made 2 calls: the agent scout and the agent writer\.\n[\s\S]*"city":"Bergen"[\s\S]*\(rehearsal: rules, no LLM\)\n$/,
    ),
    expect.stringContaining('The funicular to Fløyen takes six minutes.'),
    expect.stringContaining('Added notes/oslo.md'),
  ])
  expect(readFileSync(join(path, 'notes/oslo.md'), 'utf8')).toContain('Oslo has a fjord')
})
