// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the planted sources have templates of their own
import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findCycles } from '../src/util/find-cycles.ts'
import { importsOf, type Skeleton, skeleton } from './source-scanner.ts'

const everyone = ['contracts', 'util']
const library = ['project', 'core', 'policy', 'view', 'models', 'steps', 'stores', 'tools', 'runtime', 'kernel']

/** Which folder of src/ may import which. This table is the architecture: a new edge is a decision. */
const edges: { readonly [folder: string]: readonly string[] } = {
  contracts: [],
  util: ['contracts'],
  policy: [...everyone],
  core: [...everyone, 'policy'],
  steps: [...everyone, 'policy', 'core'],
  view: [...everyone, 'core'],
  yaml: [...everyone],
  project: [...everyone, 'policy', 'yaml', 'models', 'steps', 'stores', 'tools', 'runtime'],
  models: [...everyone, 'yaml'],
  stores: [...everyone],
  testing: [...everyone],
  tools: [...everyone, 'policy', 'core', 'yaml'],
  runtime: [...everyone, 'policy', 'core', 'steps', 'tools', 'models', 'stores'],
  kernel: [...everyone, 'policy', 'yaml', 'runtime', 'project', 'tools', 'view'],
  server: [...everyone, 'policy', 'project', 'runtime', 'tools', 'view'],
  // Runs in the browser.
  web: [...everyone, 'policy', 'view'],
  cli: [...everyone, ...library, 'server', 'testing'],
  // The façade, src/index.ts. Concrete stores and the testing kit have entries of their own.
  '': [...everyone, 'policy', 'core', 'project', 'models', 'tools', 'runtime', 'kernel', 'server'],
}
const forTests = ['testing', 'stores']

/** Folders whose files are imported one by one, not through an index. */
const entries: { readonly [folder: string]: RegExp } = {
  // Helpers have nothing in common: each importer loads the one it needs.
  util: /^util\/(?:[a-z-]+\/)?[a-z-]+\.ts$/,
  policy: /^policy\/[a-z-]+\.ts$/,
  yaml: /^yaml\/[a-z-]+\.ts$/,
  // The command line finds models by name, and loads the code of one when it is asked for.
  models: /^models\/(?:(?:by-name|keys)\/)?index\.ts$/,
  // Built-in tools are loaded by the code that offers them.
  tools: /^tools\/(?:[a-z-]+\/)?index\.ts$/,
  // `openStore` loads a kind of store when one is opened; programs import the one they use.
  stores: /^stores\/(?:[a-z-]+\/)?index\.ts$/,
  // The supervisor is a process that loads nothing else of the kernel.
  kernel: /^kernel\/(?:supervisor\/)?index\.ts$/,
  server: /^server\/(?:[a-z-]+\/)?index\.ts$/,
  // Tests of stores use the sample tree of the contract.
  testing: /^testing\/(?:store-cases\/(?:sample-tree|turn-records)|index)\.ts$/,
}
/** Folders of `server` that share `server/http` and nothing else. */
const protocols = ['anthropic', 'mcp', 'openai', 'rest', 'web', 'webhooks']
/** Folders that need nothing but the language. */
const pure = ['contracts', 'util', 'policy', 'core', 'steps', 'view']

/** Fixtures are what tests start in processes of their own. */
const isTest = (file: string) => /\.test(?:-d)?\.ts$|\/fixtures\//.test(file)
const folderOf = (path: string) => (path.includes('/') ? path.slice(0, path.indexOf('/')) : '')

/** `file` and the answers are relative to src/. */
function importProblems(file: string, specifiers: readonly string[]): string[] {
  const folder = folderOf(file)
  const allowed = [...(edges[folder] ?? []), ...(isTest(file) ? forTests : [])]
  return specifiers.flatMap((from) => {
    if (!from.startsWith('.')) {
      if (/^troupe(?:\/|$)/.test(from)) return [`imports the package by its own name: ${from}`]
      return pure.includes(folder) && !isTest(file) ? [`${folder} imports a package: ${from}`] : []
    }
    const target = posix.join(posix.dirname(file), from)
    const owner = folderOf(target)
    if (owner === folder) {
      const [part, other] = [file, target].map((path) => path.split('/')[1])
      const isProtocol = folder === 'server' && protocols.includes(part ?? '')
      return isProtocol && part !== other && target !== 'server/http/index.ts' ? [`a protocol imports another: ${target}`] : []
    }
    if (owner === '..') return isTest(file) && target.startsWith('../test/fixtures/') ? [] : [`leaves src: ${target}`]
    if (!allowed.includes(owner)) return [`${folder || 'index.ts'} may not import ${owner || target}`]
    return (entries[owner] ?? /^[a-z]+\/index\.ts$/).test(target) ? [] : [`not through index.ts: ${target}`]
  })
}

/** Folders whose subfolders have no import cycles: all of them, and each command is a subfolder, too. */
const acyclic = [...Object.keys(edges).filter((folder) => folder !== ''), 'cli/commands']

interface Import {
  readonly from: string
  readonly to: string
}
/** The subfolder of a file. The files directly in a folder are one group; its index.ts is in none, because it may import everything. */
const groupOf = (file: string) => (file.split('/').length > 2 ? (file.split('/')[1] ?? '') : '(root)')
const isIndex = (file: string) => /^[a-z]+\/index\.tsx?$/.test(file)

/** `imports` are of one folder. Each cycle names its groups, and one import for each step. */
function groupProblems(imports: readonly Import[]): string[] {
  const crossing = imports.filter(({ from, to }) => !isIndex(from) && !isIndex(to) && groupOf(from) !== groupOf(to))
  const groups = [...new Set(crossing.map(({ from }) => groupOf(from)))]
  const example = (group: string, next: string) => {
    const found = crossing.find(({ from, to }) => groupOf(from) === group && groupOf(to) === next)
    return `  ${found?.from} → ${found?.to}`
  }
  const edges = (group: string) => {
    const next = crossing.filter(({ from }) => groupOf(from) === group).map(({ to }) => groupOf(to))
    return [...new Set(next)].map((to) => ({ to }))
  }
  const cycles = findCycles(groups, edges).map(({ nodes }) => {
    const closed = [...nodes, ...nodes.slice(0, 1)]
    return [closed.join(' → '), ...nodes.map((group, at) => example(group, closed[at + 1] ?? ''))].join('\n')
  })
  return [...imports.filter(({ to }) => isIndex(to)).map(({ from, to }) => `${from} imports ${to}`), ...cycles]
}

const ambient = /\bprocess\s*(?:\?\.|\.)\s*(?:env|chdir)\b|\bprocess\s*(?:\?\.)?\s*\[|\{[^{}]*\b(?:env|chdir)\b[^{}]*\}\s*=\s*process\b/
const output = /\bconsole\s*(?:\?\.|\.|\[)/
const unnamed = /\bexport\s*(?:type\s*)?\*|\bexport\s+default\b|\bas\s+default\b/

function codeProblems(file: string, { code }: Skeleton, specifiers: readonly string[]): string[] {
  const inside = folderOf(file) !== 'cli' && !isTest(file)
  const rules: [boolean, string][] = [
    [
      inside && (ambient.test(code) || specifiers.some((from) => /^(?:node:)?process$/.test(from))),
      'process.env or chdir outside cli/ (invariant 2)',
    ],
    [inside && output.test(code), 'console outside cli/ (invariant 9)'],
    [posix.basename(file) === 'index.ts' && unnamed.test(code), 'an index.ts has named exports only'],
  ]
  return rules.flatMap(([broken, message]) => (broken ? [message] : []))
}

function problems(file: string, source: string): string[] {
  const bones = skeleton(source)
  const specifiers = importsOf(bones)
  const unknown = folderOf(file) in edges ? [] : ['a folder that the table does not know']
  return [...unknown, ...importProblems(file, specifiers), ...codeProblems(file, bones, specifiers)]
}

const root = posix.join(import.meta.dirname, '..')
const files = (pattern: string) => globSync(pattern, { cwd: root }).sort()
const read = (file: string) => readFileSync(posix.join(root, file), 'utf8')
const lines = (file: string) => read(file).split('\n').length - 1

describe('the sources', () => {
  it('keep to the table', () => {
    const found = files('src/**/*.{ts,tsx}').flatMap((file) =>
      problems(file.slice('src/'.length), read(file)).map((problem) => `${file}: ${problem}`),
    )
    expect(found).toEqual([])
  })
  it.each(acyclic)('have no cycles between the subfolders of %s', (folder) => {
    const above = `src/${posix.join(folder, '..')}/`.replace('src/./', 'src/')
    const imports = files(`src/${folder}/**/*.{ts,tsx}`)
      .map((file) => file.slice(above.length))
      .filter((file) => !isTest(file))
      .flatMap((from) => {
        const targets = importsOf(skeleton(read(`${above}${from}`))).filter((to) => to.startsWith('.'))
        return targets.map((to) => ({ from, to: posix.join(posix.dirname(from), to) }))
      })
    expect(groupProblems(imports.filter(({ to }) => folderOf(to) === posix.basename(folder)))).toEqual([])
  })
  it('have no file over 500 lines', () => {
    expect([...files('src/**/*.{ts,tsx,css}'), ...files('test/**/*.ts'), ...files('bin/*')].filter((file) => lines(file) > 500)).toEqual([])
  })
  it('have a core of at most 2,800 lines', () => {
    const core = files('src/core/**/*.ts').filter((file) => !isTest(file))
    expect(core.reduce((sum, file) => sum + lines(file), 0)).toBeLessThanOrEqual(2_800)
  })
})

describe('cycles between subfolders', () => {
  const found = (...imports: string[]) =>
    groupProblems(
      imports.map((text) => {
        const [from = '', to = ''] = text.split(' ')
        return { from, to }
      }),
    )
  it.each([
    [['a/b/x.ts a/c/y.ts', 'a/b/x.ts a/y.ts', 'a/c/y.ts a/y.ts'], []],
    [['a/b/x.ts a/c/y.ts', 'a/c/z.ts a/b/z.ts'], ['b → c → b\n  a/b/x.ts → a/c/y.ts\n  a/c/z.ts → a/b/z.ts']],
    [['a/x.ts a/b/x.ts', 'a/b/c/x.ts a/y.ts'], ['(root) → b → (root)\n  a/x.ts → a/b/x.ts\n  a/b/c/x.ts → a/y.ts']],
    [['a/b/x.ts a/b/c/y.ts', 'a/b/c/y.ts a/b/x.ts'], []],
    [['a/index.ts a/b/x.ts', 'a/b/x.ts a/c/index.ts'], []],
    [['a/b/x.ts a/index.ts'], ['a/b/x.ts imports a/index.ts']],
  ])('%j', (imports, expected) => {
    expect(found(...imports)).toEqual(expected)
  })
})

describe('tests that need a sandbox', () => {
  const here = 'test/sandbox-here.ts'
  const looksForOne = (file: string): boolean => {
    const { strings } = skeleton(read(file))
    return strings.includes('bwrap') || strings.some((text) => /^(?:\.\.?\/)+sandbox-here\.ts$/.test(text))
  }
  it('are in files that end in .sandbox.test.ts, and nothing else is', () => {
    const tests = [...files('src/**/*.test.ts'), ...files('test/**/*.ts')].filter(
      (file) => ![here, 'test/architecture.test.ts'].includes(file),
    )
    expect(tests.filter(looksForOne)).toEqual(tests.filter((file) => file.endsWith('.sandbox.test.ts')))
  })
  it('are run by npm run test:sandbox, which fails if there is none', () => {
    expect(JSON.parse(read('package.json')).scripts['test:sandbox']).toMatch(/TROUPE_TEST_SANDBOX=1 vitest run \.sandbox\.test\.ts$/)
    expect(read(here)).toContain('process.env.TROUPE_TEST_SANDBOX')
  })
})

describe('the scanner', () => {
  const planted: [file: string, source: string, expected: string[]][] = [
    ['core/a.ts', `import { x } from './b.ts'\nexport type { Y } from '../contracts/index.ts'`, []],
    ['core/a.ts', `import { x } from '../runtime/index.ts'`, ['core may not import runtime']],
    ['core/a.ts', `import type { X } from '../stores/memory/index.ts'`, ['core may not import stores']],
    ['core/a.ts', `export { x } from "../tools/index.ts"`, ['core may not import tools']],
    ['core/a.ts', `export * from '../project/index.ts'`, ['core may not import project']],
    ['core/a.ts', `import '../models/index.ts'`, ['core may not import models']],
    ['core/a.ts', `const x = await import('../models/index.ts')`, ['core may not import models']],
    ['core/a.ts', `const x = await import(\`../models/index.ts\`)`, ['core may not import models']],
    ['core/a.ts', `type X = import('../models/index.ts').X`, ['core may not import models']],
    ['core/a.ts', `import {\n  a, // it's from 'there'\n  b,\n} from '../models/index.ts'`, ['core may not import models']],
    ['core/a.ts', `import a, { b as c } from /* the */ '../models/index.ts'`, ['core may not import models']],
    ['core/a.ts', `import { readFileSync } from 'node:fs'`, ['core imports a package: node:fs']],
    ['core/a.ts', `import { x } from '../index.ts'`, ['core may not import index.ts']],
    ['core/a.test.ts', `import { x } from '../testing/index.ts'\nimport { it } from 'vitest'`, []],
    ['core/a.test.ts', `import { x } from '../stores/sqlite/index.ts'`, []],
    ['core/a.test.ts', `import { x } from '../runtime/index.ts'`, ['core may not import runtime']],
    ['core/deep/a.ts', `import { x } from '../../contracts/events.ts'`, ['not through index.ts: contracts/events.ts']],
    ['core/a.ts', `import { x } from '../util/hash.ts'`, []],
    ['core/a.test.ts', `import { x } from '../../test/b.ts'`, ['leaves src: ../test/b.ts']],
    ['stores/sqlite/fixtures/a.ts', `import { x } from '../../../testing/index.ts'`, []],
    ['contracts/a.ts', `import { x } from '../util/index.ts'`, ['contracts may not import util']],
    ['util/a.ts', `import { x } from '../contracts/index.ts'`, []],
    ['util/a.ts', `import { x } from '../core/index.ts'`, ['util may not import core']],
    ['steps/a.ts', `import { x } from '../core/index.ts'`, []],
    ['core/a.ts', `import { x } from '../steps/index.ts'`, ['core may not import steps']],
    ['runtime/a.ts', `import { x } from '../stores/memory/index.ts'`, []],
    ['runtime/a.ts', `import { x } from '../stores/memory/journal.ts'`, ['not through index.ts: stores/memory/journal.ts']],
    ['runtime/a.ts', `import { x } from '../core/drive.ts'`, ['not through index.ts: core/drive.ts']],
    ['runtime/a.ts', `import { x } from '../kernel/index.ts'`, ['runtime may not import kernel']],
    ['runtime/a.ts', `import { x } from 'troupe/testing'`, ['imports the package by its own name: troupe/testing']],
    ['server/rest/a.ts', `import { x } from './b.ts'`, []],
    ['server/rest/a.ts', `import { x } from '../mcp/index.ts'`, ['a protocol imports another: server/mcp/index.ts']],
    ['server/rest/a.ts', `import { x } from '../../stores/index.ts'`, ['server may not import stores']],
    ['cli/a.ts', `import { x } from '../server/rest/index.ts'\nconsole.log(process.env.HOME)`, []],
    ['odd/a.ts', '', ['a folder that the table does not know']],
    ['index.ts', `export { x } from './runtime/index.ts'`, []],
    ['index.ts', `export { x } from './stores/sqlite/index.ts'`, ['index.ts may not import stores']],
    ['index.ts', `export * from './runtime/index.ts'`, ['an index.ts has named exports only']],
    ['core/index.ts', `export type * from './a.ts'`, ['an index.ts has named exports only']],
    ['core/index.ts', `export default 1`, ['an index.ts has named exports only']],
    ['tools/a.ts', `const home = process.env['HOME']`, ['process.env or chdir outside cli/ (invariant 2)']],
    ['tools/a.ts', `process?.chdir('/')`, ['process.env or chdir outside cli/ (invariant 2)']],
    ['tools/a.ts', `const { env } = process`, ['process.env or chdir outside cli/ (invariant 2)']],
    ['tools/a.ts', `process['env']`, ['process.env or chdir outside cli/ (invariant 2)']],
    ['tools/a.ts', `import { env } from 'node:process'`, ['process.env or chdir outside cli/ (invariant 2)']],
    ['tools/a.ts', 'const x = `${`${console.log(1)}`}`', ['console outside cli/ (invariant 9)']],
    ['tools/a.test.ts', `process.env.X`, []],
  ]
  it.each(planted)('%s with %j', (file, source, expected) => {
    expect(problems(file, source)).toEqual(expected)
  })

  it.each([
    [`// import x from '../runtime/index.ts'`],
    [`/* import '../runtime/index.ts'\n process.env */`],
    [`const x = "import y from '../runtime/index.ts'; process.env; console.log()"`],
    [`const x = 'it\\'s // import "../runtime/index.ts"'`],
    ['const x = `import "../runtime/index.ts" ${ { a: 1 }.a } process.env`'],
    ['const x = `${`https://a/${1}`}`; const y = "import \'../runtime/index.ts\'"'],
    [`const x = /["'\`]\\/[/"]/.test(y); const z = "import '../runtime/index.ts'"`],
    [`const x = a / b; const y = "import '../runtime/index.ts'" // /`],
    [`const x = Array.from('../runtime/index.ts')`],
    [`const x = { from: '../runtime/index.ts' }; export const y = '../runtime/index.ts'`],
  ])('is not fooled by %j', (source) => {
    expect(problems('core/a.ts', source)).toEqual([])
  })
})
