import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const binary = join(import.meta.dirname, '..', '..', 'bin', 'troupe.mjs')

/** Starts `troupe serve` with these flags in a folder, which is also its home folder. */
export async function serveAgents(folder, flags) {
  const env = { PATH: process.env.PATH, HOME: folder, XDG_STATE_HOME: join(folder, 'state') }
  const child = spawn(process.execPath, [binary, 'serve', '--port', '0', ...flags], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const { url, tokenFile } = await listening(child)
  return {
    url,
    token: (await readFile(tokenFile, 'utf8')).trim(),
    async close() {
      child.kill()
      await ended
    },
  }
}

/** The log goes on: it must be read, or the server waits. */
function listening(child) {
  return new Promise((resolve, reject) => {
    const lines = []
    const reader = createInterface({ input: child.stderr })
    reader.on('line', (line) => {
      lines.push(line)
      if (line.includes('"listening"')) resolve(JSON.parse(line))
    })
    reader.on('close', () => reject(new Error(`troupe serve has ended:\n${lines.join('\n')}`)))
  })
}
