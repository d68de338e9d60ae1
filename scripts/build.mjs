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
const bundle = await rolldown({ input, platform: 'node', external: (id) => !isOurs(id) })
await bundle.write({
  dir: 'dist',
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: `${parts}/[name].js`,
  // Small, and used by nearly everything: many files of their own would cost more than what one run does not need of them.
  codeSplitting: {
    groups: [
      { name: 'shared', test: /src\/(?:contracts|util)\// },
      { name: 'core', test: /src\/core\// },
      { name: 'policy', test: /src\/policy\/(?!.*(?:http|form))/ },
    ],
  },
})
await bundle.close()

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
