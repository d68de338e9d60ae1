import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { endAssistants, type Files, manifest, startAssistant } from './assistant.ts'
import { teamScript } from './team-script.ts'

afterAll(endAssistants)

// One folder with everything that can be wrong with an extension. What ends or blocks the process is in up.test.ts.

const isFull = process.env.TROUPE_FULL !== undefined

/** The files of an extension, and what the person gets to see: its state and its problems. */
interface Wrong {
  readonly files: Files
  readonly seen: RegExp
}

type Make = (id: string) => Wrong

const main = (body: string): string => `export class Main {\n  ${body}\n}\n`
const raw =
  (manifestText: string, seen: RegExp): Make =>
  () => ({ files: { 'manifest.yaml': manifestText, 'main.js': main('') }, seen })
/** A manifest with these lines. */
const keys =
  (more: string, seen: RegExp): Make =>
  (id) => ({ files: { 'manifest.yaml': manifest(id, { more }), 'main.js': main('') }, seen })
const withEntry = (more: string, seen: RegExp): Make => keys(`entrypoint: main:Main\n${more}`, seen)
const agent = (section: string, seen: RegExp): Make => keys(`agent:\n  model: auto\n${section}`, seen)
const code =
  (source: string, seen: RegExp): Make =>
  (id) => ({ files: { 'manifest.yaml': manifest(id, { entrypoint: 'main:Main' }), 'main.js': source }, seen })
const method = (body: string, seen: RegExp): Make => code(main(body), seen)

const makes: { readonly [id: string]: Make } = {
  // Manifests.
  empty: raw('', /failed .*`id`, `name`, `version`, `description` are missing/),
  no_yaml: raw('id: [unclosed\n', /failed .*manifest\.yaml:1:5: the settings are not valid YAML: this `\[` is never closed/),
  binary: raw('\u0000\u0001', /failed .*the file is binary/),
  a_list: raw('- id: a_list\n', /failed .*must be lines of `key: value`/),
  other_id: raw(manifest('somebody', { entrypoint: 'main:Main' }), /failed .*the id is `somebody`, but the folder is `other_id`/),
  unknown_key: withEntry('colour: red\n', /failed .*:6:1: unknown key `colour`/),
  wrong_type: withEntry('enabled: 3\n', /failed .*`enabled` must be/),
  twice: withEntry('version: "2"\n', /failed .*Map keys must be unique/),
  outside: keys('entrypoint: ../kv/main:Main\n', /failed .*is not `FILE:CLASS`/),
  no_purpose: keys('', /failed .*there is no `entrypoint`, `agent` or `schedules`/),
  bad_mode: agent('  integration_mode: telepathy\n', /failed .*not "telepathy"/),
  no_prompt: agent('  instructions: prompts/none.md\n', /failed .*`prompts\/none.md` does not exist/),
  bad_limit: agent('  limits: { max_turns: -1 }\n', /failed .*`agent.limits.max_turns` must be/),
  bad_cron: keys('schedules:\n  - { id: x, cron: daily, task: Hi }\n', /failed .*expected 5 or 6 fields/),
  'Bad-Id!': withEntry('', /failed /),
  // Dependencies and tools.
  ring_a: withEntry('depends_on: [ring_b]\n', /failed .*ring_a → ring_b → ring_a/),
  ring_b: withEntry('depends_on: [ring_a]\n', /failed .*ring_b → ring_a → ring_b/),
  itself: withEntry('depends_on: [itself]\n', /failed .*names the extension itself/),
  orphan: withEntry('depends_on: [helthy]\n', /failed .*`helthy` does not exist.*Did you mean "healthy"/),
  falls: method(`initialize() { throw new Error('first') }`, /failed .*first \(main.js:2\)/),
  falls_too: withEntry('depends_on: [falls]\n', /failed .*it needs `falls`, which failed: .*first/),
  missing_tools: agent('  uses_tools: [nobody]\n', /failed .*`nobody` does not exist/),
  no_tools: agent('  uses_tools: [needs_healthy]\n', /failed .*provides no tools/),
  no_model: keys('agent:\n  model: nobody/nothing\n', /running .*nobody\/nothing cannot be used/),
  steals: method(`initialize(context) { context.getExtension('kv') }`, /failed .*`kv` is not in `depends_on`/),
  no_secret: method(`initialize(context) { context.secret('HOME') }`, /failed .*the secret HOME is not declared/),
  // Entry files.
  no_file: keys('entrypoint: other:Main\n', /failed .*neither other.js nor other.ts/),
  no_class: code('export class Other {}\n', /failed .*does not export the class `Main`.*It exports: Other/),
  not_a_class: code('export const Main = 5\n', /failed .*does not export the class `Main` \(Write `export class Main`\.\)/),
  syntax: code('export class Main {\n  oh no\n}\n', /failed .*it cannot be imported: Unexpected identifier/),
  at_import: code(`throw new Error('boo')\n`, /failed .*cannot be imported: boo \(main.js:1\)/),
  at_constructor: method(`constructor() { throw new Error('boo') }`, /failed .*`new Main\(\)` failed: boo/),
  at_initialize: method(`async initialize() { throw new Error('boo') }`, /failed .*boo \(main.js:2\)/),
  at_tools: method(`getTools() { throw new Error('boo') }`, /failed .*boo/),
  at_schedule: method(`getSchedule() { throw new Error('boo') }\n  execute() {}`, /failed .*boo/),
  at_start: method(`start() { throw new Error('boo') }`, /failed .*start failed: boo/),
  at_start_null: method(`start() { throw null }`, /failed .*start failed: null/),
  at_background: method(`async runBackground() { throw new Error('boo') }`, /running .*the service \(started again.*boo/),
  at_context: method(`getContext() { throw new Error('boo') }`, /^running/),
  leaks: code(`setInterval(() => {}, 1)\n${main(`start() { this.t = setInterval(() => {}, 5) }`)}`, /^running/),
  wrong_tools: method(
    `getTools() { return [{ name: 'x!', execute: 'no' }, null, 7] }`,
    /running .*expected a function.*found null.*found 7/,
  ),
  wrong_values: method(
    `getTools() { return 'none' }\n  getSchedule() { return 5 }\n  execute() {}`,
    /failed .*expected a list.*expected 5 or 6 fields/,
  ),
  // Ten seconds each, all at the same time.
  ...(isFull && {
    hangs_initialize: method(`initialize() { return new Promise(() => {}) }`, /failed .*`initialize` took longer than 10 s/),
    hangs_start: method(`start() { return new Promise(() => {}) }`, /failed .*`start` took longer than 10 s/),
    hangs_context: method(`getContext() { return new Promise(() => {}) }`, /^running/),
  }),
}

const greeting = `getTools() {
    return [{ name: 'hi', description: 'Greet', inputSchema: { type: 'object' }, effect: 'read', execute: () => 'Good morning' }]
  }`
const badAgent = `invoke(task) {
    if (task === 'hang') return new Promise(() => {})
    if (task === 'null') return null
    throw new Error('boo')
  }`
const wrong = Object.fromEntries(Object.entries(makes).map(([id, make]) => [id, make(id)]))
const healthy: { readonly [id: string]: Files } = {
  healthy: { 'manifest.yaml': manifest('healthy', { entrypoint: 'main:Main' }), 'main.js': main(greeting) },
  needs_healthy: {
    'manifest.yaml': manifest('needs_healthy', { entrypoint: 'main:Main', more: 'depends_on: [healthy]\n' }),
    'main.js': main(''),
  },
  agent_of_code: {
    'manifest.yaml': manifest('agent_of_code', {
      entrypoint: 'main:Main',
      more: 'agent:\n  model: auto\n  limits: { time_budget_ms: 200 }\n',
    }),
    'main.js': main(badAgent),
  },
}

const inFolders = (all: { readonly [id: string]: Files }): Files =>
  Object.fromEntries(
    Object.entries(all).flatMap(([id, files]) => Object.entries(files).map(([path, content]) => [`${id}/${path}`, content])),
  )

interface Listed {
  readonly id: string
  readonly state: string
  readonly source: string
  readonly problems: readonly { readonly place: string; readonly message: string; readonly remedy?: string }[]
}

it('next to everything that can be wrong the rest works, and the person sees what happened', async () => {
  const bad = Object.fromEntries(Object.entries(wrong).map(([id, { files }]) => [id, files]))
  const up = await startAssistant({
    script: teamScript(),
    extensions: inFolders({ ...bad, ...healthy }),
    before({ write, project, home }) {
      // The same id in two places: the nearer one wins. And a folder that leads somewhere else.
      write(
        Object.fromEntries(Object.entries(healthy.healthy ?? {}).map(([path, content]) => [`project/extensions/healthy/${path}`, content])),
      )
      symlinkSync(join(home, '.ai-agent', 'extensions', 'healthy'), join(project, 'extensions', 'linked'))
    },
    trusts: ['healthy'],
  })
  expect(await up.asks('use healthy__hi {}')).toBe('Good morning')
  expect(await up.asks('ask agent_of_code: hang')).toContain('time budget of 200ms')
  expect(await up.asks('ask agent_of_code: null')).toContain('`invoke` returned null')
  expect(await up.asks('ask agent_of_code: throw')).toContain('invoke failed: boo')

  // Everything has started, or has used up its time.
  await up.logs(/"Extensions: /)
  const { extensions } = (await (await up.fetch('/v1/extensions')).json()) as { readonly extensions: readonly Listed[] }
  const seen = Object.fromEntries(
    extensions.map(({ id, state, problems }) => [
      id,
      [state, ...problems.map(({ place, message, remedy }) => `${place}: ${message} (${remedy})`)].join(' '),
    ]),
  )
  expect(seen).toMatchObject(Object.fromEntries(Object.entries(wrong).map(([id, one]) => [id, expect.stringMatching(one.seen)])))
  for (const id of ['needs_healthy', 'agent_of_code', 'desk', 'kv', 'builder_agent']) expect(seen[id]).toBe('running')
  expect(seen.healthy).toMatch(/running .*home\/.ai-agent\/extensions\/healthy: not loaded: .*project\/extensions\/healthy has the same id/)
  expect(seen.linked).toMatch(/failed .*the folder is a link/)
  // Every failure says what to do.
  expect(
    extensions.filter(({ state, problems }) => state === 'failed' && problems.every(({ remedy }) => !remedy)).map(({ id }) => id),
  ).toEqual([])

  const listed = await up.asks('use list_extensions {}')
  for (const { id, state } of extensions) expect(listed).toContain(`- ${id} (${state}`)
  const shown = await up.troupe(['extensions', 'show', 'other_id'])
  expect(shown.stdout).toContain('Rename the folder to `somebody`, or write `id: other_id`.')
  expect((await up.troupe(['extensions', 'list'])).stdout).toMatch(/ring_a +invalid[^\n]*1 problem/)
  const told = await up.hearsOf('Extension unknown_key is not running')
  expect(told.text).toContain('unknown key `colour`')
  expect(up.kernels()).toBe(1)
})
