// Makes `dist/`: types file by file, code in a few files, so that a program that imports Troupe starts fast.
// What is imported lazily in the sources is a file of its own here, too. See docs/decisions/0014.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { rolldown } from 'rolldown'
import { buildWeb } from './build-web.mjs'

const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))

/** Where parts of the package lie that belong to more than one entry. As deep as `cli/`, for files that are found from where the code is. */
const parts = 'parts'
const published = Object.values(exports)
  .filter((entry) => typeof entry === 'object')
  .map((entry) => entry.default.replace('./dist/', '').replace('.js', ''))
const input = {
  ...Object.fromEntries([...published, 'cli/main'].map((name) => [name, `src/${name}.ts`])),
  // Started as threads, by their place beside who starts them.
  [`${parts}/search-worker`]: 'src/tools/builtin/files/search/search-worker.ts',
  [`${parts}/watchdog-worker`]: 'src/kernel/supervisor/watchdog-worker.ts',
  [`${parts}/hook-worker`]: 'src/tools/hooks/hook-worker.ts',
}

rmSync('dist', { recursive: true, force: true })
mkdirSync('dist')
// Node asks for each file what kind of module it is: the answer is beside them.
writeFileSync('dist/package.json', JSON.stringify({ type: 'module' }))
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], { stdio: 'inherit' })

const isOurs = (id) => id.startsWith('.') || id.startsWith('/')
/** Built in, because loading their many files takes as long as half of a run. */
const bundled = ['yaml', 'smol-toml']
const bundle = await rolldown({ input, platform: 'node', external: (id) => !isOurs(id) && !bundled.includes(id) })

// Each file costs time at the start. So what an entry loads is in few, and in none that has much besides.
const { output } = await bundle.generate()

/** The modules that files load with them. */
function modulesOf(names, found = new Set()) {
  for (const name of names) {
    const file = output.find(({ fileName }) => fileName === name)
    // Not the lists of exports: with one, all that it names would be loaded.
    for (const [id, { renderedLength }] of Object.entries(file?.modules ?? {})) if (renderedLength > 0) found.add(id)
    modulesOf(file?.imports ?? [], found)
  }
  return found
}

const runtime = modulesOf(['index.js'])
const project = modulesOf(['project.js'])
const models = modulesOf(['models/index.js'])
const tools = modulesOf(['tools.js', 'agents.js'])
const commandLine = modulesOf(['cli/main.js'])
const light = modulesOf(['cli/main.js', 'testing/index.js', 'stores/memory/index.js', 'stores/sqlite/index.js'])
const isShared = (id) => /src\/(?:contracts|util)\//.test(id)

await bundle.write({
  dir: 'dist',
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: `${parts}/[name].js`,
  // They are in the types.
  comments: { jsdoc: false },
  codeSplitting: {
    groups: [
      { name: 'shared', test: (id) => runtime.has(id) && (commandLine.has(id) || isShared(id)) },
      { name: 'stores', test: (id) => runtime.has(id) && light.has(id) },
      { name: 'common', test: (id) => runtime.has(id) && (models.has(id) || tools.has(id) || project.has(id)) },
      { name: 'runtime', test: (id) => runtime.has(id) },
      { name: 'util', test: isShared },
      ...bundled.map((name) => ({ name, test: new RegExp(`node_modules/${name}/`) })),
      { name: 'models', test: (id) => project.has(id) && models.has(id) },
      { name: 'tools', test: (id) => project.has(id) && tools.has(id) },
      { name: 'project', test: (id) => project.has(id) && !light.has(id) },
    ],
  },
})
await bundle.close()
const licenses = bundled.map((name) => {
  const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8'))
  return `# ${name} ${version}\n\n${readFileSync(`node_modules/${name}/LICENSE`, 'utf8').trim()}\n`
})
writeFileSync('dist/licenses.md', licenses.join('\n'))

// Bundled extensions: one file of code each, because Node does not run TypeScript inside node_modules.
for (const id of readdirSync('extensions')) {
  const [from, to] = [`extensions/${id}`, `dist/extensions/${id}`]
  cpSync(from, to, { recursive: true, filter: (file) => !file.endsWith('.ts') })
  if (!existsSync(`${from}/main.ts`)) continue
  const extension = await rolldown({ input: { main: `./${from}/main.ts` }, platform: 'node', external: (name) => !isOurs(name) })
  await extension.write({ dir: to, format: 'esm', entryFileNames: 'main.js' })
  await extension.close()
}

// The process of a sandboxed extension sees this file, and no other file of the package.
const runner = await rolldown({ input: 'src/kernel/process/runner/extension-runner.ts', platform: 'node' })
await runner.write({ file: `dist/${parts}/extension-runner.mjs`, format: 'esm' })
await runner.close()

await buildWeb()
