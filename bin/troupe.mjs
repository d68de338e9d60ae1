#!/usr/bin/env node
// Starts Troupe. This file must parse on every Node from 12 on, so that an old one gets a sentence instead of a
// syntax error: no `node:` names, no `?.`, no top-level await.
// biome-ignore-all lint/style/useNodejsImportProtocol: old versions do not know the protocol
import { spawn } from 'child_process'
import { existsSync } from 'fs'
import module, { createRequire } from 'module'
import { constants } from 'os'
import { dirname, isAbsolute, join } from 'path'
import { fileURLToPath, pathToFileURL } from 'url'

const needed = [22, 22]
const here = dirname(fileURLToPath(import.meta.url))

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number)
  return major > needed[0] || (major === needed[0] && minor >= needed[1])
}

/** The Node that the npm package `node` has brought along. */
function bundledNode() {
  try {
    const require = createRequire(import.meta.url)
    const manifest = require.resolve('node/package.json')
    const binary = join(dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
    return isNewEnough(require(manifest).version) && existsSync(binary) ? binary : undefined
  } catch (_) {
    return undefined
  }
}

/** Node 22 prints a warning when `node:sqlite` is loaded, where journals are kept. Every other warning is printed. */
function withoutSqliteWarning() {
  const emit = process.emitWarning
  process.emitWarning = (warning, ...rest) => {
    const type = rest[0] !== null && typeof rest[0] === 'object' ? rest[0].type : rest[0]
    if (type === 'ExperimentalWarning' && String(warning).startsWith('SQLite ')) return
    emit.call(process, warning, ...rest)
  }
}

/** Node starts a third faster with compiled code of an earlier run. It is kept where sandboxed commands cannot write, once that exists. */
function keepCompiledCode() {
  if (typeof module.enableCompileCache !== 'function' || process.env.NODE_COMPILE_CACHE) return
  const { HOME = '', XDG_STATE_HOME: state = '' } = process.env
  const folder = join(isAbsolute(state) ? state : join(HOME, '.local', 'state'), 'troupe')
  if (isAbsolute(folder) && existsSync(folder)) module.enableCompileCache(join(folder, 'compiled'))
}

function start() {
  withoutSqliteWarning()
  keepCompiledCode()
  const built = join(here, '..', 'dist', 'cli', 'main.js')
  const entry = existsSync(built) ? built : join(here, '..', 'src', 'cli', 'main.ts')
  import(pathToFileURL(entry).href)
    .then((cli) => cli.main())
    .then(
      (code) => process.exit(code),
      (error) => {
        process.stderr.write(`${error instanceof Error ? error.stack : error}\n`)
        process.exit(1)
      },
    )
}

/** The same command line under another Node: same streams, same signals, same end. */
function restart(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' })
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  const pass = (signal) => child.kill(signal)
  for (const signal of signals) process.on(signal, pass)
  child.on('error', (error) => giveUp(`The Node in ${node} does not start: ${error.message}`))
  child.on('exit', (code, signal) => {
    for (const each of signals) process.removeListener(each, pass)
    if (signal === null) process.exit(code === null ? 1 : code)
    process.kill(process.pid, signal)
    // Where the signal is ignored or blocked, the shell is told by number.
    setTimeout(() => process.exit(128 + (constants.signals[signal] || 0)), 100)
  })
}

function giveUp(problem) {
  const lines = [
    `error: ${problem}`,
    `Troupe needs Node ${needed.join('.')} or newer; this is ${process.versions.node}.`,
    '→ Install a newer Node (https://nodejs.org), or bring one along: npm install node@24',
  ]
  process.stderr.write(`${lines.join('\n')}\n`)
  process.exit(2)
}

if (isNewEnough(process.versions.node)) start()
else {
  const node = bundledNode()
  if (node === undefined) giveUp('This Node is too old.')
  else restart(node)
}
