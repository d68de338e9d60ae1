import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Outcome } from '../../src/contracts/index.ts'
import { noSandboxHere, sandboxed } from '../sandbox-here.ts'
import { type Ended, troupe } from './command.ts'
import { folder } from './folder.ts'

// Files of other programs with some commands of a shell, from the outside.

const claude = '.claude/agents/looker.md'
const opencode = '.opencode/agent/careful.md'
const looker = (tools: string): string => `---\nname: looker\ndescription: Looks\ntools: ${tools}\n---\nLook.\n`
const careful = (bash: string): string => `---\ndescription: Careful\npermission:\n  bash: ${bash}\n---\nGo.\n`

const script = (commands: readonly string[], input: Scene['input'] = {}): string =>
  JSON.stringify({
    steps: [...commands.map((command) => ({ calls: [{ tool: 'shell', input: { command, ...input } }] })), { text: 'Done.' }],
  })

interface Scene {
  readonly file: string
  readonly text: string
  readonly commands: readonly string[]
  readonly flags?: readonly string[]
  readonly isTrusted?: boolean
  /** What else the calls are made with. */
  readonly input?: { readonly [key: string]: string }
}

async function run({ file, text, commands, flags = [], isTrusted = true, input }: Scene): Promise<Ended> {
  const { path, write } = folder({ [file]: text, 'a.yaml': script(commands, input), 'src/x': '', 'keep/x': '' })
  mkdirSync(join(path, '.home'))
  write({ '.git/HEAD': 'ref: refs/heads/main\n' })
  if (isTrusted) expect((await troupe(path, ['trust', file])).code).toBe(0)
  return troupe(path, [
    'run',
    file,
    'Go',
    '--model',
    `script/${join(path, 'a.yaml')}`,
    '--json',
    '--override',
    'limits.maxToolTurns=40',
    ...flags,
  ])
}

/** What each command came to: `ran`, or why not. */
function resultsOf({ stdout }: Ended): readonly string[] {
  const { snapshot } = JSON.parse(stdout) as Outcome
  return snapshot.history.flatMap((message) =>
    message.role === 'tool' ? message.results.map(({ content, ok }) => (ok ? 'ran' : content)) : [],
  )
}

const allowed = ['echo kept', 'echo kept twice', '"echo" \'kept\' again', 'echo kept 2>&1', 'true', 'echo kept && true']
const others = [
  ...['echo', 'echo keptsake', 'true x', 'ls', 'rm -r keep'],
  ...['echo kept && rm -r keep', 'echo kept; rm -r keep', 'echo kept | tee keep/x', 'echo kept & rm -r keep', 'echo kept\nrm -r keep'],
  ...['echo kept $(rm -r keep)', 'echo kept `rm -r keep`', 'echo kept "$(rm -r keep)"', 'echo kept <(rm -r keep)', 'echo kept > keep/x'],
  ...['A=1 echo kept', 'env echo kept', 'timeout 5 echo kept', 'cd keep && echo kept', '(echo kept)', 'eval echo kept', '/tmp/echo kept'],
]

describe.skipIf(noSandboxHere)(sandboxed('a shell for some commands'), () => {
  test('runs these without a question, and nothing else, whatever the session allows', async () => {
    const text = looker('Bash(echo kept:*), Bash(true), Read')
    for (const flags of [[], ['--allow', 'shell']]) {
      const ended = await run({ file: claude, text, commands: [...allowed, ...others], flags })
      expect(ended.code, ended.stderr).toBe(0)
      const results = resultsOf(ended)
      expect(results.slice(0, allowed.length)).toEqual(allowed.map(() => 'ran'))
      for (const [index, command] of others.entries())
        expect(results[allowed.length + index], command).toMatch(
          /A rule forbids this call: deny shell .*only these commands.*: echo kept, echo kept \*, true\./,
        )
    }
  })

  test.each([{ cwd: 'src' }, { stdin: 'rm -r keep' }])('not in another folder, and not with an input: %j', async (input) => {
    const given = { file: claude, text: looker('Bash(echo kept:*)'), commands: ['echo kept'], flags: ['--allow', 'shell'] }
    expect(resultsOf(await run({ ...given, input }))).toEqual([expect.stringContaining('A rule forbids this call')])
  })

  test('what could do harm is asked about as from anybody: a file loosens nothing', async () => {
    const ended = await run({ file: claude, text: looker('Bash(touch:*)'), commands: ['chmod 700 src', 'touch src/y'] })
    expect(ended.code).toBe(6)
    expect(ended.stdout).toContain('Run touch src/y')
    const allowing = await run({
      file: claude,
      text: looker('Bash(touch:*)'),
      commands: ['touch src/y'],
      flags: ['--allow', 'shell(touch *)'],
    })
    expect(resultsOf(allowing)).toEqual(['ran'])
  })

  test('is none as long as nobody has trusted the file', async () => {
    const given = { file: claude, text: looker('Bash(echo kept:*), Read'), isTrusted: false, flags: ['--allow', 'shell'] }
    const [result] = resultsOf(await run({ ...given, commands: ['echo kept'] }))
    expect(result).toContain('There is no tool')
    // A shell that a person gives it is bound all the same.
    const bound = await run({ ...given, commands: ['echo kept', 'ls'], flags: [...given.flags, '--override', 'tools=[shell]'] })
    expect(resultsOf(bound)).toEqual(['ran', expect.stringContaining('A rule forbids this call')])
  })
})

describe.skipIf(noSandboxHere)(sandboxed('rules about commands'), () => {
  const text = careful('{ "*": deny, "echo *": allow, "touch *": ask, "echo never*": deny }')

  test('of an agent that is denied all others', async () => {
    const commands = [
      'echo a',
      'echo never',
      'ls',
      'echo a && ls',
      'cd src && rm x && touch y',
      'nice touch y',
      'touch $(ls)',
      'touch src/y',
    ]
    const ended = await run({ file: opencode, text, commands, flags: ['--allow', 'shell'] })
    expect(ended.code, ended.stderr).toBe(6)
    const results = resultsOf(ended)
    expect(results[0]).toBe('ran')
    for (const [index, command] of commands.slice(1, -1).entries())
      expect(results[index + 1], command).toContain('A rule forbids this call')
    expect(ended.stdout).toContain('Run touch src/y')
  })

  test.each([
    ['{ "*": ask, "echo *": allow }', 'echo a', 0],
    ['{ "*": ask, "echo *": allow }', 'ls', 6],
    ['{ "*": ask, "echo *": allow }', 'echo a && ls', 6],
    ['{ "*": ask, "echo *": allow }', 'echo $(ls)', 6],
    ['{ "echo *": allow, "*": ask }', 'echo a', 6],
    ['{ "rm *": deny }', 'ls', 0],
    ['{ "rm *": deny }', 'echo $(rm -r keep)', 6],
    ['{ "rm *": ask }', 'true && nice rm -r keep', 6],
  ])('%s: %s exits %i', async (bash, command, code) => {
    const ended = await run({ file: opencode, text: careful(bash), commands: [command], flags: ['--allow', 'shell'] })
    expect(ended.code, ended.stderr).toBe(code)
  })

  test.each(['rm -r keep', 'true && rm -r keep', 'env rm -r keep', 'sh -c "rm -r keep"', 'cd src && rm x'])(
    'denied: %s',
    async (command) => {
      const ended = await run({ file: opencode, text: careful('{ "rm *": deny }'), commands: [command], flags: ['--allow', 'shell'] })
      expect(resultsOf(ended)).toEqual([expect.stringContaining('The agent file denies it.')])
    },
  )
})

describe('the translation of patterns is reported', () => {
  test('by validate, with place and remedy, and by agents list', async () => {
    const { path } = folder({
      [claude]: looker('Bash(git status:*), Bash(git log | head), Bash(npm test)'),
      [opencode]: careful('{ "git *": allow, "*": ask, "rm ?": deny }'),
      '.ai-agent.json': { agents: [`./${claude}`, `./${opencode}`] },
    })
    await troupe(path, ['trust', claude])
    await troupe(path, ['trust', opencode])
    const { code, stderr } = await troupe(path, ['validate'])
    expect(code, stderr).toBe(0)
    expect(stderr).toContain(`${claude}:4:1: The agent can run only these commands: \`git status\`, \`git status *\`, \`npm test\``)
    expect(stderr).toContain("--allow 'shell(git status)'")
    expect(stderr).toContain(`${claude}:4:1: "Bash(git log | head)" is left out`)
    expect(stderr).toContain('Write one plain command')
    expect(stderr).toContain(`${opencode}:3:1: \`allow\` for "git *" is taken back by \`ask\` for "*" behind it`)
    expect(stderr).toContain(`${opencode}:3:1: \`deny\` for "rm ?" is \`deny\` for every command here`)

    const listed = await troupe(path, ['agents', 'list'])
    expect(listed.stdout.replaceAll(/\s+/g, ' ')).toContain(
      'rules: deny shell, allow shell(git status) shell(git status *) shell(npm test)',
    )
    const { agents } = JSON.parse((await troupe(path, ['agents', 'list', '--json'])).stdout)
    expect(agents).toContainEqual(
      expect.objectContaining({
        name: 'looker',
        tools: ['shell'],
        approvals: [
          { deny: ['shell'], reason: expect.stringContaining('git status') },
          { allow: ['shell(git status)', 'shell(git status *)', 'shell(npm test)'] },
        ],
      }),
    )
  })

  test.each([
    ['.github/agents/x.md', '---\ndescription: X\ntools: ["shell(git:*)", read]\n---\nGo.', '"shell(git:*)" is left out'],
    ['.gemini/agents/x.md', '---\nname: x\ndescription: X\ntools: ["run_shell_command(git)", read_file]\n---\nGo.', 'is left out'],
    [claude, looker('Read, Bash\ndisallowedTools: Bash(rm:*)'), '"Bash(rm:*)" denies the whole tool here'],
  ])('a permission without an exact translation gives no shell: %s', async (file, text, said) => {
    const { path } = folder({ [file]: text })
    await troupe(path, ['trust', file])
    expect((await troupe(path, ['validate', file])).stderr).toContain(said)
    const { agents } = JSON.parse((await troupe(path, ['agents', 'list', '--json'])).stdout)
    expect(agents).toMatchObject([{ tools: ['read_file'] }])
  })
})
