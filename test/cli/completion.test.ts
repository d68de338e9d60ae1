import { cpSync, existsSync, readdirSync, statSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type CommandSpec, commands, flagsOf } from '../../src/cli/arguments/command-specs.ts'
import { localPrincipal } from '../../src/contracts/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { openStore } from '../../src/stores/index.ts'
import { echoModel } from '../server/support.ts'
import { openShell, shellNames, whyNoShell } from './shells.ts'
import { workbench } from './troupe.ts'

const { folder, troupe } = await workbench()
const at = (...path: readonly string[]): string => join(folder, ...path)
const env = { HOME: at('home'), XDG_STATE_HOME: at('home', 'state') }
/** A quote and spaces, as in a path that somebody has to quote. */
const otherData = "the user's data"

/** Names that run a command or change in a shell that evaluates them, by what is typed of them. */
const hostileNames = {
  it: "it's $(touch pwned)",
  do: 'do$HOME!',
  x: 'x`touch pwned`;touch pwned',
  '\\"': '"q" & *',
  col: 'col:on=1',
  my: 'my agent',
} as const
const agentNames = Object.values(hostileNames)
/** Names that nothing can show as they are. */
const hiddenNames = ['n\new', 'be\u0007ll', '\u202egpj']
const hostileTitle = '$(touch pwned) `touch pwned`; \u001b[31mred "it\'s" %F{red}\nsecond line\ttab'

let sessionId = ''
let waitingId = ''
let otherId = ''

beforeAll(async () => {
  await mkdir(at('.git'), { recursive: true })
  await writeFile(at('.git', 'HEAD'), 'ref: refs/heads/main\n')
  for (const name of [...agentNames, ...hiddenNames, '-dash']) await writeFile(at(`${name}.ai`), '---\ndescription: A test\n---\nHi\n')
  await mkdir(at('team'))
  await writeFile(at('team', 'scout.ai'), '---\ndescription: A test\ntoolName: pathfinder\ntools: [./start.mjs]\n---\nHi\n')
  await writeFile(at('.ai-agent.json'), JSON.stringify({ agents: ['./team'], models: { quick: 'lab/tiny:1b' } }))
  for (const file of ['team/start.mjs', 'extensions/weather/index.mjs']) {
    await mkdir(join(at(file), '..'), { recursive: true })
    await writeFile(at(file), `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(at('pwned'))}, '')\n`)
  }
  await writeFile(at('extensions/weather/manifest.yaml'), 'id: weather\nname: Weather\nversion: 1.0.0\ndescription: A test\n')
  sessionId = await storeSession(at('home/state/troupe'), folder)
  otherId = await storeSession(at(otherData), folder)
  await storeSession(at('home/state/troupe'), '/elsewhere')
  waitingId = await storeSession(at('home/state/troupe'), folder)
  const database = new DatabaseSync(at('home/state/troupe/troupe.db'))
  database.prepare('UPDATE trees SET open_requests = 1 WHERE id = ?').run(waitingId)
  database.close()
})

async function storeSession(path: string, workspace: string): Promise<string> {
  const store = await openStore(`sqlite:${path}`)
  const agent = { name: 'clerk', description: 'Repeats.', prompt: 'Repeat.', tools: [], model: 'lab/big' }
  const runtime = createAgentRuntime({
    config: { agents: [agent] },
    adapter: { resolve: () => echoModel('lab/big') },
    store,
    origin: { workspace },
  })
  const id = await runtime.sessions.start(hostileTitle, { agent: 'clerk', principal: localPrincipal })
  await runtime.sessions.outcome(id)
  await runtime.close()
  await store.close()
  return id
}

const ask = (...words: readonly string[]) => troupe(['__complete', ...words], { env })

describe('names for completion', () => {
  const namesOf = async (...words: readonly string[]): Promise<readonly string[]> => {
    const { code, stdout, stderr } = await ask(...words)
    expect([code, stderr]).toEqual([0, ''])
    return stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')[0] ?? '']))
  }

  test('are the agents of the folder and of the configuration, without names that cannot be shown', async () => {
    const files = [...agentNames.map((name) => `${name}.ai`), './-dash.ai', 'team/scout.ai']
    expect(new Set(await namesOf('agent'))).toEqual(new Set(files))
    expect(new Set(await namesOf('agent-name'))).toEqual(new Set([...agentNames, '-dash', 'pathfinder', 'clerk']))
  })

  test('are the sessions of the project, the newest first, each in one line', async () => {
    const { stdout } = await ask('session')
    const text = 'clerk · $(touch pwned) `touch pwned`; red "it\'s"'
    expect(stdout.split('\n').map((line) => line.split('\t')[0])).toEqual([waitingId, sessionId, ''])
    expect(stdout).toContain(`${sessionId}\tcompleted · ${text}`)
    expect(await namesOf('waiting-session')).toEqual([waitingId])
    expect(await namesOf('session', otherData)).toEqual([otherId])
  })

  test('are aliases and used models, and the extensions here', async () => {
    expect(await namesOf('model')).toEqual(['quick', 'lab/big'])
    expect(await namesOf('extension')).toEqual(expect.arrayContaining(['weather', 'scheduler']))
  })

  test('need nothing that can be read, and change nothing', async () => {
    const before = files(folder)
    for (const name of ['agent', 'agent-name', 'session', 'waiting-session', 'model', 'extension', 'toString', '']) await namesOf(name)
    expect(files(folder)).toEqual(before)
    expect(await namesOf('session', 'missing')).toEqual([])
    expect(existsSync(at('missing'))).toBe(false)
    await mkdir(at('damaged'))
    await writeFile(at('damaged/troupe.db'), 'no database')
    await writeFile(at('damaged/.ai-agent.json'), '{')
    expect(await namesOf('session', 'damaged')).toEqual([])
    expect(await troupe(['__complete', 'agent'], { env, cwd: at('damaged') })).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(await troupe(['__complete'], { env })).toEqual({ code: 0, stdout: '', stderr: '' })
  })

  test('are read beside a process that writes', async () => {
    cpSync(at('home/state/troupe'), at('busy'), { recursive: true })
    const store = await openStore(`sqlite:${at('busy')}`)
    onTestFinished(() => store.close())
    await store.records.update('test', 'key', () => ({ value: 1 }))
    expect(await namesOf('session', 'busy')).toEqual([waitingId, sessionId])
  })
})

/** Every file and when it was written. */
const files = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => `${file} ${statSync(join(folder, file)).mtimeMs}`)

test('every flag and argument for a file or folder is completed', () => {
  const places = commands.flatMap((command: CommandSpec) => [
    ...flagsOf(command).map(({ name, value, completes }) => ({ place: `${command.name} --${name}`, value, completes })),
    ...command.arguments.map(({ name, completes }) => ({ place: command.name, value: name, completes: completes?.name })),
  ])
  expect(places.filter(({ value = '', completes }) => /^(?:FILE|PATH|DIR)$/.test(value) && completes === undefined)).toEqual([])
})

/** What is typed before Tab, and the arguments that `troupe` then gets. */
const insertions: { readonly [typed: string]: readonly string[] } = {
  ...Object.fromEntries(
    Object.entries(hostileNames).flatMap(([typed, name]) => [
      [`run ${typed}`, ['run', `${name}.ai`]],
      [`token create --agents ${typed}`, ['token', 'create', '--agents', name]],
    ]),
  ),
  'run "my': ['run', 'my agent.ai'],
  "run 'my": ['run', 'my agent.ai'],
  'token create --agents "my': ['token', 'create', '--agents', 'my agent'],
  'run team/sc': ['run', 'team/scout.ai'],
  'run ./-': ['run', './-dash.ai'],
  'serve --agent=col': ['serve', '--agent=col:on=1.ai'],
}

describe.each(shellNames)('%s', (name) => {
  const missing = whyNoShell(name)
  const called = (text: string): string => (missing === undefined ? text : `${text} (skipped: ${missing})`)

  test.skipIf(missing !== undefined)(called('completes what the command table says'), async () => {
    const shell = await openShell(name, folder)
    const offered = async (line: string): Promise<readonly string[]> => [...new Set(await shell.offers(line))].toSorted()
    expect(await offered('troupe ')).toEqual(commands.map((command) => command.name).toSorted())
    expect(await offered('troupe se')).toEqual(['serve', 'sessions'])
    expect(await offered('troupe trust')).toEqual(['trust'])
    expect(await offered('troupe sessions ')).toEqual(['delete', 'export', 'fork', 'list', 'prune', 'rename', 'show'])
    expect(await offered('troupe run --co')).toEqual(['--color', '--config'])
    expect(await offered('troupe col.ai --stream')).toEqual(['--stream-json'])
    expect(await offered('troupe usage --by ')).toEqual(['agent', 'day', 'model', 'person'])
    expect((await offered('troupe run --color=a')).map((word) => word.replace('--color=', ''))).toEqual(['always', 'auto'])
    expect(await offered('troupe help agent')).toEqual(['agent-file', 'agents'])
    expect(await offered('troupe completion ')).toEqual(['bash', 'fish', 'zsh'])
    expect(await offered('troupe nothing ')).toEqual([])

    const agents = agentNames.map((each) => `${each}.ai`)
    expect(await offered('troupe run ')).toEqual(expect.arrayContaining([...agents, 'team/scout.ai']))
    expect(await offered('troupe validate x y ')).toEqual(expect.arrayContaining(agents))
    expect(await offered('troupe sessions list --agent path')).toEqual(['pathfinder'])
    expect(await offered('troupe run team/scout.ai --model anthropic/claude-sonnet-5')).toEqual(['anthropic/claude-sonnet-5'])
    expect(await offered('troupe run team/scout.ai --model qu')).toEqual(['quick'])
    expect(await offered('troupe extensions show we')).toEqual(['weather', 'web_fetch'])
    expect(await offered('troupe extensions trust kv we')).toEqual(['weather', 'web_fetch'])
    expect(await offered('troupe extensions show kv we')).toEqual([])
    expect(await offered('troupe extensions new we')).toEqual([])
    expect(await offered('troupe sessions show ')).toEqual([sessionId, waitingId].toSorted())
    expect(await offered('troupe sessions --json delete x ')).toEqual([sessionId, waitingId].toSorted())
    expect(await shell.runs('troupe approvals answer ')).toEqual(['approvals', 'answer', waitingId])
    expect(await shell.runs(`troupe sessions --data-dir "${otherData}" show `)).toEqual([
      ...['sessions', '--data-dir', otherData, 'show', otherId],
    ])
    expect(await shell.runs('troupe sessions show --data-dir home/st')).toEqual([
      ...['sessions', 'show', '--data-dir', expect.stringMatching(/^home\/state\/?$/)],
    ])
  })

  test.skipIf(missing !== undefined)(called('inserts every name as one word, and evaluates none'), async () => {
    const answers = { agent: (await ask('agent')).stdout, 'agent-name': (await ask('agent-name')).stdout }
    const shell = await openShell(name, folder, answers)
    const inserted: { [typed: string]: readonly string[] } = {}
    for (const typed of Object.keys(insertions)) inserted[typed] = await shell.runs(`troupe ${typed}`)
    expect(inserted).toEqual(insertions)
    for (const word of ["'$(touch pwned)'", "'a]=$(touch pwned)'", "--'$(touch pwned)'", "'("])
      await shell.offers(`troupe ${word} ${word} --${word}=${word} ${word}`)
    expect(existsSync(at('pwned'))).toBe(false)
  })
})
