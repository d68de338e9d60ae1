// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what templates must leave alone
import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { type Problem, TroupeError } from '../../contracts/index.ts'
import type { IncludeFiles } from './includes.ts'
import { type PromptVariables, renderPrompt } from './render-prompt.ts'

const variables: PromptVariables = {
  agent: { name: 'scout', description: 'Finds <things> & "more"' },
  tools: ['read_file', 'github/*'],
  output: { format: 'markdown' },
  limits: { maxToolTurns: 5 },
}

function folder(files: { readonly [name: string]: string }): IncludeFiles {
  return {
    baseDir: '/base',
    realPath(path) {
      if (!Object.hasOwn(files, path.slice('/base/'.length))) throw new Error('the file does not exist')
      return path
    },
    readFile: (path) => new TextEncoder().encode(files[path.slice('/base/'.length)]),
  }
}
const render = (text: string, files: { readonly [name: string]: string } = {}): Promise<string> =>
  renderPrompt({ text, place: 'scout.ai', firstLine: 4 }, variables, folder(files))

async function problemsOf(text: string, files: { readonly [name: string]: string } = {}): Promise<readonly Problem[]> {
  const error = await render(text, files).then(
    (rendered) => expect.unreachable(`it is rendered: ${rendered.slice(0, 80)}`),
    (thrown: unknown) => thrown,
  )
  if (error instanceof TroupeError && error.code === 'agent_file_invalid') return error.problems
  throw error
}

describe('valid templates', () => {
  test.each<[text: string, expected: string]>([
    ['no template: ${HOME} { } %}', 'no template: ${HOME} { } %}'],
    ['{{ agent.name }}: {{ agent.description }}', 'scout: Finds <things> & "more"'],
    ['{{ tools | join(", ") }} in {{ limits.maxToolTurns }}', 'read_file, github/* in 5'],
    ['{% for tool in tools %}- {{ tool.upper() }}\n{% endfor %}', '- READ_FILE\n- GITHUB/*'],
    ['{% if "shell" in tools %}careful{% else %}calm{% endif %} {{ output.format }}', 'calm markdown'],
    ['{% raw %}{{ untouched }}{% endraw %}{# nothing #}', '{{ untouched }}'],
  ])('%s', async (text, expected) => {
    expect(await render(text)).toBe(expected)
  })

  test('files are included, also by files, and nothing is escaped, whatever they are called', async () => {
    const files = {
      'rules.json': '{{ agent.description }} {% include "parts/end.html" %}',
      'parts/end.html': '<{{ agent.description }}>',
      'base.yaml': 'Begin {% block middle %}{% endblock %} end',
      'macros.js': '{% macro shout(x) %}{{ x | upper }}!{% endmacro %}',
    }
    expect(await render('{% include "rules.json" %}', files)).toBe('Finds <things> & "more" <Finds <things> & "more">')
    expect(await render('{% extends "base.yaml" %}{% block middle %}{{ agent.description }}{% endblock %}', files)).toBe(
      'Begin Finds <things> & "more" end',
    )
    expect(await render('{% from "macros.js" import shout %}{{ shout("a<b") }}', files)).toBe('A<B!')
    expect(await render('a{% include "a.json" %}b{% include "a.md" %}c', { 'a.json': '1\n', 'a.md': '1\n' })).toBe('a1b1c')
    expect(await render('a{% include "none.md" ignore missing %}b')).toBe('ab')
    expect(await render('{% include ["none.md", "x.md"] %}', { 'x.md': 'found' })).toBe('found')
  })
})

describe('invalid templates', () => {
  const wrong: readonly (readonly [text: string, place: string, message: string, remedy?: string])[] = [
    ['one\n 😀 {{ agent.nam }}', 'scout.ai:5:8', 'there is no `agent.nam`', 'Did you mean `agent.name`?'],
    ['{% for t in tool %}{{ t }}{% endfor %}', 'scout.ai:4:13', 'there is no `tool`', 'Did you mean `tools`?'],
    [
      '{{ overlay.KEY }}',
      'scout.ai:4:4',
      'there is no `overlay.KEY`',
      'There are `agent.name`, `agent.description`, `tools`, `output.format`, `limits.maxToolTurns`.',
    ],
    ['{{ agent.constructor }}', 'scout.ai:4:4', 'there is no `agent.constructor`', 'There are'],
    ['a\n{{ tools | shuffle }}', 'scout.ai:5:12', 'there is no filter `shuffle`'],
    ['{% if %}', 'scout.ai:4:7', 'the template is invalid: syntax error: unexpected end of block'],
    ['{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}', 'scout.ai:4:19', 'the template is invalid: invalid operation: recursion limit'],
    ['{# only a comment #}', 'scout.ai:4:1', 'the rendered prompt is empty'],
    ['{{ "x" * 2000000 }}', 'scout.ai:4:1', 'the prompt is longer than 1048576 characters'],
  ]
  for (const [text, place, message, remedy = ''] of wrong) {
    test(text, async () => {
      const [problem, ...others] = await problemsOf(text)
      expect(others).toEqual([])
      expect(problem).toMatchObject({ place, message: expect.stringContaining(message) })
      expect(problem?.remedy ?? '').toContain(remedy)
    })
  }

  test('an error in an included file is reported at its place', async () => {
    expect(await problemsOf('a\n{% include "rules.md" %}', { 'rules.md': 'x {{ agnt.name }}' })).toEqual([
      { place: 'scout.ai:5:4', message: 'the included `rules.md` fails', remedy: 'Fix that file.', line: '{% include "rules.md" %}' },
      expect.objectContaining({ place: 'rules.md:1:6', message: 'there is no `agnt.name`', remedy: 'Did you mean `agent.name`?' }),
    ])
  })

  test('all unreadable templates are reported together', async () => {
    const problems = await problemsOf('{% include "a.md" %}{% if %}', { 'a.md': '\n{{ ' })
    expect(problems.map(({ place }) => place)).toEqual(['a.md:2:1', 'scout.ai:4:27'])
  })
})

test('a thousand tools are no loop without end', async () => {
  const tools = Array.from({ length: 1000 }, (_, index) => `tool_${index}`)
  const text = '{% for tool in tools %}{{ loop.index }}. {{ tool | upper }}\n{% endfor %}'
  expect(await renderPrompt({ text, place: 'a.ai', firstLine: 1 }, { ...variables, tools })).toMatch(/^1\. TOOL_0\n[\s\S]*1000\. TOOL_999$/)
})

test('nothing is left of a template for the next one', async () => {
  await render('{% set found = 1 %}{% include "a.md" %}', { 'a.md': 'a' })
  expect(await problemsOf('{{ found }}')).toMatchObject([{ message: 'there is no `found`' }])
  expect(await problemsOf('{% include "a.md" %}')).toMatchObject([{ message: expect.stringContaining('`a.md` cannot be read') }])
})

test('two engines in a process do not affect each other', async () => {
  const url = new URL('./engine.ts', import.meta.url).href
  const [one, other] = await Promise.all([1, 2].map((copy): Promise<typeof import('./engine.ts')> => import(`${url}?${copy}`)))
  const job = (text: string) => ({ templates: new Map([['t', `${text} {{ name }}`]]), main: 't', variables: { name: 'Ada' } })
  for (const engine of [await one!.loadEngine(), await other!.loadEngine(), await one!.loadEngine()])
    expect([engine.render(job('Hello')), engine.render(job('Bye'))]).toEqual([
      { kind: 'text', text: 'Hello Ada' },
      { kind: 'text', text: 'Bye Ada' },
    ])
})

describe('a template ends', () => {
  const loop = (inner: string): string => `{% for a in range(10000) %}${inner}{% endfor %}`

  test('after so many steps, in well under a second', async () => {
    await render('{{ agent.name }}')
    const start = performance.now()
    expect(await problemsOf(loop(loop(loop('x'))))).toMatchObject([{ message: 'the template takes too many steps', place: 'scout.ai:4:1' }])
    expect(performance.now() - start).toBeLessThan(20_000)
  })

  test.each([
    ['one large value', '{{ "x" * 1000000000 }}'],
    ['a value that doubles', `{% set n = namespace(s="xxxxxxxx") %}${loop('{% set n.s = n.s ~ n.s %}')}`],
    ['a filter that makes it large', '{{ ("x" * 100000) | replace("x", "y" * 100000) | length }}'],
    ['deep nesting', `{{ ${'not '.repeat(200_000)}1 }}`],
  ])('before it takes the memory: %s', async (_, text) => {
    expect(await problemsOf(text)).toMatchObject([{ message: 'the template takes too much memory' }])
    expect(await render('still {{ agent.name }}')).toBe('still scout')
  })

  test('also where each step is slow', async () => {
    expect(await problemsOf(loop('{{ range(99999) | sum }}'))).toMatchObject([{ message: 'the template takes too long' }])
    expect(await render('still {{ agent.name }}')).toBe('still scout')
  })
})

test.each([
  '{{ now() }}',
  '{{ [1, 2] | random }}',
  '{{ lipsum() }}',
  '{{ debug() }}',
  '{{ env }}',
  '{{ process }}',
  '{{ tools.__class__ }}',
])('nothing that differs from call to call, and nothing from outside: %s', async (text) => {
  expect(await problemsOf(text)).toHaveLength(1)
})

test('the engine is loaded for templates only', () => {
  const code = `
    import { registerHooks } from 'node:module'
    const seen = []
    registerHooks({ load(url, context, next) { if (url.includes('minijinja')) seen.push(url); return next(url, context) } })
    const { renderPrompt } = await import(${JSON.stringify(new URL('./render-prompt.ts', import.meta.url).href)})
    const variables = ${JSON.stringify(variables)}
    await renderPrompt({ text: 'plain', place: 'a.ai', firstLine: 1 }, variables)
    const before = seen.length
    const text = await renderPrompt({ text: '{{ agent.name }}', place: 'a.ai', firstLine: 1 }, variables)
    console.log(JSON.stringify([before, seen.length, text]))
  `
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], { encoding: 'utf8', timeout: 20_000 })
  expect(stderr.replace(/^.*ExperimentalWarning.*$[\s\S]*/m, '')).toBe('')
  expect(JSON.parse(stdout)).toEqual([0, 1, 'scout'])
})
