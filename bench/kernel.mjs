// How long it takes to discover, load and start a hundred extensions with tools, a third of them with dependencies and an agent.
// npx node bench/kernel.mjs [count]
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { ExtensionLoader, findExtensions } from '../src/kernel/index.ts'
import { systemClock } from '../src/runtime/index.ts'

const count = Number(process.argv[2] ?? 100)
const root = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-bench-')))

const source = `
export class Main {
  #context: unknown
  initialize(context: unknown): void {
    this.#context = context
  }
  getTools() {
    return ['get', 'set', 'list'].map((name) => ({
      name,
      description: name,
      inputSchema: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
      execute: () => String(this.#context !== undefined),
    }))
  }
  start(): void {}
  stop(): void {}
}
`

try {
  writeExtensions()
  const before = process.cpuUsage()
  const begin = performance.now()
  const found = await findExtensions({
    places: [{ folder: join(root, 'extensions'), source: 'project' }],
    workspace: root,
    trusted: 'everything',
  })
  const discovered = performance.now()
  const loader = new ExtensionLoader({ found, ports: ports() })
  await loader.load()
  const loaded = performance.now()
  await loader.start()
  const started = performance.now()
  const { user, system } = process.cpuUsage(before)
  const running = loader.list().filter(({ state, tools }) => state === 'running' && tools.length === 3).length
  await loader.stop()
  console.log(
    JSON.stringify({
      extensions: count,
      running,
      discoveredMs: rounded(discovered - begin),
      loadedMs: rounded(loaded - discovered),
      startedMs: rounded(started - loaded),
      totalMs: rounded(started - begin),
      cpuMs: rounded((user + system) / 1000),
    }),
  )
} finally {
  rmSync(root, { recursive: true, force: true })
}

function writeExtensions() {
  for (let n = 0; n < count; n++) {
    const folder = join(root, 'extensions', `e${n}`)
    mkdirSync(folder, { recursive: true })
    const needs =
      n % 3 === 2 ? `depends_on: [e${n - 1}]\nagent:\n  model: auto\n  instructions: prompt.md\n  uses_tools: [e${n - 2}]\n` : ''
    writeFileSync(join(folder, 'prompt.md'), 'You are {{ name }}.')
    writeFileSync(
      join(folder, 'manifest.yaml'),
      `id: e${n}\nname: Extension ${n}\nversion: "1.0.0"\ndescription: Number ${n}\nentrypoint: main:Main\n${needs}`,
    )
    writeFileSync(join(folder, 'main.ts'), source)
  }
}

function ports() {
  const nothing = async () => {}
  return {
    clock: systemClock,
    bus: { publish: nothing, subscribe: () => () => {} },
    router: { register: () => () => {}, receive: nothing, notify: nothing },
    supervisor: { requestRestart: nothing, requestShutdown: nothing, loading() {}, ready() {}, enter: (_id, _stage, work) => work() },
    scheduler: { schedulesOf: () => ({}), register: () => () => {} },
    agents: {},
    extensions: {},
    workspace: root,
    dataFolder: join(root, 'data'),
    logger: () => ({}),
    secret: () => undefined,
    storedConfig: () => ({}),
    builtinTools: () => [],
  }
}

function rounded(ms) {
  return Math.round(ms * 10) / 10
}
