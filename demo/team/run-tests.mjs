// Runs tests with `node --test`, for machines without a sandbox for `shell`. The command is fixed; only the path is chosen.
import { spawn } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { relative, resolve, sep } from 'node:path'

const timeoutMs = 20_000

export const runTests = {
  name: 'run_tests',
  description: 'Runs the tests of a folder, or of one file, with `node --test`.',
  inputSchema: {
    type: 'object',
    properties: { path: { type: 'string', minLength: 1, description: 'Folder or test file, relative to the workspace' } },
    required: ['path'],
    additionalProperties: false,
  },
  effect: 'read',
  concurrency: 'shared',
  view: ({ path }) => ({ type: 'command_execution', details: { command: `node --test ${path}`, cwd: '.' } }),
  async execute({ path }, { signal, output }) {
    const place = placeOf(path)
    if (place === undefined)
      return { ok: false, error: { class: 'invalid_input', message: `${path} is not in the workspace.`, remedy: 'Give a relative path.' } }
    const { exitCode, text } = await run(place, signal, output)
    return { ok: true, content: `Exit code ${exitCode}\n${text}`, value: { exitCode } }
  },
}

function placeOf(path) {
  const root = realpathSync('.')
  try {
    const place = realpathSync(resolve(root, path))
    return place.startsWith(root + sep) ? relative(root, place) : undefined
  } catch {
    return undefined
  }
}

function run(place, signal, output) {
  // A folder is run as a project, a file alone.
  const [cwd, files] = /\.js$/.test(place) ? ['.', [place]] : [place, []]
  const child = spawn(process.execPath, ['--test', '--test-reporter=spec', ...files], {
    cwd,
    env: { PATH: process.env.PATH, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
    timeout: timeoutMs,
  })
  let text = ''
  const take = (chunk) => {
    text += chunk
    output(chunk)
  }
  child.stdout.setEncoding('utf8').on('data', take)
  child.stderr.setEncoding('utf8').on('data', take)
  return new Promise((done, fail) => {
    child.on('error', fail)
    child.on('close', (code) => done({ exitCode: code ?? 1, text: shortened(text) }))
  })
}

/** Without the places inside of Node, and without the report of the same failures at the end. */
const shortened = (text) =>
  text
    .split('\n✖ failing tests:')[0]
    .split('\n')
    .filter((line) => !/^\s+at |generatedMessage|^\s+code: |^ℹ (suites|cancelled|skipped|todo|duration)/.test(line))
    .join('\n')
    .trim()
