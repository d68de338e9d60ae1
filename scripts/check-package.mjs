// Packs this repository, installs the package in an empty folder under the oldest and the newest Node that it supports, and uses it there:
// command line, types, every import, a project, a server and an assistant. Needs the npm registry. Run by `.ci/run`, not by `npm test`.
import { execFile, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const versions = ['22', '24']
const minute = 60_000

const scratch = mkdtempSync(join(tmpdir(), 'troupe-package-'))
/** Processes that run until they are told to end. */
const running = new Set()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
  rmSync(scratch, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))

const say = (text) => process.stdout.write(`${text}\n`)

/** Resolves with what a program prints, whatever its exit code is. */
const run = (file, args, { cwd, env = process.env, ms = minute }) =>
  new Promise((resolve) => {
    const options = { cwd, env, timeout: ms, killSignal: 'SIGKILL', maxBuffer: 64 * 1024 * 1024 }
    const child = execFile(file, args, options, (error, stdout, stderr) =>
      resolve({ code: error ? (error.code ?? 'killed') : 0, stdout, stderr }),
    )
    child.stdin.end()
  })

async function succeed(what, [file, ...args], options) {
  const ended = await run(file, args, options)
  if (ended.code !== 0) throw new Error(`${what} ended with ${ended.code}:\n${ended.stdout}${ended.stderr}`)
  return ended.stdout
}

function expectEqual(what, found, expected) {
  if (found !== expected) throw new Error(`${what}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`)
}

/** Subpaths with code, and all of them. */
const subpaths = Object.entries(manifest.exports).map(([key, entry]) => ({
  name: `troupe${key.slice(1)}`,
  isCode: typeof entry === 'object',
}))

async function pack() {
  await succeed('npm pack', ['npm', 'pack', '--pack-destination', scratch], { cwd: root, ms: 5 * minute })
  return join(scratch, `${manifest.name}-${manifest.version}.tgz`)
}

async function install(folder, tarball, version) {
  mkdirSync(folder)
  const project = { private: true, type: 'module', allowScripts: { node: true } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(project))
  const { typescript, '@types/node': types } = manifest.devDependencies
  const packages = [tarball, `node@${version}`, `typescript@${typescript}`, `@types/node@${types}`]
  await succeed('npm install', ['npm', 'install', '--no-audit', '--no-fund', '--loglevel=error', ...packages], {
    cwd: folder,
    ms: 5 * minute,
  })
  return join(folder, 'node_modules', 'node', 'bin', 'node')
}

async function checkTypes(folder, node) {
  const code = subpaths.filter(({ isCode }) => isCode)
  const lines = code.map(({ name }, index) => `import * as part${index} from '${name}'`)
  writeFileSync(
    join(folder, 'types.ts'),
    `${lines.join('\n')}\nexport const parts = [${code.map((_, index) => `part${index}`).join(', ')}]\n`,
  )
  const compiler = join(folder, 'node_modules', 'typescript', 'bin', 'tsc')
  const options = '--ignoreConfig --noEmit --strict --skipLibCheck --module nodenext --target es2024 --types node'.split(' ')
  await succeed('tsc', [node, compiler, ...options, 'types.ts'], { cwd: folder })
}

/** What a subpath needs besides, which people install themselves. */
const optionalPackages = { 'troupe/stores/postgres': 'pg' }

async function checkImports(folder, node) {
  for (const { name, isCode } of subpaths) {
    const attributes = isCode ? '' : `, { with: { type: 'json' } }`
    const command = [node, '--input-type=module', '--eval', `await import('${name}'${attributes})`]
    const missing = optionalPackages[name]
    if (missing === undefined) await succeed(`import ${name}`, command, { cwd: folder })
    else {
      const { stderr } = await run(command[0], command.slice(1), { cwd: folder })
      if (!stderr.includes(`Cannot find package '${missing}'`)) throw new Error(`import ${name} does not name ${missing}:\n${stderr}`)
    }
  }
}

/** Starts a command that serves, waits until it is ready, and ends it. */
async function checkServing(words, { node, bin, cwd, env }) {
  const child = spawn(node, [bin, ...words, '--port', '0'], { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] })
  running.add(child)
  let log = ''
  const ended = new Promise((resolve) => child.on('close', (code) => resolve(code)))
  const late = setTimeout(() => child.kill('SIGKILL'), minute)
  try {
    const address = await new Promise((resolve, reject) => {
      child.stderr.on('data', (text) => {
        log += text
        const line = log.split('\n').find((each) => each.includes('"msg":"listening"') && each.endsWith('}'))
        if (line) resolve(JSON.parse(line).url)
      })
      void ended.then((code) => reject(new Error(`troupe ${words.join(' ')} ended with ${code}:\n${log}`)))
    })
    expectEqual(`troupe ${words[0]}: /ready`, (await fetch(`${address}/ready`)).status, 200)
    expectEqual(`troupe ${words[0]}: the page`, (await fetch(address)).status, 200)
    child.kill('SIGTERM')
    expectEqual(`troupe ${words[0]}: the exit code after SIGTERM`, await ended, 143)
  } finally {
    clearTimeout(late)
    child.kill('SIGKILL')
    running.delete(child)
  }
}

async function checkUnder(version, tarball) {
  const folder = join(scratch, `node-${version}`)
  const node = await install(folder, tarball, version)
  const bin = join(folder, 'node_modules', 'troupe', 'bin', 'troupe.mjs')
  const home = join(folder, 'home')
  mkdirSync(home)
  const env = { PATH: process.env.PATH, HOME: home, XDG_STATE_HOME: join(home, 'state') }
  const at = (cwd) => ({ node, bin, cwd, env })
  const troupe = (cwd, ...words) => succeed(`troupe ${words.join(' ')}`, [node, bin, ...words], { cwd, env })
  expectEqual('--version', await troupe(folder, '--version'), `${manifest.version}\n`)
  await checkImports(folder, node)
  await checkTypes(folder, node)
  await troupe(folder, 'init', 'trips', '--yes')
  const project = join(folder, 'trips')
  await troupe(project, 'validate')
  const { ok } = JSON.parse(await troupe(project, 'run', 'trip.ai', 'A weekend in Oslo', '--model', 'rehearsal', '--json'))
  expectEqual('troupe run: ok', ok, true)
  await checkServing(['serve'], at(project))
  await checkServing(['up'], at(project))
  return (await succeed('node --version', [node, '--version'], { cwd: folder })).trim()
}

/** A mirror of the registry may lack a version. */
async function isPublished(version) {
  const { code, stderr } = await run('npm', ['view', `node@${version}`, 'version'], { cwd: scratch })
  if (code === 0) return true
  if (/E404|ETARGET|No match/.test(stderr)) return false
  throw new Error(`npm view node@${version} ended with ${code}:\n${stderr}`)
}

try {
  const tarball = await pack()
  for (const version of versions) {
    if (await isPublished(version)) say(`::: package: works with Node ${await checkUnder(version, tarball)}`)
    else say(`::: skipped: the package with Node ${version}, because the npm registry has no such version of the package node`)
  }
  process.exit(0)
} catch (error) {
  say(`::: failed: package: ${error instanceof Error ? error.message : error}`)
  process.exit(1)
}
