import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'

/** A server for tests. Loopback only; what it stores is not synced to the disk. */
export interface PostgresServer {
  /** Of the database `postgres`. */
  readonly url: string
  /** `fast`: SIGINT. `immediate`: SIGQUIT, as in a crash. */
  stop(how: 'fast' | 'immediate'): Promise<void>
  start(): Promise<void>
  /** Stops it and removes its data. */
  remove(): Promise<void>
}

/** The folder of the newest binaries that this system has. */
export function systemBinaries(): string | undefined {
  const version = (folder: string): number => Number(/\/(\d+)\/bin$/.exec(folder)?.[1])
  const [newest] = globSync('/usr/{lib/postgresql,pgsql-}*/{,*/}bin').toSorted((one, other) => version(other) - version(one))
  return newest !== undefined && existsSync(join(newest, 'initdb')) ? newest : undefined
}

/** A new server, as the user `postgres` if this is root: PostgreSQL refuses to run as root. */
export async function createPostgresServer(binaries: string): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-postgres-'))
  const user = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : undefined
  const password = randomBytes(12).toString('hex')
  const passwordFile = join(folder, 'password')
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (user) for (const path of [folder, passwordFile]) chownSync(path, user.uid, user.gid)
  const data = join(folder, 'data')
  const settings = ['-A', 'scram-sha-256', '-U', 'troupe', '--pwfile', passwordFile, '-E', 'UTF8', '--locale=C', '--no-sync']
  execFileSync(join(binaries, 'initdb'), ['-D', data, ...settings], { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  const port = await freePort()
  const url = `postgres://troupe:${password}@127.0.0.1:${port}/postgres`
  const options = {
    fsync: 'off',
    full_page_writes: 'off',
    jit: 'off',
    max_connections: '200',
    unix_socket_directories: '',
    listen_addresses: '127.0.0.1',
  }
  const args = ['-D', data, '-p', String(port), ...Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  let server: ChildProcess | undefined
  async function stop(how: 'fast' | 'immediate'): Promise<void> {
    const running = server
    server = undefined
    if (running === undefined || running.exitCode !== null) return
    const ended = once(running, 'exit')
    running.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT')
    await ended
  }
  async function start(): Promise<void> {
    server = spawn(join(binaries, 'postgres'), args, { ...user, cwd: folder, stdio: 'ignore' })
    await reachable(url)
  }
  await start()
  // Also if a test run ends with an error.
  const end = (): void => void server?.kill('SIGQUIT')
  process.once('exit', end)
  return {
    url,
    stop,
    start,
    async remove() {
      await stop('immediate')
      process.removeListener('exit', end)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const idOf = (flag: '-u' | '-g'): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address ? address.port : 0
}

async function reachable(url: string): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await run(url, 'SELECT 1')
      return
    } catch (error) {
      if (attempt > 300) throw error
    }
    await delay(50)
  }
}

/** One statement on a connection of its own. */
export async function run(url: string, statement: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return (await client.query(statement)).rows as readonly Record<string, unknown>[]
  } finally {
    await client.end().catch(() => undefined)
  }
}

export function withDatabase(url: string, database: string): string {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return changed.href
}

/** A new database on a server. Fails without one. */
export async function createDatabase(server: string | undefined): Promise<{ readonly url: string; drop(): Promise<void> }> {
  if (server === undefined) throw new Error('There is no server: use `npm run test:postgres`.')
  const name = `troupe_${randomUUID().replaceAll('-', '')}`
  await run(server, `CREATE DATABASE ${name} TEMPLATE template0`)
  return {
    url: withDatabase(server, name),
    drop: async () => void (await run(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)),
  }
}
