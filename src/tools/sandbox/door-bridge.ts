import { insideDoor } from './bubblewrap.ts'

/**
 * Runs inside of the walls: a port of the command's own loopback that leads to our proxy, the variables that make
 * programs use it, and the command. It ends as the command ends. Plain JavaScript, for it is handed over as text.
 */
export function bridgeSource(hosts: readonly string[]): string {
  const own = ['localhost', '127.0.0.1', '::1'].filter((name) => !hosts.includes(name)).join(',')
  return `
const { createServer, connect } = require('node:net')
const { spawn } = require('node:child_process')
const [program, ...rest] = process.argv.slice(1)
const server = createServer((client) => {
  const door = connect(${JSON.stringify(insideDoor)})
  client.pipe(door)
  door.pipe(client)
  client.on('error', () => door.destroy())
  door.on('error', () => client.destroy())
  client.on('close', () => door.destroy())
  door.on('close', () => client.destroy())
})
server.listen(0, '127.0.0.1', () => {
  const proxy = 'http://127.0.0.1:' + server.address().port
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy']
  const local = { NO_PROXY: ${JSON.stringify(own)}, no_proxy: ${JSON.stringify(own)}, NODE_USE_ENV_PROXY: '1' }
  const env = { ...process.env, ...Object.fromEntries(names.map((name) => [name, proxy])), ...local }
  const child = spawn(program, rest, { env, stdio: 'inherit' })
  child.on('error', (error) => {
    console.error(error.message)
    process.exit(127)
  })
  child.on('exit', (code, signal) => process.exit(code ?? 128 + require('node:os').constants.signals[signal]))
})
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {})
`
}
