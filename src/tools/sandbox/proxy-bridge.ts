/**
 * The source of a program that runs inside the sandbox: it listens on the command's own loopback interface, forwards each
 * connection to the proxy outside over HTTP/2 on an inherited descriptor, and runs the command with the variables that make
 * programs use it. It ends when the command ends. Plain JavaScript, because it is passed as text.
 */
export function bridgeSource(hosts: readonly string[], descriptor: number): string {
  const own = ['localhost', '127.0.0.1', '::1'].filter((name) => !hosts.includes(name)).join(',')
  return `
const { createServer, Socket } = require('node:net')
const { spawn } = require('node:child_process')
const [program, ...rest] = process.argv.slice(1)
const tunnel = require('node:http2').connect('http://proxy', { createConnection: () => new Socket({ fd: ${descriptor} }) })
tunnel.on('error', () => {})
const server = createServer((client) => {
  const stream = tunnel.request({ ':method': 'POST' }, { endStream: false })
  client.pipe(stream)
  stream.pipe(client)
  client.on('error', () => stream.destroy())
  stream.on('error', () => client.destroy())
  client.on('close', () => stream.destroy())
  stream.on('close', () => client.destroy())
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
