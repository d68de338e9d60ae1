// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { configOf } from '../../../../test/fixtures/memory-files.ts'
import type { Json, TroupeError } from '../../../contracts/index.ts'
import { type Config, settingsOf } from '../config.ts'
import { sourcedAt } from '../sourced.ts'
import { type Environment, resolveParts } from './resolve-placeholders.ts'

const user = '/home/.ai-agent/.ai-agent.json'

function resolve(config: Config, path: readonly string[], environment: Environment = {}): Json {
  const [section = '', ...rest] = path
  const tree = sourcedAt(settingsOf(config, section as 'mcpServers'), rest)!
  return resolveParts([{ path, tree }], { config, environment }).values[0]!
}

/** As in a section that takes any JSON. */
async function resolved(value: Json, environment: Environment = {}): Promise<Json> {
  const config = await configOf({ [user]: {} })
  const origin = { kind: 'file', layer: 'user', file: user, line: 1, column: 1 } as const
  return resolveParts([{ path: ['any', 'x'], tree: { kind: 'value', value, origin } }], { config, environment }).values[0]!
}

const problemsOf = (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable(),
    (error: TroupeError) => error.problems,
  )

describe('placeholders', () => {
  test.each<[Json, Json]>([
    ['Bearer ${A}', 'Bearer 1'],
    ['${A}${B}', '12'],
    ['${NONE:-x}', 'x'],
    ['${EMPTY:-x}', 'x'],
    ['${NONE:-}', ''],
    ['${A:-x}', '1'],
    ['$${A}', '${A}'],
    ['$A $(id) `id`', '$A $(id) `id`'],
    [
      ['${A}', { deep: ['${B}', 3, null, true] }],
      ['1', { deep: ['2', 3, null, true] }],
    ],
    [{ '${A}': '${A}' }, { '${A}': '1' }],
    ['${RECURSIVE}', '${A}${RECURSIVE}'],
  ])('%j', async (text, expected) => {
    expect(await resolved(text, { A: '1', B: '2', EMPTY: '', RECURSIVE: '${A}${RECURSIVE}' })).toEqual(expected)
  })

  test('a layer sees its own file first, then the others by strength, then the environment', async () => {
    const server = { command: '${X}', cwd: '${Y}', args: ['${Z}', '${W}'] }
    const config = await configOf({
      [user]: { mcpServers: { user: server } },
      '/project/.ai-agent.json': { mcpServers: { project: server } },
      '/etc/ai-agent/.ai-agent.json': { mcpServers: { system: server } },
      '/project/.ai-agent.env': 'X=project\nY=project',
      '/home/.ai-agent/.ai-agent.env': 'X=user\nZ=user\nY=',
    })
    const environment = { X: 'environment', Y: 'environment', Z: 'environment', W: 'environment' }
    expect(resolve(config, ['mcpServers'], environment)).toEqual({
      project: { command: 'project', cwd: 'project', args: ['user', 'environment'] },
      user: { command: 'user', cwd: 'project', args: ['user', 'environment'] },
      system: { command: 'project', cwd: 'project', args: ['user', 'environment'] },
    })
  })

  test('a missing variable is reported with its users and the places searched', async () => {
    const config = await configOf(
      {
        [user]: '{ "mcpServers": {\n "a": {\n  "command": "${A}",\n  "args": ["${B} ${C}"] } } }',
        '/home/.ai-agent/.ai-agent.env': 'EMPTY=',
        '/project/.ai-agent.env': 'A=1',
      },
      { trusted: new Map() },
    )
    const files =
      '/home/.ai-agent/.ai-agent.env, /project/.ai-agent.env (not trusted), /agents/.ai-agent.env (does not exist), /etc/ai-agent/.ai-agent.env (does not exist), the environment'
    const problems = await problemsOf((async () => resolve(config, ['mcpServers', 'a'], { B: '' }))())
    expect(problems).toEqual([
      {
        place: `${user}:3:14`,
        message: '`mcpServers.a.command` needs the variable A, which is not set',
        remedy: `Set it: export A=… Searched: ${files}.`,
      },
      {
        place: `${user}:4:11`,
        message: '`mcpServers.a.args.0` needs the variable B, which is not set',
        remedy: `Set it: export B=… Searched: ${files}.`,
      },
    ])
  })

  test('unused variables may be missing', async () => {
    const config = await configOf({ [user]: { mcpServers: { a: { command: '${A}', cwd: 'fine' } } } })
    expect(resolve(config, ['mcpServers', 'a', 'cwd'])).toBe('fine')
  })

  test('an unreadable file is reported', async () => {
    expect(await problemsOf(resolved('${workspaceFolder:x}'))).toMatchObject([
      { message: '`any.x` cannot be read: invalid placeholder `${workspaceFolder:x}`' },
    ])
  })

  test('prototypes are no variables', async () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
      expect(await problemsOf(resolved(`\${${name}}`))).toMatchObject([
        { message: `\`any.x\` needs the variable ${name}, which is not set` },
      ])
    const config = await configOf({
      [user]: { mcpServers: { a: { command: '${__proto__}' } } },
      '/home/.ai-agent/.ai-agent.env': '__proto__=1',
    })
    expect(resolve(config, ['mcpServers', 'a', 'command'])).toBe('1')
  })

  test('nothing grows without bounds', async () => {
    const long = 'x'.repeat(60_000)
    expect(await problemsOf(resolved('${L}${L}', { L: long }))).toMatchObject([{ message: '`any.x` becomes too long' }])
    const start = performance.now()
    const many = await problemsOf(
      resolved(
        Array.from({ length: 20_000 }, () => '${L}'),
        { L: long },
      ),
    )
    expect(many).toHaveLength(25)
    expect(performance.now() - start).toBeLessThan(20_000)
  })

  test('only the variables that are named come in, each as it is', async () => {
    const name = fc.constantFrom('A', 'B', 'SECRET')
    const piece = fc.oneof(
      fc.constantFrom('$', '{', '}', '`id`', '$(id)', '\\', '"'),
      name.map((each) => `\${${each}}`),
      fc.string(),
    )
    const held = fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('${SECRET}', '$(cat /etc/passwd)', '${A}', '$${B}'))
    await fc.assert(
      fc.asyncProperty(fc.array(piece), held, held, async (pieces, A, B) => {
        const text = pieces.join('')
        const SECRET = 'never-to-be-seen-4711'
        const result = await resolved(text, { A, B, SECRET }).then(String, (error: TroupeError) => JSON.stringify(error.problems))
        if (!text.includes('${SECRET}')) expect(result).not.toContain(SECRET)
        if (!text.includes('${')) expect(result).toBe(text)
      }),
      { numRuns: 300 },
    )
  })
})
