import { expect, test } from 'vitest'
import { troupe } from './command.ts'
import { folder } from './folder.ts'

const settings = (more: string): string => `---\ndescription: A test\nusage: anything\n${more}\n---\nDo it.\n`

/** A child with three names: of its file, as a tool, and as models are offered it. */
const { path } = folder({
  'chief.ai': settings('toolName: the.chief\nmodels: script/a.yaml\nagents: [./stem.ai]'),
  'a.yaml': 'steps: [{ calls: [{ tool: agent__desk__in__house, input: { prompt: Look } }] }, { text: Done. }]',
  'stem.ai': settings('toolName: desk.in__house\nmodels: script/b.yaml\noutput: { format: text }'),
  'b.yaml': 'steps: [{ text: Found. }]',
})

test.each([
  [
    'lines, tree and summary',
    ['run', 'chief.ai', 'Go', '--verbose'],
    /→ desk\.\S+house|✓ desk\.in__house|agent desk\.in__house|agent the\.chief/g,
  ],
  ['settings of one', ['run', 'chief.ai', '--help'], /^the\.chief: |^ {2}desk\.in__house /gm],
  ['what would run', ['run', 'chief.ai', 'Go', '--dry-run'], /the\.chief \(chief\.ai\)/g],
  ['the list', ['agents', 'list'], /^ {2}the\.chief |^ {2}desk\.in__house /gm],
  ['doctor', ['doctor'], /agent: the\.chief|agent: desk\.in__house/g],
])('people are shown an agent by its tool name, and by nothing else: %s', async (_view, args, names) => {
  const { code, stdout, stderr } = await troupe(path, args)
  expect(code).toBe(0)
  const shown = stdout + stderr
  expect(new Set(shown.match(names)).size).toBe(names.source.split('|').length)
  expect(shown.replaceAll(/chief\.ai|stem\.ai/g, '')).not.toMatch(/\bstem\b|(?<!the\.)\bchief\b|agent__/)
})

test('so too by the words of a log; its fields have the names for programs', async () => {
  const { stderr } = await troupe(path, ['run', 'chief.ai', 'Go', '--log-format', 'json'])
  const lines = stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const words = lines.map(({ msg }) => msg)
  expect(words).toEqual(
    expect.arrayContaining([
      'session created: the.chief',
      'session created: desk.in__house',
      'child started: desk.in__house',
      'child completed: desk.in__house',
    ]),
  )
  expect(words.join('\n')).not.toMatch(/\bstem\b|agent__/)
  expect(lines).toContainEqual(expect.objectContaining({ msg: 'child started: desk.in__house', agent: 'stem' }))
  expect(lines).toContainEqual(expect.objectContaining({ source: 'child:desk.in__house', agentPath: 'root/stem#1' }))
})
