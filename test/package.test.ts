import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const json = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'))

interface LockEntry {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly link?: boolean
  readonly dev?: boolean
  readonly optional?: boolean
}

const manifest = json('package.json')

const schemas = [
  './schemas/agent-file.schema.json',
  './schemas/ai-agent.schema.json',
  './schemas/session.schema.json',
  './schemas/run-document.schema.json',
  './schemas/stream-event.schema.json',
]

/** What Node loads with a file of the build: its files, with their code, and packages. */
function loadedWith(entry: string) {
  const files = new Map<string, string>()
  const packages = new Set<string>()
  const load = (file: string): void => {
    if (files.has(file)) return
    const code = readFileSync(join(root, 'dist', file), 'utf8')
    files.set(file, code)
    for (const [, from = ''] of code.matchAll(/^(?:import|export)\s(?:[^'"]*?\sfrom )?["']([^"']+)["']/gm)) {
      if (from.startsWith('.')) load(join(dirname(file), from))
      else if (!from.startsWith('node:')) packages.add(from)
    }
  }
  load(entry)
  return { files, packages: [...packages] }
}

describe('the export map', () => {
  /** Every name is a promise: adding one is a decision, taking one away a breaking change. */
  const promised: { readonly [subpath: string]: readonly string[] } = {
    '.': [
      'ModelHealth',
      'TroupeError',
      'agentLoop',
      'childLimits',
      'createAgentRuntime',
      'defaultLimits',
      'defaultSandboxPolicy',
      'defineTool',
      'errorTable',
    ],
    './agents': ['agentsFromFiles'],
    './extension': [],
    './kernel': ['createKernel'],
    './models': ['fromAiSdk', 'fromLangChain', 'fromLlamaIndex', 'modelAdapter', 'rehearsalModel', 'scriptModel'],
    './project': ['loadProject'],
    './server': ['createServer', 'createToken', 'listTokens', 'revokeToken'],
    './stores/memory': ['memoryStore'],
    './stores/postgres': ['copyFromSqlite', 'migratePostgres', 'postgresStore'],
    './stores/sqlite': ['sqliteStore'],
    './testing': ['FakeClock', 'ScriptedModel', 'gate', 'gatedServer', 'modelContract', 'sequentialIds', 'storeContract', 'toolContract'],
    './tools': [
      'checkHooks',
      'findProjectRoot',
      'findSkills',
      'hooksFrom',
      'openApiTools',
      'processSandbox',
      'projectContext',
      'restTool',
      'selectSkills',
      'userSkillDirectories',
      'workspaceTools',
    ],
  }

  it('has exactly these entries', () => {
    expect(Object.keys(manifest.exports)).toEqual([...Object.keys(promised), ...schemas, './package.json'])
  })

  it('points to files that the build makes', () => {
    const targets = Object.values(manifest.exports).flatMap((entry) =>
      typeof entry === 'string' ? [entry] : Object.values(entry as object),
    )
    expect(targets.filter((target) => !existsSync(join(root, target)))).toEqual([])
  })

  // In a process of its own, by the package's name: what a user's import sees, nothing transformed.
  it.each(Object.entries(promised))('offers these names under %s', (subpath, names) => {
    const script = `process.stdout.write(JSON.stringify(Object.keys(await import('troupe${subpath.slice(1)}')).sort()))`
    const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { cwd: root, encoding: 'utf8' })
    expect(JSON.parse(printed)).toEqual(names)
  })

  // Node asks for each file what kind of module it is: the nearer the answer and the shorter, the sooner a program starts.
  it('has the kind of its modules beside them', () => {
    expect(json('dist/package.json')).toEqual({ type: 'module' })
  })

  // Start-up time is one of our figures: what only a call, a hook or a long history needs is loaded when there is one.
  it('loads few files with its main entry, and not these parts of the sources', () => {
    const { files, packages } = loadedWith('index.js')
    // The build says of each piece of code which file of the sources it is.
    const sources = (code: string): string[] => [...code.matchAll(/^\/\/ (src\/\S+\.ts)$/gm)].map(([, name = '']) => name)
    const loaded = [...files.values()].flatMap(sources)
    const all = globSync('dist/**/*.js', { cwd: root }).flatMap((file) => sources(readFileSync(join(root, file), 'utf8')))
    const late = ['loop/lazy-steps', 'approval/review', 'calls/execute', 'approval/hooks', 'context/compact'].map((name) => `steps/${name}`)
    late.push('tools/builtin/read-output')
    for (const name of late.slice(1)) expect(all).toContain(`src/${name}.ts`)
    expect(late.filter((name) => loaded.includes(`src/${name}.ts`))).toEqual([])
    expect(loaded).toContain('src/steps/model/ask.ts')
    expect(files.size).toBeLessThan(6)
    expect(packages).toEqual([])
    // Node compiles a hundred kilobytes in three milliseconds.
    expect([...files.values()].join('').length).toBeLessThan(690_000)
  })

  it('loads no packages for a run of the command line, and not the runtime for its help', () => {
    const { files } = loadedWith('cli/main.js')
    expect([...files.keys()]).not.toContain('parts/runtime.js')
    const run = globSync('dist/parts/run-command*.js', { cwd: root }).map((file) => loadedWith(file.replace('dist/', '')))
    expect(run.map(({ packages }) => packages)).toEqual([[]])
  })

  it('ships no tests', () => {
    expect(globSync(['dist/**/*.{test,test-d}.*', 'dist/**/fixtures/*'], { cwd: root })).toEqual([])
  })
})

/** Links and pictures of a page, without those to other hosts. */
function linkedFiles(page: string): readonly string[] {
  const text = readFileSync(join(root, page), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '')
  const links = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)].map(([, link, picture]) => link ?? picture ?? '')
  return links.flatMap((link) => (/^(?:[a-z]+:|#)/.test(link) ? [] : [join(dirname(page), link.split('#')[0] ?? '')]))
}

describe('what is published', () => {
  it('exists', () => {
    expect(manifest.files.filter((file: string) => !existsSync(join(root, file)))).toEqual([])
  })

  it('has its code, and all files that links in its pages lead to', () => {
    const printed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root, encoding: 'utf8' })
    const [made]: { readonly files: readonly { readonly path: string }[] }[] = JSON.parse(printed)
    const packed = made?.files.map(({ path }) => path) ?? []
    const isPacked = (path: string): boolean => packed.some((each) => each === path || each.startsWith(`${path.replace(/\/$/, '')}/`))
    const targets = Object.values<string | object>(manifest.exports).flatMap((entry) =>
      typeof entry === 'string' ? [entry] : Object.values<string>(entry as never),
    )
    const needed = [...targets, ...Object.values<string>(manifest.bin), 'dist/web/index.html', 'dist/extensions/kv/main.js']
    expect(needed.filter((path) => !isPacked(join(path)))).toEqual([])
    const pages = packed.filter((path) => path.endsWith('.md'))
    expect(pages).toContain('README.md')
    const broken = pages.flatMap((page) => linkedFiles(page).flatMap((file) => (isPacked(file) ? [] : [`${page}: ${file}`])))
    expect(broken).toEqual([])
    // Without a public address, there is nothing that relative links could be rewritten to.
    expect(manifest.repository).toBeUndefined()
  })

  it('is built before it is packed', () => {
    expect(manifest.scripts.prepack).toBe(manifest.scripts.build)
  })

  it.each([...Object.values<string>(manifest.bin), '.ci/run'])('%s can be executed', (file) => {
    expect(statSync(join(root, file)).mode & 0o111).toBe(0o111)
    expect(readFileSync(join(root, file), 'utf8')).toMatch(/^#!\/usr\/bin\/env (?:node|bash)\n/)
  })
})

describe.each(['', 'bench/'])('the dependencies of ./%s', (folder) => {
  const { dependencies, devDependencies, optionalDependencies, overrides } = json(`${folder}package.json`)
  const lock: { readonly packages: { readonly [path: string]: LockEntry } } = json(`${folder}package-lock.json`)
  const entries = Object.entries(lock.packages).filter(([path]) => path.includes('node_modules/'))

  it('have exact versions', () => {
    const wanted = Object.entries<string>({ ...dependencies, ...devDependencies, ...optionalDependencies, ...overrides })
    expect(wanted.filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version) && version !== 'file:..')).toEqual([])
  })

  it('are locked as the manifest says', () => {
    expect(lock.packages['']).toMatchObject({ dependencies, ...(devDependencies && { devDependencies }) })
  })

  it('are locked by content, without the host that they came from', () => {
    expect(entries.length).toBeGreaterThan(0)
    expect(
      entries.filter(([, entry]) => (entry.link ? entry.resolved !== '..' : entry.resolved !== undefined || !entry.integrity)),
    ).toEqual([])
  })
})

it('depends on permissive licences only', () => {
  const permissive = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'CC0-1.0', 'ISC', 'MIT', 'Unlicense']
  // `(AFL-2.1 OR BSD-3-Clause)`: we take the one that we may.
  const isPermissive = (licence: string) =>
    licence
      .replace(/^\(|\)$/g, '')
      .split(' OR ')
      .some((each) => permissive.includes(each))
  const packages: { readonly [path: string]: LockEntry } = json('package-lock.json').packages
  const installed = Object.entries(packages).filter(
    ([path, entry]) => path !== '' && !entry.dev && !(entry.optional && !existsSync(join(root, path))),
  )
  expect(installed.map(([path]) => path)).toContain('node_modules/ajv')
  expect(installed.map(([path]) => [path, json(`${path}/package.json`).license]).filter(([, licence]) => !isPermissive(licence))).toEqual(
    [],
  )
})
