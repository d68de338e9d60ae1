import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { agentOptionKeys } from '../../src/agents/index.ts'
import { commands, flagsOf } from '../../src/cli/options.ts'
import { referencePages } from './reference-pages.ts'

const folder = join(import.meta.dirname, '..', '..', 'docs', 'reference')

// To write them anew: TROUPE_WRITE=1 npx vitest run test/cli/reference.test.ts
test.each(Object.entries(referencePages))('docs/reference/%s says what the code says', (file, page) => {
  const path = join(folder, file)
  if (process.env.TROUPE_WRITE) writeFileSync(path, page)
  expect(existsSync(path) && readFileSync(path, 'utf8')).toBe(page)
})

test('the reference names every flag and every setting', () => {
  const [commandLine = '', agentFile = ''] = ['command-line.md', 'agent-file.md'].map((file) => referencePages[file])
  for (const { name } of commands.flatMap((command) => flagsOf(command))) expect(commandLine).toContain(`--${name}`)
  for (const key of agentOptionKeys) expect(agentFile).toContain(`| \`${key}\` |`)
})
