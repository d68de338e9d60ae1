import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { commands, flagsOf } from '../../src/cli/arguments/command-specs.ts'
import type { TroupeError } from '../../src/contracts/index.ts'
import { parseScript } from '../../src/models/parse-script.ts'
import { sectionNames } from '../../src/project/config/sections.ts'
import { agentOptionKeys } from '../../src/project/index.ts'
import { folderIncludes } from '../../src/project/templates/includes.ts'
import { renderPrompt } from '../../src/project/templates/render-prompt.ts'
import { configOf } from '../fixtures/memory-files.ts'
import { referencePages } from './reference-pages.ts'
import { templateTexts } from './reference-texts.ts'

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

test('no page sets a variable that Troupe would report as unknown', () => {
  const pages = ['README.md', ...readdirSync('docs').flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : []))]
  const used = pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/(?:\$\{?|env\.|export )(TROUPE_\w+)/g)].map(([, name = '']) => name),
  )
  expect(used.filter((name) => !referencePages['variables.md']?.includes(`\`${name}\``))).toEqual([])
})

describe('what the reference shows works', () => {
  const shown = (file: string, language: string): string =>
    new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\\n\`\`\``).exec(referencePages[file] ?? '')?.[1] ?? expect.unreachable(`no ${language}`)

  test('the configuration', async () => {
    const config = await configOf({ '/home/.ai-agent/.ai-agent.json': shown('configuration.md', 'json') })
    expect([config.pending, config.diagnostics]).toEqual([[], []])
    const said = Object.keys(JSON.parse(shown('configuration.md', 'json')))
    expect(said).toEqual(sectionNames)
  })

  test('the script', () => {
    expect(parseScript(shown('scripts.md', 'yaml'), 'x.yaml').steps).toHaveLength(3)
  })

  test('the template, and every name that it may speak of', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'troupe-reference-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    mkdirSync(join(folder, 'rules'))
    writeFileSync(join(folder, 'rules/tone.md'), 'Be kind to {{ agent.name }}.')
    const variables = {
      agent: { name: 'clerk', description: 'a clerk' },
      tools: ['a', 'b'],
      output: { format: 'text' },
      limits: { maxToolTurns: 3 },
    }
    const render = (text: string) => renderPrompt({ text, place: 'x.ai', firstLine: 1 }, variables, folderIncludes(folder))
    expect(await render(shown('templates.md', 'jinja'))).toBe(
      'You are clerk: a clerk.\nYour tools are a, b.\nYou have 3 steps.\nBe kind to clerk.',
    )
    const failure: TroupeError = await render('{{ zzzzzzzzz }}').then(
      () => expect.unreachable('there is no such name'),
      (error) => error,
    )
    expect(failure.problems[0]?.remedy).toBe(
      `There are ${Object.keys(templateTexts)
        .map((name) => `\`${name}\``)
        .join(', ')}.`,
    )
  })
})
