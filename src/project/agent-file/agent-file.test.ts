import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Problem, TroupeError } from '../../contracts/index.ts'
import { type AgentFile, parseAgentFile } from './agent-file.ts'

const good = '---\ndescription: Plans trips\nmodels: script/trip.yaml\n---\nYou plan trips.\n'

function problemsOf(content: string | Uint8Array, place = 'trip.ai'): readonly Problem[] {
  try {
    parseAgentFile(content, place)
  } catch (error) {
    if (error instanceof TroupeError && error.code === 'agent_file_invalid') return error.problems
    throw error
  }
  return expect.unreachable('the file is taken as right')
}
const withSettings = (settings: string): string => `---\n${settings}\n---\nYou plan trips.`

describe('a valid file', () => {
  const trip: AgentFile = {
    name: 'trip',
    description: 'Plans trips',
    models: ['script/trip.yaml'],
    toolName: 'trip',
    tools: [],
    skills: [],
    prompt: 'You plan trips.',
    parameters: {},
    limits: {},
    input: { format: 'text' },
    output: { format: 'markdown' },
  }
  const files: readonly [name: string, content: string | Uint8Array, expected: Partial<AgentFile>][] = [
    ['the plain form', good, {}],
    ['bytes', new TextEncoder().encode(good), {}],
    ['a shebang', `#!/usr/bin/env troupe\n${good}`, {}],
    ['a byte order mark before a shebang', `\uFEFF#!/usr/bin/env troupe\n${good}`, {}],
    ['a byte order mark in bytes', new TextEncoder().encode(`\uFEFF${good}`), {}],
    ['CRLF', good.replaceAll('\n', '\r\n'), {}],
    ['spaces behind the fences', good.replaceAll('---\n', '---  \n'), {}],
    ['several models', withSettings('description: Plans trips\nmodels: [a/b, c/d]'), { models: ['a/b', 'c/d'] }],
    [
      'comments and tabs between words',
      withSettings('# the agent\ndescription: "Plans\ttrips"\nmodels:\n  - a/b # first'),
      { description: 'Plans\ttrips', models: ['a/b'] },
    ],
    ['a folded description', withSettings('models: a/b\ndescription: >\n  Plans\n  trips'), { models: ['a/b'] }],
    ['no model', withSettings('description: Plans trips'), { models: ['auto'] }],
    ['a rule inside the prompt', `${good}\n---\nEnd.`, { prompt: 'You plan trips.\n\n---\nEnd.' }],
  ]
  test.each(files)('%s', (_name, content, expected) => {
    expect(parseAgentFile(content, 'trip.ai')).toEqual({ ...trip, ...expected })
  })

  test.each([
    ['agents/My agent.v2.ai', 'My-agent-v2'],
    ['C:\\agents\\résumé.AI', 'resume'],
    ['a'.repeat(80), 'a'.repeat(64)],
    ['-x-.ai', 'x'],
  ])('%s is named %s', (place, name) => {
    expect(parseAgentFile(good, place).name).toBe(name)
  })
})

describe('an invalid file', () => {
  test('an unknown key names its place, its line and the nearest key', () => {
    expect(problemsOf('#!/usr/bin/env troupe\n---\ndescripton: Plans\nmodels: a/b\n---\nGo.')).toEqual([
      {
        place: 'trip.ai:2:1',
        message: '`description` is missing',
        remedy: 'Add one line, such as `description: Plans a trip by rail`.',
        line: '---',
      },
      {
        place: 'trip.ai:3:1',
        message: 'unknown key `descripton`',
        remedy: 'Did you mean `description`?',
        line: 'descripton: Plans',
      },
    ])
  })

  test('all problems are reported together', () => {
    expect(
      problemsOf('---\ntool: "*"\nmodels:\n  - 7\n  - ""\n  - a/b\n  - a/b\ndescription: [x]\n---\n \n').map(
        ({ place, message }) => `${place} ${message}`,
      ),
    ).toEqual([
      'trip.ai:2:1 unknown key `tool`',
      'trip.ai:4:5 a model must be a name, not the number 7',
      'trip.ai:5:5 a model must be a name, not empty text',
      'trip.ai:7:5 the model `a/b` is listed twice',
      'trip.ai:8:14 `description` must be text, not a list',
      'trip.ai:9:1 the prompt is empty',
    ])
  })

  const settings: readonly [settings: string, found: readonly string[]][] = [
    ['description: ""\nmodels: a/b', ['2:14 `description` must be text, not empty text']],
    ['description:\nmodels: a/b', ['2:13 `description` must be text, not nothing']],
    ['description: 12\nmodels: a/b', ['2:14 `description` must be text, not the number 12']],
    ['description: true\nmodels: a/b', ['2:14 `description` must be text, not the boolean true']],
    ['description: x\nmodels: []', ['3:9 `models` is an empty list']],
    ['description: x\nmodels: {a: b}', ['3:9 a model must be a name, not a map']],
    ['description: x\nmodels: a b', ['3:9 the model name `a b` has spaces']],
    ['', ['1:1 `description` is missing']],
    ['- description', ['2:1 the settings must be lines of `key: value`']],
    ['just text', ['2:1 the settings must be lines of `key: value`']],
    ['description: x\ndescription: y\nmodels: a/b', ['3:1 the settings are not valid YAML: Map keys must be unique']],
    [
      'description: &d x\nmodels: *d',
      ['2:17 the anchor `&d` is not allowed', '3:9 aliases are not allowed', '3:9 a model must be a name, not an alias'],
    ],
    ['description: x\nmodels: a/b\n<<: {tools: x}', ['4:1 unknown key `<<`']],
    ['description: x\nmodels: a/b\n? [a, b]\n: c', ['4:3 unknown key `["a","b"]`']],
    ['description: !!js/function x\nmodels: a/b', ['2:14 the settings are not valid YAML: Unresolved tag: tag:yaml.org,2002:js/function']],
  ]
  test.each(settings)('%j', (written, found) => {
    expect(problemsOf(withSettings(written)).map(({ place, message }) => `${place.slice('trip.ai:'.length)} ${message}`)).toEqual(found)
  })

  test.each([
    ['description: [x\nmodels: a/b\ntools: [y', /^this `\[` is never closed$/, /Close the bracket/],
    ['description: x\nmodels: a/b\n  tools: [y]', /^Nested mappings/, /Line 4 is indented too far/],
    ['description: "x\nmodels: a/b', /^Missing closing "quote/, /Close the quote/],
  ])('broken YAML is reported once, with a remedy and without consequential errors: %j', (written, message, remedy) => {
    const found = problemsOf(withSettings(written))
    expect(found).toHaveLength(1)
    expect(found[0]?.message.replace('the settings are not valid YAML: ', '')).toMatch(message)
    expect(found[0]?.remedy).toMatch(remedy)
  })

  test.each([
    ['description: x\nmodels: a/b\ntools: [read_file, shell\nskills: [pdf]\n', '4:8 this `[` is never closed'],
    [
      'description: x\nmodels: a/b\noutput: { schema: { type: object, properties: { a: {} }\nlimits: { maxRetries: 1 }',
      '4:19 this `{` is never closed',
    ],
    ['description: x\nmodels: a/b\ntools: [a, {b: c]\n', '4:12 this `{` is never closed'],
    ['description: x\nmodels: a/b\ntools:\n  - [a\n  - b\nlimits: {}', '5:5 this `[` is never closed'],
  ])('a bracket that is never closed is reported where it opens: %j', (written, found) => {
    const [{ place = '', message = '' } = {}] = problemsOf(withSettings(written))
    expect(`${place} ${message}`).toBe(`trip.ai:${found.replace(' ', ' the settings are not valid YAML: ')}`)
  })

  test('a tab as indentation', () => {
    const [problem] = problemsOf(withSettings('description: x\nmodels:\n\t- a/b'))
    expect(problem).toMatchObject({ place: 'trip.ai:4:1', line: '\t- a/b', message: expect.stringMatching(/tab/i) })
  })

  const wholes: readonly { name: string; content: string | Uint8Array; place: string; message: RegExp }[] = [
    { name: 'nothing', content: '', place: 'trip.ai:1:1', message: /must begin with settings/ },
    { name: 'no settings', content: 'You plan trips.', place: 'trip.ai:1:1', message: /must begin with settings/ },
    { name: 'a shebang alone', content: '#!/usr/bin/env troupe\n', place: 'trip.ai:1:1', message: /must begin with settings/ },
    { name: 'settings without an end', content: '---\ndescription: x\nYou plan trips.', place: 'trip.ai:1:1', message: /have no end/ },
    { name: 'a program', content: new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 0, 1]), place: 'trip.ai:1:5', message: /binary/ },
    {
      name: 'Latin-1',
      content: new Uint8Array([...new TextEncoder().encode('---\ndescription: r'), 0xe9, 0x73]),
      place: 'trip.ai:2:15',
      message: /not UTF-8/,
    },
    { name: 'half a megabyte too much', content: `${good}${'x'.repeat(1_048_576)}`, place: 'trip.ai:1:1', message: /larger than 1048576/ },
    {
      name: 'settings without measure',
      content: withSettings(`description: ${'x'.repeat(70_000)}`),
      place: 'trip.ai:1:1',
      message: /longer than 32768/,
    },
  ]
  test.each(wholes)('$name', ({ content, place, message }) => {
    expect(problemsOf(content)[0]).toMatchObject({ place, message: expect.stringMatching(message) })
  })

  test.each([`description: ${'['.repeat(30_000)}`, '}'.repeat(30_000), `description: "${'\\x'.repeat(15_000)}`])(
    'a flood is told in part: %.20s',
    (settings) => {
      expect(problemsOf(withSettings(settings))).satisfy((found: readonly Problem[]) => found.length > 0 && found.length <= 25)
    },
  )

  test('a file whose name gives no name', () => {
    expect(problemsOf(good, 'agents/???.ai')).toMatchObject([
      { place: 'agents/???.ai:1:1', message: 'the file name `agents/???.ai` cannot be used as a name' },
    ])
  })
})

const rich = `---
description: Plans trips
models: [script/trip.yaml, b/c]
parameters: { temperature: 0.5, reasoning: low, cache: false }
limits:
  maxToolTurns: 5
  timeBudget: 10m
  maxOutputBytes: 64KB
  parallelToolCalls: false
output:
  schema: { type: object, properties: { city: { type: string } }, required: [city] }
---
You plan trips.
`

test.each([good, rich])('however settings are mutilated, the answer is an agent or all that is wrong, soon', (whole) => {
  const piece = fc.oneof(
    fc.constantFrom(
      '---',
      '\n',
      '\t',
      '  ',
      ': ',
      '- ',
      '*a',
      '&a ',
      '<<: ',
      '!!map',
      '{',
      '}',
      '[',
      ']',
      '"',
      "'",
      '|',
      '>',
      '#',
      '%',
      '\u0000',
      '\r',
      '\uFEFF',
      'models',
      'description',
      'limits',
      'schemaRef',
      '.inf',
      '1e999',
      '__proto__: 1',
    ),
    fc.string({ maxLength: 12, unit: 'grapheme' }),
  )
  const edit = fc.record({ at: fc.nat(whole.length), cut: fc.nat(8), piece })
  let slowest = 0
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 12 }), (edits) => {
      const content = edits.reduce((text, { at, cut, piece }) => text.slice(0, at) + piece + text.slice(at + cut), whole)
      const started = performance.now()
      try {
        expect(parseAgentFile(content, 'trip.ai').prompt).not.toBe('')
      } catch (error) {
        if (!(error instanceof TroupeError)) throw error
        expect(error.code).toBe('agent_file_invalid')
        expect(error.problems.length).toBeGreaterThan(0)
        for (const { place } of error.problems) expect(place).toMatch(/^trip\.ai:[1-9]\d*:[1-9]\d*$/)
      }
      slowest = Math.max(slowest, performance.now() - started)
    }),
    { numRuns: process.env.TROUPE_FULL ? 2_000 : 400 },
  )
  expect(slowest).toBeLessThan(1000)
})
